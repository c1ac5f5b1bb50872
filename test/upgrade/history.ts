/**
 * A small history that every earlier state of the control tables can tell: what its code did not know yet is left out.
 * `make.ts` tells it to the code of then; `upgrade.test.ts` goes on with what came of it.
 */

export interface State {
  /** The migration that this state has and the state before had not. */
  readonly migration: string;
  /** The last commit of that state. Of files that grew beside each other a later number may have come first. */
  readonly commit: string;
}

export const states: readonly State[] = [
  { migration: '0001', commit: '0b1a29f' },
  { migration: '0002', commit: 'df993dd' },
  { migration: '0003', commit: '3b00a21' },
  { migration: '0004', commit: 'cde4d18' },
  { migration: '0005', commit: '7b40d8e' },
  { migration: '0006', commit: 'ea4614b' },
  { migration: '0007', commit: 'fee58e1' },
  { migration: '0008', commit: '01c1358' },
  { migration: '0009', commit: '5adedf4' },
  { migration: '0010', commit: '08a6ef3' },
  { migration: '0011', commit: '17ca494' },
  { migration: '0012', commit: '8643831' },
  { migration: '0013', commit: 'f06c63b' },
  { migration: '0014', commit: '4566555' },
  { migration: '0015', commit: '99b38dd' },
  { migration: '0016', commit: 'e0114c7' },
  { migration: '0017', commit: '982cd0b' },
  { migration: '0018', commit: 'e1e7a98' },
  { migration: '0019', commit: 'ed586b4' },
];

/** What the user has: made before Errata comes. */
export const bronze = `
  create schema bronze;
  create schema stream;
  create schema ops;
  create table bronze.orders (
    order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)
  ) partition by range (ingested_at);
  create table bronze.orders_2026_10 partition of bronze.orders for values from ('2026-10-01Z') to ('2026-11-01Z');
  create table bronze.orders_2026_11 partition of bronze.orders for values from ('2026-11-01Z') to ('2026-12-01Z');
  create table bronze.orders_later partition of bronze.orders for values from ('2026-12-01Z') to ('2028-01-01Z');
  create table bronze.visits (visit_id bigint, page text, seen_at timestamptz, ingested_at timestamptz);
  create table bronze.readings (
    reading_id bigint, device text, source text, read_at timestamptz, ingested_at timestamptz, value numeric
  );
  create table stream.refused (order_id text, ws timestamptz, we timestamptz, wm timestamptz);
  create table ops.delays (region text, delay interval);
  insert into ops.delays values ('US', '90 minutes');`;

