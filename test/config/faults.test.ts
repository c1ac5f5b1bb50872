// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables are part of the file
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/config/read-settings.ts';
import { Failure, formatFailure } from '../../src/failure.ts';
import { designExample } from './design-example.ts';

type Change = readonly [from: string, to: string];

/** The faults of a text, one a line. */
function faultsOf(text: string, env: Record<string, string> = {}): string[] {
  try {
    parseSettings(text, 'errata.yaml', env);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    expect(error.exitCode).toBe(2);
    return (error.detail ?? error.message).split('\n');
  }
  return [];
}

/** The faults of DESIGN.md's example with changes. */
function faults(changes: readonly Change[], env: Record<string, string> = {}): string[] {
  const text = changes.reduce((before, [from, to]) => {
    expect(before).toContain(from);
    return before.replace(from, () => to);
  }, designExample);
  return faultsOf(text, env);
}

const rollup = 'rollups.daily_orders';
const bronze = `${rollup}.bronze`;
const sure = 'write a number and a unit, such as 10 minutes, 1 hour 30 minutes, 90s or PT10M';
const windows =
  'write { tumbling: 5 minutes }, { hopping: 1 hour, every: 5 minutes }, { calendar: 1 day, time_zone: Europe/Berlin } or { session_gap: 30 minutes }';
const policies = [
  '    auto    every difference is published by the next run: late, refused and changed rows alike',
  '    grace   late firings are published; refused rows are pending until a person releases them, changed rows are proposed',
  '    review  every correction is proposed, and published only when a person approves it',
];
const window = '{ calendar: 1 day, time_zone: Europe/Berlin }';
const watermark = '{ strategy: bounded, delay: 10 minutes, idle_after: 5 minutes, max_future_skew: 1 hour }';

it('the example has none', () => expect(faults([])).toEqual([]));

describe('the publish policy (R10)', () => {
  it('has no default', () => {
    expect(faults([['policy: grace, ', '']])).toEqual([
      `errata.yaml:21:14  ${rollup}.publish.policy: is missing; there is no default; write policy: and one of`,
      ...policies,
    ]);
    expect(faults([['    publish: {', '    # publish: {']])).toEqual([
      `errata.yaml:5:5  ${rollup}.publish: is missing; there is no default; write policy: and one of`,
      ...policies,
    ]);
    expect(faults([['policy: grace', 'policy: manual']])).toEqual([
      `errata.yaml:21:24  ${rollup}.publish.policy: "manual" is not one of the choices; there is no default; write policy: and one of`,
      ...policies,
    ]);
  });

  it.each<[Change, string]>([
    [
      ['revenue: 1000.00', 'revenu: 1000.00'],
      `21:48  ${rollup}.publish.review_beyond.revenu: is not a measure of this rollup; write one of orders, revenue`,
    ],
    [
      ['revenue: 1000.00', 'revenue: five%'],
      `21:57  ${rollup}.publish.review_beyond.revenue: "five%" is not a plain decimal; write digits and at most one point, such as 1000.00`,
    ],
    [
      ['revenue: 1000.00', 'revenue: { relative: 5 }'],
      `21:69  ${rollup}.publish.review_beyond.revenue.relative: "5" is not a percentage; write one, such as 5%`,
    ],
    [
      ['revenue: 1000.00', 'revenue: { absolute: 5% }'],
      `21:69  ${rollup}.publish.review_beyond.revenue.absolute: "5%" is relative; write an amount, such as 1000.00`,
    ],
    [
      ['revenue: 1000.00', 'revenue: { percent: 5% }'],
      `21:59  ${rollup}.publish.review_beyond.revenue.percent: is not a setting here; write one of absolute, relative`,
    ],
    [
      ['revenue: 1000.00', 'revenue: {}'],
      `21:57  ${rollup}.publish.review_beyond.revenue: says nothing; write an amount, a percentage or both, such as 1000.00, 5% or { absolute: 1000.00, relative: 5% }`,
    ],
    [
      ['revenue: 1000.00', 'revenue: [1000.00]'],
      `21:57  ${rollup}.publish.review_beyond.revenue: is a list; write an amount, a percentage or both, such as 1000.00, 5% or { absolute: 1000.00, relative: 5% }`,
    ],
    [
      ['400 days', '400 days, restate: never'],
      `21:96  ${rollup}.publish.restate: "never" is not one of the choices; write allowed or forbidden`,
    ],
    [
      ['revenue: 1000.00', 'revenue: 1e3'],
      `21:57  ${rollup}.publish.review_beyond.revenue: "1e3" is not a plain decimal; write digits and at most one point, such as 1000.00`,
    ],
    [
      ['{ revenue: 1000.00 }', '1000'],
      `21:46  ${rollup}.publish.review_beyond: is a single value; write a mapping of measures to thresholds, such as { revenue: 1000.00 }`,
    ],
    [
      ['400 days', '0'],
      `21:77  ${rollup}.publish.horizon: "0" has no length; write one above 0, such as 5 minutes`,
    ],
  ])('%s', (change, expected) => expect(faults([change])).toEqual([`errata.yaml:${expected}`]));
});

describe('one fault at a time', () => {
  it.each<[Change, string]>([
    // The file
    [['schema: errata', 'shema: errata'], '2:1  shema: is not a setting here; did you mean schema?'],
    [
      ['schema: errata', 'colour: errata'],
      '2:1  colour: is not a setting here; write one of database, schema, rollups, roles, run, notices, alerts, periods',
    ],
    [
      ['schema: errata', 'colour:'],
      '2:1  colour: is not a setting here; write one of database, schema, rollups, roles, run, notices, alerts, periods',
    ],
    [
      ['schema: errata', 'schema: pg_errata'],
      '2:9  schema: "pg_errata" belongs to PostgreSQL; write another name, such as errata',
    ],
    [
      ['schema: errata', "schema: it's"],
      `2:9  schema: "it's" has ' or % in it; write a name without them, such as errata`,
    ],
    [
      ['schema: errata', 'schema: 50%'],
      `2:9  schema: "50%" has ' or % in it; write a name without them, such as errata`,
    ],
    [
      ['schema: errata', 'roles: errata_job'],
      '2:8  roles: is a single value; write { job: errata_job, stream: errata_stream, reader: errata_reader, auditor: errata_auditor }',
    ],
    [
      ['schema: errata', 'roles: { jobs: errata_job }'],
      '2:10  roles.jobs: is not a setting here; did you mean job?',
    ],
    // To PostgreSQL "public" in quotes is everyone, too.
    [
      ['schema: errata', 'roles: { reader: public }'],
      '2:18  roles.reader: "public" names no role; write the name of one',
    ],
    [
      ['schema: errata', 'roles: { job: pg_monitor }'],
      '2:15  roles.job: "pg_monitor" belongs to PostgreSQL; write a role of your own',
    ],
    [
      ['schema: errata', 'roles: { reader: bi, auditor: bi }'],
      '2:31  roles.auditor: is the role of roles.reader too; write a role of its own for each',
    ],
    [
      ['schema: errata', `roles: { reader: ${'r'.repeat(64)} }`],
      `2:18  roles.reader: "${'r'.repeat(64)}" is longer than 63 bytes, where PostgreSQL cuts names; write a shorter name`,
    ],
    [
      ['schema: errata', 'schema: [errata]'],
      '2:9  schema: is a list; write the name of a schema, such as errata',
    ],
    [['schema: errata', 'schema: null'], '2:9  schema: is null; write the name of a schema, such as errata'],
    [
      ['${DATABASE_URL}', 'host=localhost password=hunter2'],
      '1:11  database: the value is not a database URL; write postgres://user:password@host:5432/database, best as ${DATABASE_URL}',
    ],
    [
      ['${DATABASE_URL}', '${PGURL}'],
      '1:11  database: needs the environment variable PGURL, which is not set; set it, or write ${PGURL:-default}',
    ],
    // The rollup
    [
      ['  daily_orders:', '  Daily Orders:'],
      '4:3  rollups."Daily Orders": is not a name for a rollup; write lower-case letters, digits and _, such as daily_orders',
    ],
    [
      ['gold: gold.daily_orders', 'gold: daily_orders'],
      `5:11  ${rollup}.gold: "daily_orders" lacks the schema; write schema.table`,
    ],
    [['    gold: gold.daily_orders\n', ''], `5:5  ${rollup}.gold: is missing; write schema.table`],
    [
      ['gold: gold.daily_orders', 'gold: bronze.orders'],
      `5:11  ${rollup}.gold: "bronze.orders" is the bronze table too; write another table`,
    ],
    [
      ['seal: { by: errata }', 'seal: { from: gold.daily_orders }'],
      `5:11  ${rollup}.gold: "gold.daily_orders" is the stream's result table too; write another table`,
    ],
    [['24 hours', '24'], `19:23  ${rollup}.allowed_lateness: "24" has no unit; ${sure}`],
    [['24 hours', '24 huors'], `19:23  ${rollup}.allowed_lateness: "24 huors" is not a duration; ${sure}`],
    [
      ['24 hours', '[]'],
      `19:23  ${rollup}.allowed_lateness: is a list; write a duration, such as 10 minutes, or { column: COLUMN, default: 10 minutes }`,
    ],
    [
      ['24 hours', '{ column: patience }'],
      `19:23  ${rollup}.allowed_lateness.default: is missing; write a duration, such as 10 minutes`,
    ],
    [
      ['"*/15 * * * *"', '"*/15 * * *"'],
      `22:23  ${rollup}.schedule.cron: "*/15 * * *" is not a cron expression of five fields; write one, such as "*/15 * * * *" for each quarter of an hour`,
    ],
    [
      ['time_zone: UTC', 'time_zone: CET'],
      `22:50  ${rollup}.schedule.time_zone: "CET" is an abbreviation, not a time zone; write a named one, such as Europe/Berlin or UTC`,
    ],
    [
      ['calendar: month', 'calendar: year'],
      '23:22  periods.calendar: "year" is not one of the choices; write month',
    ],
    // Bronze
    [
      ['      event_id: order_id\n', ''],
      `7:7  ${bronze}: does not say what makes a row a copy of another; write event_id: COLUMN, identified_by: [COLUMNS] or unique_rows: true`,
    ],
    [
      ['event_id: order_id', 'event_id: order_id\n      unique_rows: true'],
      `9:7  ${bronze}.unique_rows: is a second way to tell copies beside event_id; keep one of them`,
    ],
    [
      ['event_id: order_id', 'unique_rows: false'],
      `8:20  ${bronze}.unique_rows: is false, and nothing else tells copies; write event_id: COLUMN, identified_by: [COLUMNS] or unique_rows: true`,
    ],
    [
      ['event_id: order_id', 'unique_rows: yes'],
      `8:20  ${bronze}.unique_rows: is a single value; write true or false`,
    ],
    [
      ['event_id: order_id', 'event_id: []'],
      `8:17  ${bronze}.event_id: names no column; write event_id: COLUMN, identified_by: [COLUMNS] or unique_rows: true`,
    ],
    [
      ['event_id: order_id', 'event_id: [a, a]'],
      `8:21  ${bronze}.event_id[1]: "a" stands twice in the list; write it once`,
    ],
    [
      ['event_id: order_id', 'event_id: true'],
      `8:17  ${bronze}.event_id: is true or false; write the name of a column or a list of them`,
    ],
    [
      ['event_id: order_id', 'event_id: [a, {}]'],
      `8:21  ${bronze}.event_id[1]: is a mapping; write the name of a column`,
    ],
    [
      ['event_time: ordered_at', 'event_tme: ordered_at\n      event_time: t'],
      `9:7  ${bronze}.event_tme: is not a setting here; did you mean event_time?`,
    ],
    [
      ['complete_from: 2026-01-01 ', 'complete_from: 2026-02-30 '],
      `12:22  ${bronze}.complete_from: "2026-02-30" is not a date or an instant; write it as 2026-01-01 or 2026-01-01T00:00:00Z`,
    ],
    // The window
    [[window, '{}'], `13:13  ${rollup}.window: does not say what kind of window; ${windows}`],
    [[window, '1 day'], `13:13  ${rollup}.window: is a single value; ${windows}`],
    [
      [window, '{ tumbling: 1 h, session_gap: 1 h }'],
      `13:30  ${rollup}.window.session_gap: is a second kind of window beside tumbling; write one of them`,
    ],
    [
      [window, '{ hopping: 1 h }'],
      `13:13  ${rollup}.window.every: is missing; write the step between hopping windows, such as 5 minutes`,
    ],
    [
      [window, '{ hopping: 1 h, every: 0 s }'],
      `13:36  ${rollup}.window.every: "0 s" has no length; write one above 0, such as 5 minutes`,
    ],
    [
      [window, '{ tumbling: 1 h, every: 1 s }'],
      `13:30  ${rollup}.window.every: does not go with tumbling; leave it out`,
    ],
    [
      [window, '{ tumbling: 1 h, time_zone: UTC }'],
      `13:30  ${rollup}.window.time_zone: does not go with tumbling; write calendar: 1 day where windows follow a clock`,
    ],
    [
      [window, '{ tumbling: 1 month }'],
      `13:25  ${rollup}.window.tumbling: "1 month" counts months or years, whose length varies; write days or weeks, or make the window a calendar one`,
    ],
    [
      [window, '{ tumbling: 1 h, origin: 2026-01-01T06:00 }'],
      `13:38  ${rollup}.window.origin: "2026-01-01T06:00" has no offset, so it is not one instant; write it as 2026-01-01T00:00:00Z or +01:00`,
    ],
    [
      [window, '{ session_gap: 1 h, offset: 1 m }'],
      `13:33  ${rollup}.window.offset: does not go with session_gap; leave it out`,
    ],
    [
      [window, '{ calendar: 1 day }'],
      `13:13  ${rollup}.window.time_zone: is missing; write whose calendar it is, such as Europe/Berlin or UTC`,
    ],
    [
      [window, '{ calendar: 1 day, time_zone: UTC, origin: 2026-01-01T06:00Z }'],
      `13:56  ${rollup}.window.origin: "2026-01-01T06:00Z" has an offset, but stands for the local clock of the time zone; write it as 2026-01-01T06:00`,
    ],
    // Key and measures
    [
      ['key: [region]', 'key: [region, region]'],
      `14:19  ${rollup}.key[1]: "region" stands twice in the key; write it once`,
    ],
    [
      ['key: [region]', 'key: version'],
      `14:10  ${rollup}.key: "version" is a column that the ledger has itself; give bronze a view that names it otherwise`,
    ],
    [
      ['key: [region]', 'key: [orders]'],
      `14:11  ${rollup}.key[0]: "orders" is the name of a measure too; rename the measure`,
    ],
    [
      ['key: [region]', 'key: [pending_revenue]'],
      `14:11  ${rollup}.key[0]: "pending_revenue" is a column that the views make for the measure revenue; give bronze a view that names it otherwise`,
    ],
    [
      ['key: [region]', 'key: [errata_x]'],
      `14:11  ${rollup}.key[0]: "errata_x" begins with errata_, which Errata keeps for itself; give bronze a view that names it otherwise`,
    ],
    [
      ['orders: count(*)', 'Orders: count(*)'],
      `16:7  ${rollup}.measures.Orders: is not a name for a measure; write lower-case letters, digits and _, such as net_revenue`,
    ],
    [
      ['orders: count(*)', 'event_count: count(*)'],
      `16:7  ${rollup}.measures.event_count: is a column that the ledger has itself; write another name`,
    ],
    [
      ['orders: count(*)', 'xmin: count(*)'],
      `16:7  ${rollup}.measures.xmin: is a column that PostgreSQL gives every table; write another name`,
    ],
    [
      ['orders: count(*)', '__proto__: count(*)'],
      `16:7  ${rollup}.measures.__proto__: cannot be used as a name; write another name`,
    ],
    [
      ['orders: count(*)', `${'x'.repeat(41)}: count(*)`],
      `16:7  ${rollup}.measures.${'x'.repeat(41)}: is longer than 40 bytes, and pending_ and the like are put before it while PostgreSQL cuts names at 63; write a shorter name`,
    ],
    [
      ['orders: count(*)', 'orders: round(sum(a)'],
      `16:15  ${rollup}.measures.orders: "round(sum(a)" has a bracket without its partner; write the expression in quotes, since , and # can end it`,
    ],
    [
      ['orders: count(*)', 'orders: count(*) -- all'],
      `16:15  ${rollup}.measures.orders: "count(*) -- all" has a comment or semicolon in it; write the SQL expression alone`,
    ],
    [
      ['orders: count(*)', 'orders: ""'],
      `16:15  ${rollup}.measures.orders: "" is empty; write an SQL expression`,
    ],
    [
      ['orders: count(*)', 'orders: { tolerance: 1 }'],
      `16:15  ${rollup}.measures.orders.value: is missing; write an SQL expression`,
    ],
    [
      ['orders: count(*)', 'orders: { value: sum(a), tolerance: -1 }'],
      `16:43  ${rollup}.measures.orders.tolerance: "-1" is negative; write an amount of 0 or more, such as 1000.00`,
    ],
    [
      ['orders: count(*)', 'orders: [count(*)]'],
      `16:15  ${rollup}.measures.orders: is a list; write an SQL expression, such as sum(amount), or { value: sum(amount), tolerance: 0.01 }`,
    ],
    // The watermark
    [
      [watermark, '{ strategy: bounded }'],
      `18:16  ${rollup}.watermark.delay: is missing; write how far the watermark stays behind the greatest event time, such as 10 minutes`,
    ],
    [
      [watermark, '{ strategy: fixed_delay }'],
      `18:16  ${rollup}.watermark.delay: is missing; write how far the watermark stays behind each arrival, such as 10 minutes`,
    ],
    [
      [watermark, '{ strategy: bound, delay: 1 s }'],
      `18:28  ${rollup}.watermark.strategy: "bound" is not one of the choices; write bounded, fixed_delay, recorded or external`,
    ],
    [
      [watermark, '{ delay: 1 s }'],
      `18:16  ${rollup}.watermark.strategy: is missing; write bounded, fixed_delay, recorded or external`,
    ],
    [
      [watermark, '{ strategy: bounded, delay: 1 s, log: a.b }'],
      `18:49  ${rollup}.watermark.log: goes with strategy: recorded only; leave it out`,
    ],
    [
      [watermark, '{ strategy: recorded, log: { at: t } }'],
      `18:43  ${rollup}.watermark.log.table: is missing; write schema.table`,
    ],
    [
      [watermark, '{ strategy: bounded, delay: 1 s, combine: all }'],
      `18:58  ${rollup}.watermark.combine: "all" is not one of the choices; write min, max or own`,
    ],
    [
      [watermark, '{ strategy: bounded, delay: 1 s, max_future_skew: never }'],
      `18:66  ${rollup}.watermark.max_future_skew: "never" is not a duration; ${sure}`,
    ],
    // Delays and latenesses that differ
    [
      [watermark, '{ strategy: bounded, delay: 1 s, overrides: { table: a.b, by: [region] } }'],
      `18:60  ${rollup}.watermark.overrides: names no column; write delay, allowed_lateness or both`,
    ],
    [
      [watermark, '{ strategy: bounded, delay: 1 s, overrides: { table: a.b, by: [device], delay: d } }'],
      `18:79  ${rollup}.watermark.overrides.by[0]: "device" is no key column of this rollup; write one of region, source_partition`,
    ],
    [
      [watermark, '{ strategy: bounded, delay: 1 s, overrides: { table: a.b, by: [], delay: d } }'],
      `18:78  ${rollup}.watermark.overrides.by: names nothing; write the key columns as [device_id], or { device_id: COLUMN } where the table names them otherwise`,
    ],
    [
      [
        watermark,
        '{ strategy: bounded, delay: 1 s, overrides: { table: a.b, by: { region: r, source_partition: p }, delay: d } }',
      ],
      `18:109  ${rollup}.watermark.overrides.by.source_partition: stands alone; write [source_partition] or key columns`,
    ],
    [
      [watermark, '{ strategy: recorded, overrides: { table: a.b, by: region, delay: d } }'],
      `18:75  ${rollup}.watermark.overrides.delay: cannot differ under strategy: recorded, where the stream's log decides; leave it out`,
    ],
    [
      [watermark, '{ strategy: recorded, delay: { column: d, default: 1 s } }'],
      `18:45  ${rollup}.watermark.delay: cannot differ under strategy: recorded, where the stream's log decides; leave it out`,
    ],
    [
      [
        watermark,
        '{ strategy: bounded, delay: { column: d, default: 1 s }, overrides: { table: a.b, by: region, delay: d } }',
      ],
      `18:110  ${rollup}.watermark.overrides.delay: is a second one beside the column of delay; keep one of them`,
    ],
    // The seal
    [
      ['{ by: errata }', '{ after: 1 m }'],
      `20:11  ${rollup}.seal: does not say who writes version 1; write { by: errata }, { by: stream, after: 15 minutes } or { from: schema.table, after: 15 minutes }`,
    ],
    [
      ['{ by: errata }', '{ by: stream, from: a.b }'],
      `20:25  ${rollup}.seal.from: is a second writer of version 1 beside by; keep one of them`,
    ],
    [
      ['{ by: errata }', '{ by: errata, after: 1 m }'],
      `20:25  ${rollup}.seal.after: waits for a stream, and by: errata has none to wait for; leave it out`,
    ],
    [
      ['{ by: errata }', '{ by: me }'],
      `20:17  ${rollup}.seal.by: "me" is not one of the choices; write errata or stream`,
    ],
  ])('%s', (change, expected) => expect(faults([change])).toEqual([`errata.yaml:${expected}`]));
});