/** The settings that the code of a state understands, by the numbers of its migrations. */
export function settingsAt(migrations: ReadonlySet<string>): string {
  const has = (migration: string) => migrations.has(migration);
  const orders = 'table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at';
  const since = 'complete_from: 2026-10-01';
  const sums = '{ orders: count(*), revenue: sum(amount) }';
  const overrides = has('0005') ? ', overrides: { table: ops.delays, by: [region], delay: delay }' : '';
  const rollups = [
    `daily_orders:
    gold: gold.daily_orders
    bronze: { ${orders}, ${since}${has('0003') ? ', track_changes: true' : ''} }
    window: { calendar: 1 day, time_zone: Europe/Berlin }
    key: [region]
    measures: ${sums}
    watermark: { strategy: bounded, delay: 1 hour${overrides} }
    allowed_lateness: 24 hours
    seal: { by: errata }
    publish: { policy: grace }`,
    `shipped:
    gold: gold.shipped
    bronze: { ${orders}, ${since} }
    window: { tumbling: 1 day }
    key: [region]
    measures: ${sums}
    watermark: { strategy: fixed_delay, delay: 1 hour }
    allowed_lateness: 0
    seal: { by: stream, after: 15 minutes }
    publish: { policy: auto }`,
    `meters:
    gold: gold.meters
    bronze: { table: bronze.readings, event_id: reading_id, event_time: read_at, ingested_at: ingested_at${has('0002') ? ', source_partition: source' : ''}, ${since} }
    window: { tumbling: 10 minutes }
    key: [device]
    measures: { readings: count(*), highest: max(value) }
    watermark: { strategy: ${has('0002') ? 'recorded' : 'bounded, delay: 5 minutes'} }
    allowed_lateness: 10 minutes
    seal: { by: errata }
    publish: { policy: ${has('0011') ? 'review' : 'auto'} }`,
  ];
  if (has('0003'))
    rollups.push(`visits:
    gold: gold.visits
    bronze: { table: bronze.visits, event_id: visit_id, event_time: seen_at, ingested_at: ingested_at, ${since} }
    window: { session_gap: 30 minutes }
    key: [page]
    measures: { views: count(*) }
    watermark: { strategy: bounded, delay: 10 minutes }
    allowed_lateness: 1 hour
    seal: { by: errata }
    publish: { policy: ${has('0011') ? 'grace' : 'auto'} }`);
  if (has('0004'))
    rollups.push(`told:
    gold: gold.told
    bronze: { ${orders}, ${since} }
    window: { tumbling: 1 day }
    key: [region]
    measures: ${sums}
    watermark: { strategy: external, refused: { table: stream.refused, window_start: ws, window_end: we, watermark: wm } }
    allowed_lateness: 0
    seal: { by: stream }
    publish: { policy: auto }`);
  return `rollups:\n  ${rollups.join('\n  ')}\n${has('0012') ? 'periods: { calendar: month, time_zone: Europe/Berlin }\n' : ''}`;
}

/** SQL, or a verb with its arguments. What a state has no verb or no relation for is left out. */
export type Step = { readonly sql: string; readonly needs?: string } | readonly [string, ...string[]];

const ada = ['--actor', 'ada', '--reason', 'ticket 311'];