it('external needs a seal that is not by Errata (R6)', () => {
  expect(faults([[watermark, '{ strategy: external }']])).toEqual([
    `errata.yaml:18:16  ${rollup}.watermark.refused: is missing; write the stream's table of refused rows as schema.table`,
    `errata.yaml:20:17  ${rollup}.seal.by: cannot be errata under strategy: external, whose watermark Errata does not know; write by: stream or from: schema.table`,
  ]);
});

describe('external', () => {
  const external = (refused: string) => [watermark, `{ strategy: external, refused: ${refused} }`] as const;
  const byStream = ['{ by: errata }', '{ by: stream }'] as const;

  it('has no delay, and nothing to combine or to wait for: the stream alone knows its watermark', () => {
    expect(
      faults([
        [
          watermark,
          '{ strategy: external, refused: s.r, delay: 1 s, idle_after: 1 s, combine: max, source_partitions: [a], log: s.l, hold: 1 s }',
        ],
        byStream,
      ]),
    ).toEqual([
      `errata.yaml:18:52  ${rollup}.watermark.delay: does not go with strategy: external, under which the stream alone knows its watermark; leave it out`,
      `errata.yaml:18:64  ${rollup}.watermark.idle_after: does not go with strategy: external, under which the stream alone knows its watermark; leave it out`,
      `errata.yaml:18:81  ${rollup}.watermark.combine: does not go with strategy: external, under which the stream alone knows its watermark; leave it out`,
      `errata.yaml:18:95  ${rollup}.watermark.source_partitions: goes with strategy: bounded or recorded only; leave it out`,
      `errata.yaml:18:119  ${rollup}.watermark.log: goes with strategy: recorded only; leave it out`,
      `errata.yaml:18:129  ${rollup}.watermark.hold: goes with strategy: recorded only; leave it out`,
    ]);
  });

  it.each([
    [
      '{ event_id: id }',
      `errata.yaml:18:47  ${rollup}.watermark.refused.table: is missing; write schema.table`,
    ],
    [
      '{ table: s.r, event_id: [a, b] }',
      `errata.yaml:18:71  ${rollup}.watermark.refused.event_id: names 2 of the 1 columns that identify a row of bronze; write one for each, in the same order`,
    ],
    [
      'gold.daily_orders',
      `errata.yaml:5:11  ${rollup}.gold: "gold.daily_orders" is the stream's table of refused rows too; write another table`,
    ],
    [
      '{ table: gold.daily_orders_side_output }',
      `errata.yaml:18:56  ${rollup}.watermark.refused.table: "gold.daily_orders_side_output" is a relation that Errata makes for this rollup; write the table that the stream writes`,
    ],
    [
      'bronze.orders',
      `errata.yaml:18:47  ${rollup}.watermark.refused: "bronze.orders" is the bronze table too; write another table`,
    ],
  ])('refused: %s', (refused, expected) => expect(faults([external(refused), byStream])).toEqual([expected]));

  it('needs an id by which an entry finds its row', () => {
    expect(faults([['event_id: order_id', 'unique_rows: true'], external('s.r'), byStream])).toEqual([
      `errata.yaml:18:47  ${rollup}.watermark.refused: finds its rows by their id, and bronze.unique_rows says that they have none; write bronze.event_id or bronze.identified_by`,
    ]);
  });
});