export const steps: readonly Step[] = [
  ['migrate'],
  {
    sql: `insert into bronze.orders values
      ('a', '2026-10-26T10:00Z', '2026-10-26T10:01Z', 'EU', 10), ('b', '2026-10-26T11:00Z', '2026-10-26T11:01Z', 'US', 20),
      ('c', '2026-10-26T12:00Z', '2026-10-26T12:01Z', 'EU', 5), ('d', '2026-10-27T09:00Z', '2026-10-27T09:01Z', 'EU', 7),
      ('a', '2026-10-26T10:00Z', '2026-10-26T10:05Z', 'EU', 10), ('b', '2026-10-26T11:00Z', '2026-10-26T11:30Z', 'US', 99),
      ('ahead', '2026-12-30T00:00Z', '2026-10-27T10:00Z', 'EU', 1), ('n', '2026-10-27T10:00Z', '2026-10-27T10:01Z', null, 2.5),
      ('pass', '2026-10-28T02:00Z', '2026-10-28T02:00Z', 'EU', 1), ('pass us', '2026-10-28T02:30Z', '2026-10-28T02:30Z', 'US', 1)`,
  },
  {
    sql: `insert into bronze.readings
      select n, 'd' || n % 3, 's' || n % 2, timestamptz '2026-10-26T10:00Z' + n * interval '1 minute',
        timestamptz '2026-10-26T10:00:30Z' + n * interval '1 minute', n * 0.5
      from generate_series(1, 60) as n`,
  },
  {
    sql: `insert into gold.meters_watermark_log (source_partition, at, watermark)
      select 's' || n % 2, timestamptz '2026-10-26T10:00:40Z' + n * interval '1 minute',
        timestamptz '2026-10-26T09:58Z' + n * interval '1 minute'
      from generate_series(0, 61) as n`,
    needs: '0002',
  },
  {
    sql: `insert into bronze.visits
      select n, '/p' || n % 2, timestamptz '2026-10-26T10:00Z' + (n + n / 10 * 40) * interval '3 minutes',
        timestamptz '2026-10-26T10:01Z' + (n + n / 10 * 40) * interval '3 minutes'
      from generate_series(1, 40) as n`,
  },
  // The stream: one total, once more the same, and of the next day.
  {
    sql: `insert into gold.shipped (window_start, window_end, region, orders, revenue) values
      ('2026-10-26Z', '2026-10-27Z', 'EU', 2, 15), ('2026-10-26Z', '2026-10-27Z', 'US', 1, 20)`,
  },
  {
    sql: `insert into gold.shipped (window_start, window_end, region, orders, revenue)
      values ('2026-10-26Z', '2026-10-27Z', 'EU', 2, 15)`,
  },
  {
    sql: `insert into gold.told (window_start, window_end, region, orders, revenue) values
      ('2026-10-26Z', '2026-10-27Z', 'EU', 2, 15), ('2026-10-26Z', '2026-10-27Z', 'US', 1, 20)`,
    needs: '0004',
  },
  ['run', '--bound', '2026-10-28T03:00Z'],
  // Late firing, refused twice, a session that is joined late, a reading that is refused.
  {
    sql: `insert into bronze.orders values
      ('e', '2026-10-27T12:00Z', '2026-10-28T04:00Z', 'EU', 3), ('f', '2026-10-26T13:00Z', '2026-10-28T05:00Z', 'US', 4),
      ('g', '2026-10-26T14:00Z', '2026-10-28T05:10Z', 'EU', 6)`,
  },
  { sql: `insert into stream.refused values ('g', '2026-10-26Z', '2026-10-27Z', '2026-10-28Z')` },
  { sql: `insert into bronze.visits values (90, '/p0', '2026-10-26T10:45Z', '2026-10-28T05:00Z')` },
  {
    sql: `insert into bronze.readings values (90, 'd0', 's0', '2026-10-26T10:05Z', '2026-10-28T05:00Z', 77)`,
  },
  {
    sql: `insert into gold.shipped (window_start, window_end, region, orders, revenue)
      values ('2026-10-26Z', '2026-10-27Z', 'US', 2, 24)`,
  },
  ['run', '--bound', '2026-10-28T12:00Z'],
  ['mark', 'first', '--actor', 'ada'],
  // Seals October; from here on bounds are the clock of whoever makes the state.
  {
    sql: `insert into bronze.orders values
      ('h', '2026-11-02T10:00Z', '2026-11-02T10:01Z', 'EU', 2), ('i', '2026-11-02T12:00Z', '2026-11-02T12:01Z', 'US', 2)`,
  },
  ['publish', 'daily_orders', '--event', 'f', ...ada],
  // A transaction that committed late, and a row that is gone.
  { sql: `insert into bronze.orders values ('s', '2026-10-27T13:00Z', '2026-10-28T04:30Z', 'EU', 8)` },
  { sql: `delete from bronze.orders where order_id = 'c'`, needs: '0003' },
  ['amend', 'daily_orders', '--window', '2026-10-26', ...ada],
  ['amend', 'shipped', '--window', '2026-10-26', ...ada],
  ['amend', 'told', '--window', '2026-10-26', ...ada],
  ['approve', 'daily_orders', '--all', ...ada],
  ['approve', 'meters', '--all', ...ada],
  ['waive', 'daily_orders', '--event', 'g', ...ada],
  ['release', 'daily_orders', '--event', 'ahead', ...ada],
  ['run'],
  ['restate', 'daily_orders', '--window', '2026-10-27', ...ada],
  ['close', 'daily_orders', '2026-10', '--hard', ...ada],
  { sql: `insert into bronze.orders values ('held', '2026-10-27T15:00Z', '2026-11-02T14:00Z', 'EU', 9)` },
  ['run'],
  ['reconcile', 'daily_orders', '--period', '2026-10'],
  ['pause', 'meters', ...ada],
  ['resume', 'meters', ...ada],
];