describe('between rollups', () => {
  const [head = '', body = ''] = designExample.split('  daily_orders:\n');
  const [one = '', tail = ''] = body.split('periods:');
  const two = (change: (text: string) => string, last = `periods:${tail}`) =>
    faultsOf(`${head}  daily_orders:\n${one}  second:\n${change(one)}${last}`);

  it('a gold table belongs to one', () => {
    expect(two((text) => text.replace('gold.daily_orders', `'"gold".daily_orders'`))).toEqual([
      'errata.yaml:24:11  rollups.second.gold: "\\"gold\\".daily_orders" is the gold table of daily_orders too; write another table',
    ]);
  });

  it('nor is it a relation made for another', () => {
    expect(two((text) => text.replace('gold.daily_orders', 'gold.daily_orders_latest'))).toEqual([
      'errata.yaml:24:11  rollups.second.gold: "gold.daily_orders_latest" is a relation that is made for daily_orders; write another name',
    ]);
  });

  it('several zones need periods', () => {
    const other = (text: string) =>
      text.replace('gold.daily', 'gold.other').replace('Europe/Berlin', 'Asia/Tokyo');
    expect(two(other)).toEqual([]);
    expect(two(other, '')).toEqual([
      'errata.yaml:1:1  periods: is missing, and the calendar windows follow several time zones; write { calendar: month, time_zone: Europe/Berlin }',
    ]);
  });

  it('there is at least one', () => {
    expect(faultsOf('rollups: {}\n')).toEqual([
      'errata.yaml:1:10  rollups: holds no rollup; write one, as `errata init` shows',
    ]);
    expect(faultsOf('schema: errata\n')).toEqual([
      'errata.yaml:1:1  rollups: is missing; write a mapping of rollups by name',
    ]);
    expect(faultsOf('rollups:\n  a: {}\n').at(0)).toBe(
      'errata.yaml:2:6  rollups.a.gold: is missing; write schema.table',
    );
  });
});

describe('all at once, and nothing secret', () => {
  it('in the order of the file, a fault of form hiding none of meaning', () => {
    const found = faults([
      ['schema: errata', 'shema: errata'],
      ['gold: gold.daily_orders', 'gold: [x]'],
      ['event_id: order_id', 'colour: red'],
      [watermark, '{ strategy: bounded, idle_after: soon }'],
      ['key: [region]', 'key: [version]'],
      ['revenue: 1000.00', 'income: 1000.00'],
    ]);
    expect(found.map((line) => line.split(': ')[0])).toEqual([
      'errata.yaml:2:1  shema',
      `errata.yaml:5:11  ${rollup}.gold`,
      `errata.yaml:7:7  ${bronze}`,
      `errata.yaml:8:7  ${bronze}.colour`,
      `errata.yaml:14:11  ${rollup}.key[0]`,
      `errata.yaml:18:16  ${rollup}.watermark.delay`,
      `errata.yaml:18:49  ${rollup}.watermark.idle_after`,
      `errata.yaml:21:48  ${rollup}.publish.review_beyond.income`,
    ]);
  });

  it('says which variable, never its value', () => {
    const env = { SECRET: 'hunter2', DATABASE_URL: 'mysql://hunter2@h' };
    const found = faults(
      [
        ['24 hours', '${SECRET}'],
        ['time_zone: UTC', 'time_zone: "x${SECRET}${DATABASE_URL}"'],
        ['gold: gold.daily_orders', 'gold: ${SECRET}'],
        ['key: [region]', 'key: ["${SECRET}", "${SECRET}"]'],
        ['policy: grace', 'policy: "${SECRET}"'],
        ['strategy: bounded', 'strategy: "${SECRET}"'],
        ['orders: count(*)', 'orders: ${SECRET}('],
        ['schema: errata', '${SECRET}: x'],
      ],
      env,
    ).join('\n');
    expect(found).not.toContain('hunter2');
    expect(found).toContain('allowed_lateness: the value of ${SECRET} is not a duration');
    expect(found).toContain(
      'schedule.time_zone: the value of ${SECRET} and ${DATABASE_URL} is not a time zone',
    );
    expect(found).toContain('key[1]: the value of ${SECRET} stands twice');
    expect(found).toContain('database: the value of ${DATABASE_URL} is not a database URL');
  });

  it('of a DATABASE_URL that is not in the file too', () => {
    const text = designExample.replace(/^database.*\n/, '');
    expect(faultsOf(text, { DATABASE_URL: 'hunter2' })).toEqual([
      'errata.yaml:1:1  database: the value of ${DATABASE_URL} is not a database URL; write postgres://user:password@host:5432/database, best as ${DATABASE_URL}',
    ]);
  });

  it('a variable that is not set is one fault, whatever follows from it', () => {
    expect(
      faults([
        ['24 hours', '${LATENESS}'],
        ['delay: 10 minutes', 'delay: "${DELAY}"'],
      ]),
    ).toEqual([
      `errata.yaml:18:44  ${rollup}.watermark.delay: needs the environment variable DELAY, which is not set; set it, or write \${DELAY:-default}`,
      `errata.yaml:19:23  ${rollup}.allowed_lateness: needs the environment variable LATENESS, which is not set; set it, or write \${LATENESS:-default}`,
    ]);
  });
});

it('prints as fact, detail and hint', () => {
  try {
    parseSettings('rollups: {}\nx: 1\n', 'errata.yaml', {});
    expect.unreachable();
  } catch (error) {
    expect(formatFailure(error as Failure)).toBe(`errata.yaml has 2 faults
  detail: errata.yaml:1:10  rollups: holds no rollup; write one, as \`errata init\` shows
          errata.yaml:2:1  x: is not a setting here; write one of database, schema, rollups, roles, run, notices, alerts, periods
  hint:   mend the file and run \`errata check\``);
  }
});

describe('notices', () => {
  const and = (lines: string) => [[`periods: {`, `${lines}\nperiods: {`]] as const;
  it('name an address, and a secret that is worth the name', () => {
    expect(faults(and('notices: { webhook: ftp://host, secret: short, timeout: soon }'))).toEqual([
      expect.stringMatching(/notices\.webhook: the value is no address; write https:\/\/host\/path/),
      expect.stringMatching(/notices\.secret: the value is too short to sign with/),
      expect.stringMatching(/notices\.timeout: /),
    ]);
    expect(faults(and('notices: { secret: "${SECRET}" }'), { SECRET: 'sixteen characters' })).toEqual([
      expect.stringMatching(/notices.*webhook/),
    ]);
  });
  it('never show what stands in a variable', () => {
    expect(faults(and('notices: { webhook: "${HOOK}" }'), { HOOK: 'hidden' }).join()).not.toContain('hidden');
    for (const address of [
      'https:example.com',
      'https:///path',
      'https://a b/path',
      'https://',
      'https://host:99999/',
    ])
      expect(faults(and(`notices: { webhook: "${address}" }`))).toEqual([
        expect.stringMatching(/notices\.webhook: the value is no address/),
      ]);
    const named = faults(and('notices: { webhook: "https://ada:hidden@example.com/x" }')).join();
    expect(named).toMatch(/notices\.webhook: the value names a user before its host, which is never sent/);
    expect(named).not.toContain('hidden');
  });
});

it('alerts: each threshold has its unit, and error is not smaller than warn; those of the file and of a rollup at once', () => {
  const found = faults([
    [
      'periods: {',
      'alerts: { stale: { warn: 6 hours, error: 1 hour }, backlog: {}, unexplained: { warn: -1 }, lateness: { error: 1 } }\nperiods: {',
    ],
    [
      '    schedule:',
      '    alerts: { lateness: { warn: 5%, error: 0.5% }, stale: { warn: soon }, late: 1 }\n    schedule:',
    ],
  ]);
  expect(found.map((fault) => fault.replace(/^errata\.yaml:\d+:\d+ +/, ''))).toEqual([
    'rollups.daily_orders.alerts.lateness.error: is smaller than warn, 5%; write a greater one',
    expect.stringMatching(/^rollups\.daily_orders\.alerts\.stale\.warn: "soon" is not a duration/),
    'rollups.daily_orders.alerts.late: is not a setting here; write one of stale, backlog, unexplained, lateness',
    'alerts.stale.error: is smaller than warn, 6 hours; write a greater one',
    'alerts.backlog: says nothing; write warn, error or both',
    'alerts.unexplained.warn: "-1" is no whole number of 0 or more; write one, such as 100',
    'alerts.lateness.error: "1" is not a percentage; write one, such as 5%',
  ]);
});
