/** `errata lateness`: every figure is worked out by hand from the rows that are landed. */
import { describe, expect, test } from 'vitest';
import { bindingsOf } from '../../src/catalog/bindings.ts';
import { lateness as latenessVerb } from '../../src/commands/lateness.ts';
import { trustedSql } from '../../src/db/identifiers.ts';
import { prepare } from '../../src/db/statement.ts';
import { Failure } from '../../src/failure.ts';
import type { Candidate, Miss } from '../../src/report/lateness/candidates.ts';
import { percentText, secondsText } from '../../src/report/lateness/figures.ts';
import type { Lateness } from '../../src/report/lateness/lateness.ts';
import { plotLines, showsUnicode } from '../../src/report/lateness/plot.ts';
import { openTestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';
import { dailyPartitions, type Orders, openOrders } from '../support/orders.ts';
import { call } from './verb-context.ts';

type Flags = Parameters<typeof latenessVerb.execute>[2];

async function ask(
  errata: TestErrata,
  flags: Flags = {},
): Promise<{ found: Lateness; text: string; exitCode: number }> {
  const outcome = await call(latenessVerb, errata, [errata.rollup.settings.name], flags);
  return { found: outcome.data as Lateness, text: outcome.text, exitCode: outcome.exitCode };
}

async function failed(errata: TestErrata, flags: Flags, name = 'daily_orders'): Promise<Failure> {
  const error = await call(latenessVerb, errata, [name], flags).catch((thrown: unknown) => thrown);
  if (error instanceof Failure) return error;
  throw error;
}

/** `rows 3 0.6, revenue 100.00 0.1`. */
const missed = (misses: readonly Miss[]) =>
  misses.map(({ measure, amount, share }) => `${measure ?? 'rows'} ${amount} ${share}`).join(', ');

const withSource =
  '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, source_partition: device, complete_from: 2026-01-01 }';
const deviceTable = `
  create schema bronze;
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2), device text)`;

/** DESIGN.md, section 5. */
async function clicked(): Promise<TestErrata> {
  const database = await openTestDatabase('migrated');
  await database.pool.query(`
    create schema bronze;
    create table bronze.click (event_time timestamptz, ingested_at timestamptz, page text, seconds numeric(10,1));
    insert into bronze.click
    select t, t + lateness * interval '1 second', page, seconds
    from (values
      (timestamptz '2026-05-01 10:01Z', '/home', 5.0, 20), ('2026-05-01 10:02Z', '/pricing', 5.0, 20),
      ('2026-05-01 10:04Z', '/pricing', 5.0, 20), ('2026-05-01 10:06Z', '/home', 5.0, 20),
      ('2026-05-01 10:07Z', '/pricing', 5.0, 20), ('2026-05-01 10:30Z', '/home', 1.0, 20),
      ('2026-05-01 10:03Z', '/home', 7.0, 2280)
    ) as c (t, page, seconds, lateness)`);
  return await openErrata(
    database,
    `
rollups:
  clicks:
    gold: gold.clicks
    bronze: { table: bronze.click, unique_rows: true, event_time: event_time, ingested_at: ingested_at }
    window: { tumbling: 5 minutes }
    key: [page]
    measures: { views: count(*), seconds: sum(seconds) }
    watermark: { strategy: bounded, delay: 600 s }
    allowed_lateness: 0
    seal: { by: errata }
    publish: { policy: auto }
`,
  );
}

describe('clicks', () => {
  test('p50 20 s, p99 and max 2,280 s, one event later than 10 minutes', async () => {
    const { found } = await ask(await clicked());
    expect(found.whole).toMatchObject({
      rows: '7',
      p50: '20',
      p90: '2280',
      p99: '2280',
      p999: '2280',
      max: '2280',
    });
    expect(found.by_key?.map(({ name, rows, p50, max }) => [name.page, rows, p50, max])).toEqual([
      ['/home', '4', '20', '2280'],
      ['/pricing', '3', '20', '20'],
    ]);
    const configured = found.candidates.find(({ is_configured: isConfigured }) => isConfigured) as Candidate;
    expect(configured).toMatchObject({
      delay: '10m',
      delay_seconds: '600',
      later_than_delay: { rows: '1', share: '0.1428571429' },
    });
    // 10:03 belongs to the window that ends 10:05, and arrived 10:41; 7.0 of 33.0 seconds
    expect(missed(configured.late)).toBe(
      'rows 1 0.1428571429, views 1 0.1428571429, seconds 7.0 0.2121212121',
    );
    expect(missed(configured.refused)).toBe(missed(configured.late));
    expect(found.suggestion).toMatchObject({ delay: '1h', delay_seconds: '3600', allowed_lateness: '0' });
  });

  test('as text', async () => {
    expect((await ask(await clicked(), { delays: '10m,1h' })).text).toMatchInlineSnapshot(`
      "clicks: 7 rows of bronze.click, ingested from 2026-04-01 10:41:00Z up to 2026-05-01 10:41:00Z
        lateness is arrival less event time

                  rows   p50     p90     p95     p99   p99.9     max  negative  set aside
        all rows     7  20 s  38 min  38 min  38 min  38 min  38 min       0 %          0
      by key
        /home        4  20 s  38 min  38 min  38 min  38 min  38 min       0 %          0
        /pricing     3  20 s    20 s    20 s    20 s    20 s    20 s       0 %          0

      Rows by lateness (bars grow with the logarithm)
        lateness      rows   share
        up to 30 s       6  85.7 %  ########################################
        up to 1 min      0     0 %
        up to 3 min      0     0 %
        up to 10 min     0     0 %
        up to 30 min     0     0 %
        up to 1 h        1  14.3 %  ######################

      What each delay costs, in the reading of fixed_delay: a row is late when arrival less delay has reached its window's end; the rollup's own strategy is bounded
      Refused: late by the allowed lateness of 0 too. Worst and median day: the refused share of a day's total, days by event time in UTC
        delay             later than it  of       late   share  refused   share  worst day              median day
        10m (configured)              1  rows        1  14.3 %        1  14.3 %     14.3 %  2026-05-01      14.3 %
                                         views       1  14.3 %        1  14.3 %     14.3 %  2026-05-01      14.3 %
                                         seconds   7.0  21.2 %      7.0  21.2 %     21.2 %  2026-05-01      21.2 %
        1h                            0  rows        0     0 %        0     0 %        0 %                     0 %
                                         views       0     0 %        0     0 %        0 %                     0 %
                                         seconds     0     0 %        0     0 %        0 %                     0 %

      Suggestion: delay 1h, allowed lateness 0
        waiting: every window ships 1h after its end
        misses: 0 rows (0 %), views 0 (0 %), seconds 0 (0 %) late; 0 rows (0 %), views 0 (0 %), seconds 0 (0 %) refused
        rule: the delay is the smallest candidate that keeps the late share below 0.1 % of rows and of every additive measure; the allowed lateness is the smallest of 0 and the candidates that keeps the refused share below 0.01 % of both

      Days of arrival, UTC
                    rows   p50     p99     max  negative  set aside
        2026-05-01     7  20 s  38 min  38 min       0 %          0"
    `);
  });
});

/** Overdue by: never; 30 minutes to the microsecond; 5 hours; 36 hours; never. 1,000.00 in all. */
async function fiveOrders(options: Parameters<typeof openOrders>[0] = {}): Promise<Orders> {
  const orders = await openOrders(options);
  await orders.land(
    '1 10-29 10:00 10-29 10:05 EU 100.00',
    '2 10-29 23:50 10-30 00:30 EU 50.00',
    '3 10-29 12:00 10-30 05:00 US 20.00',
    '4 10-28 12:00 10-30 12:00 US 30.00',
    '5 10-30 08:00 10-30 08:00 EU 800.00',
  );
  return orders;
}

describe('delays', () => {
  test('what each would cost in rows and in money; equality is late (R3)', async () => {
    const { found } = await ask(await fiveOrders(), { delays: '1d, 30m,6h' });
    expect(
      found.candidates.map(({ delay, later_than_delay: later, late, refused }) => [
        delay,
        later.rows,
        missed(late),
        missed(refused),
      ]),
    ).toEqual([
      [
        '30m',
        '3',
        'rows 3 0.6, orders 3 0.6, revenue 100.00 0.1',
        'rows 1 0.2, orders 1 0.2, revenue 30.00 0.03',
      ],
      [
        '6h',
        '2',
        'rows 1 0.2, orders 1 0.2, revenue 30.00 0.03',
        'rows 1 0.2, orders 1 0.2, revenue 30.00 0.03',
      ],
      ['1d', '1', 'rows 1 0.2, orders 1 0.2, revenue 30.00 0.03', 'rows 0 0, orders 0 0, revenue 0 0'],
    ]);
    expect(found.suggestion).toMatchObject({ delay: null, allowed_lateness: null });
  });

  test('refused, as a share of a day: the worst and the median day', async () => {
    const orders = await fiveOrders({ lateness: '4 hours' });
    const days = async (flags: Flags) =>
      (await ask(orders, flags)).found.candidates[0]?.refused.map((miss) => [
        miss.worst_day,
        miss.worst_day_share,
        miss.median_day_share,
      ]);
    // refused from 4.5 hours on: 4, all of the 28th; 3, one of three rows and 20 of 170.00 of the 29th; none of the 30th
    expect(await days({ delays: '30m' })).toEqual([
      ['2026-10-28', '1', '0.3333333333'],
      ['2026-10-28', '1', '0.3333333333'],
      ['2026-10-28', '1', '0.1176470588'],
    ]);
    // the 28th begins before the range
    expect((await days({ delays: '30m', from: '2026-10-29', to: '2026-10-31' }))?.[0]).toEqual([
      '2026-10-29',
      '0.3333333333',
      '0',
    ]);
  });

  test('the configured delay is a candidate, unless candidates are named', async () => {
    const orders = await fiveOrders({ watermark: '{ strategy: fixed_delay, delay: 90 minutes }' });
    const delays = async (flags: Flags) =>
      (await ask(orders, flags)).found.candidates.map(({ delay }) => delay);
    expect(await delays({})).toEqual(['1m', '10m', '1h', '90 minutes', '6h', '1d', '3d', '7d']);
    expect(await delays({ delays: '2h,60m,1h' })).toEqual(['60m', '2h']);
  });

  test('the suggestion: the smallest that keeps to the rule, for the delay and for the allowed lateness', async () => {
    const orders = await openOrders();
    // 1 of 2,001 rows is 0.05 %: late and still below 0.1 %, refused and not below 0.01 %
    await orders.rows(`insert into bronze.orders
      select n::text, timestamptz '2026-10-29 12:00Z', timestamptz '2026-10-29 12:00Z', 'EU', 1 from generate_series(1, 2000) as n
      union all select 'late', '2026-10-29 12:00Z', '2026-10-30 03:00Z', 'EU', 1`);
    const { found, text } = await ask(orders, { delays: '1h,6h,1d' });
    expect(found.suggestion).toMatchObject({
      delay: '1h',
      delay_seconds: '3600',
      allowed_lateness: '6h',
      allowed_lateness_seconds: '21600',
    });
    expect(missed(found.suggestion?.late ?? [])).toBe(
      'rows 1 0.0004997501, orders 1 0.0004997501, revenue 1.00 0.0004997501',
    );
    expect(text).toContain('Suggestion: delay 1h, allowed lateness 6h');
    expect(text).toContain('below 0.1 % of rows and of every additive measure');
  });

  test('delays longer than PostgreSQL can add up are no candidates that fail', async () => {
    const { found } = await ask(await fiveOrders(), { delays: '1h,100000000d' });
    expect(found.suggestion).toMatchObject({ delay: '100000000d', allowed_lateness: '0' });
  });

  test('amounts that cancel out have no share, and are no excuse', async () => {
    const orders = await openOrders();
    await orders.land('1 10-29 10:00 10-29 10:00 EU -5', '2 10-29 10:00 10-30 03:00 EU 5');
    const { found } = await ask(orders, { delays: '1h' });
    expect(missed(found.candidates[0]?.late ?? [])).toBe('rows 1 0.5, orders 1 0.5, revenue 5.00 null');
    expect(found.suggestion?.delay).toBeNull();
  });
});

describe('clocks', () => {
  /** Three devices, ten rows a day each from the 20th to the 25th, 20 seconds late; a: 1 hour on the 23rd; c: 2 hours ahead on the 24th. */
  async function devices(): Promise<Orders> {
    const orders = await openOrders({ ddl: deviceTable, bronze: withSource });
    await orders.rows(`insert into bronze.orders
      select concat_ws('-', device, d, n), at - case
          when device = 'a' and d = 23 then interval '1 hour'
          when device = 'c' and d = 24 then interval '-2 hours'
          else interval '20 seconds' end, at, 'EU', 1, device
      from generate_series(20, 25) as d, generate_series(1, 10) as n, unnest(array['a', 'b', 'c']) as device,
        lateral (select make_timestamptz(2026, 10, d, 12, n, 0)) as l (at)`);
    return orders;
  }

  test('a device whose clock broke is named with its days', async () => {
    const { found, text } = await ask(await devices());
    expect(found.jumps).toEqual([
      {
        day: '2026-10-23',
        source_partition: 'a',
        mark: 'p50',
        rows: '10',
        p50_before: '20',
        p50: '3600',
        jumps: '3',
      },
      {
        day: '2026-10-24',
        source_partition: 'a',
        mark: 'p50',
        rows: '10',
        p50_before: '3600',
        p50: '20',
        jumps: '3',
      },
      {
        day: '2026-10-24',
        source_partition: 'c',
        mark: 'quarantine',
        rows: '10',
        p50_before: null,
        p50: null,
        jumps: '3',
      },
    ]);
    expect(text).toContain('! 2026-10-23, source partition a: p50 from 20 s to 1 h over 10 rows');
    expect(text).toContain('! 2026-10-24, source partition c: 10 rows too far ahead of arrival');
  });

  test('quarantined rows are counted apart and are in no percentile (R4)', async () => {
    const { found } = await ask(await devices(), { by: 'source' });
    expect(found.set_aside).toEqual([{ reason: 'event_time_ahead_of_arrival', rows: '10' }]);
    expect(
      found.by_source?.map(({ name, rows, set_aside, negative }) => [
        name.source_partition,
        rows,
        set_aside,
        negative,
      ]),
    ).toEqual([
      ['a', '60', '0', '0'],
      ['b', '60', '0', '0'],
      ['c', '50', '10', '0'],
    ]);
    expect(found.by_key).toBeNull();
    expect(found.days.map(({ name, p50, set_aside }) => [name.day, p50, set_aside])).toEqual(
      [20, 21, 22, 23, 24, 25].map((day) => [`2026-10-${day}`, '20', day === 24 ? '10' : '0']),
    );
  });

  test('negative lateness: within the allowed skew it counts, and its sign is a jump', async () => {
    const orders = await openOrders();
    await orders.land(
      '1 10-29 10:01 10-29 10:00',
      '2 10-29 10:00 10-29 10:00',
      '3 10-29 10:30 10-29 10:00',
      '4 10-30 10:00 10-30 10:05',
    );
    const { found, text } = await ask(orders);
    expect(found.whole).toMatchObject({
      rows: '4',
      p50: '-60',
      max: '300',
      negative: '2',
      negative_share: '0.5',
    });
    expect(found.histogram.filter(({ rows }) => rows !== '0')).toEqual([
      { above: null, up_to: '-0.000001', rows: '2', share: '0.5' },
      { above: '-0.000001', up_to: '0', rows: '1', share: '0.25' },
      { above: '180', up_to: '600', rows: '1', share: '0.25' },
    ]);
    expect(found.jumps).toMatchObject([
      { day: '2026-10-30', source_partition: null, p50_before: '-60', p50: '300' },
    ]);
    expect(text).toContain('negative');
  });
});

describe('what is no lateness', () => {
  test('a copy is no late event (R5): the first by ingestion counts, and the same id in another window too', async () => {
    const orders = await fiveOrders();
    await orders.land(
      '1 10-29 10:00 10-30 11:00 EU 100.00',
      '1 10-29 10:00 10-30 10:00 EU 999.00',
      '5 10-29 08:00 10-30 11:30 EU 1',
    );
    const { found, text } = await ask(orders, { delays: '6h' });
    expect(found).toMatchObject({ copies: '2', whole: { rows: '6' } });
    expect(missed(found.candidates[0]?.late ?? [])).toBe(
      'rows 2 0.3333333333, orders 2 0.3333333333, revenue 31.00 0.030969031',
    );
    expect(text).toContain('counted apart: 2 copies');
  });

  test('heartbeats, missing arrivals and unreadable event times', async () => {
    const orders = await openOrders({
      ddl: deviceTable,
      bronze:
        "{ table: bronze.orders, unique_rows: true, event_time: ordered_at, ingested_at: ingested_at, heartbeat: region = 'beat' }",
    });
    await orders.rows(`insert into bronze.orders values
      ('1', '2026-10-29 10:00Z', '2026-10-29 10:01Z', 'EU', 1), ('2', null, '2026-10-29 10:01Z', 'EU', 1),
      ('3', '-infinity', '2026-10-29 10:01Z', 'EU', 1), ('4', '2026-10-29 10:00Z', '2026-10-29 12:01Z', 'beat', 1),
      ('5', '2026-10-29 10:00Z', null, 'EU', 1), ('6', '2026-10-29 10:00Z', 'infinity', 'EU', 1)`);
    const { found } = await ask(orders);
    expect(found.whole).toMatchObject({ rows: '1', set_aside: '2', max: '60' });
    expect(found.set_aside).toEqual([
      { reason: 'event_time_infinite', rows: '1' },
      { reason: 'event_time_null', rows: '1' },
    ]);
  });

  test('a range whose rows are all set aside has no figures', async () => {
    const orders = await openOrders();
    await orders.land('1 10-30 10:00 10-29 10:00', '2 - - 10-29 10:00');
    const { found, text, exitCode } = await ask(orders);
    expect(exitCode).toBe(0);
    expect(found.suggestion).toBeNull();
    expect(text).toContain('No row has a lateness: see what is set aside.');
    expect(text).toContain('counted apart: 1 row, event_time_null');
  });

  test('arrival is the broker’s where the rollup declares it, and a missing one is said', async () => {
    const orders = await openOrders({
      ddl: `create schema bronze; create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2), landed_at timestamptz)`,
      bronze:
        '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, arrived_at: landed_at }',
    });
    await orders.rows(`insert into bronze.orders values
      ('1', '2026-10-29 10:00Z', '2026-10-29 10:10Z', 'EU', 1, '2026-10-29 10:01Z'),
      ('2', '2026-10-29 10:00Z', '2026-10-29 10:10Z', 'EU', 1, null)`);
    const { found } = await ask(orders);
    expect(found.whole).toMatchObject({ rows: '1', max: '60' });
    expect(found.set_aside).toEqual([{ reason: 'arrived_at_missing', rows: '1' }]);
  });
});

describe('input that leaves something out', () => {
  test('empty bronze', async () => {
    const { found, text, exitCode } = await ask(await openOrders());
    expect([exitCode, text]).toEqual([0, 'daily_orders: bronze.orders is empty, so nothing can be late']);
    expect(found).toMatchObject({ range: null, whole: null, candidates: [] });
  });

  test.each<[Flags, string, string]>([
    [
      { from: '2026-11-01' },
      'the range from 2026-11-01 00:00:00Z to 2026-10-30 12:00:00.000001Z holds no instant',
      'the greatest ingested_at is 2026-10-30 12:00:00Z; name another --from and --to',
    ],
    [
      { from: '2026-11-01', to: '2026-11-02' },
      'no row of bronze.orders was ingested from 2026-11-01 00:00:00Z to 2026-11-02 00:00:00Z',
      'the greatest ingested_at is 2026-10-30 12:00:00Z; name another --from and --to',
    ],
    [{ from: 'yesterday' }, '--from "yesterday" is not a date or an instant', ''],
    [{ to: '2026-11-01T00:00' }, '--to "2026-11-01T00:00" has no offset', ''],
    [{ delays: '1h,soon' }, '--delays "soon" is not a duration', ''],
    [{ delays: '' }, '--delays "" is not a duration', ''],
    [{ delays: Array.from({ length: 31 }, (_, n) => `${n}h`).join() }, '--delays names 31 candidates', ''],
    [{ by: 'device' }, '--by "device" is not source, key or none', ''],
    [{ by: 'source' }, 'rollup "daily_orders" has no bronze.source_partition to group by', 'leave --by out'],
  ])('%j', async (flags, message, hint) => {
    const failure = await failed(await fiveOrders(), flags);
    expect(failure.exitCode).toBe(2);
    expect(failure.message).toContain(message);
    expect(failure.hint ?? '').toContain(hint);
  });

  test('an unknown rollup', async () => {
    const failure = await failed(await openOrders(), {}, 'orders');
    expect([failure.exitCode, failure.message]).toEqual([2, 'there is no rollup "orders"']);
  });

  test('a rollup without a key or an additive measure', async () => {
    const orders = await fiveOrders({ key: '[]', measures: '{ dearest: max(amount) }' });
    const { found, text } = await ask(orders, { delays: '6h' });
    expect(missed(found.candidates[0]?.late ?? [])).toBe('rows 1 0.2');
    expect(text).toContain('The rollup has no additive measure, so only rows are counted.');
    expect(text).not.toContain('by key');
    expect((await failed(orders, { by: 'key' })).message).toBe(
      'rollup "daily_orders" has no key column to group by',
    );
  });

  test('NULL and empty keys, and NULL source partitions, are groups with a name', async () => {
    const orders = await openOrders({ ddl: deviceTable, bronze: withSource });
    await orders.land(
      '1 10-29 10:00 10-29 10:03 NULL',
      "2 10-29 10:00 10-29 10:02 ''",
      '3 10-29 10:00 10-29 10:01',
    );
    const { found, text } = await ask(orders);
    expect(found.by_key?.map(({ name }) => name.region)).toEqual([null, '', 'EU']);
    expect(found.by_source?.map(({ name }) => name.source_partition)).toEqual([null]);
    expect(text).toMatch(/by source partition\n {2}NULL +3 /);
    expect(text).toMatch(/by key\n {2}NULL +1 .*\n {2}'' +1 .*\n {2}EU +1 /);
  });
});

test('days are those of the calendar’s zone, and so are dates of the range', async () => {
  const orders = await openOrders({ window: '{ calendar: 1 day, time_zone: Europe/Berlin }' });
  await orders.land('1 10-29 22:30 10-29 22:31', '2 10-29 23:30 10-29 23:31');
  expect((await ask(orders)).found.days.map(({ name }) => name.day)).toEqual(['2026-10-29', '2026-10-30']);
  const { found } = await ask(orders, { from: '2026-10-30' });
  expect(found.range?.from).toBe('2026-10-29 23:00:00+00');
  expect(found.whole?.rows).toBe('1');
});

test('ingestion partitions outside the range are not read', async () => {
  const orders = await openOrders({ ddl: dailyPartitions });
  const statement = prepare('report/lateness_read.sql', {
    ...bindingsOf(orders.rollup),
    twins: trustedSql('1'),
  });
  const plan = await orders.rows<{ 'QUERY PLAN': string }>(
    `explain ${statement.sql.replaceAll(/^--.*$/gm, '')}`,
    ['2026-10-29 00:00+00', '2026-10-31 00:00+00', 'UTC'],
  );
  const scanned = plan.flatMap((row) => /on (orders_\d+)/.exec(row['QUERY PLAN'])?.[1] ?? []);
  expect(scanned.sort()).toEqual(['orders_20261029', 'orders_20261030']);
});

test('after a run the greatest ingested_at is found by the frontier, and behind it too', async () => {
  const orders = await fiveOrders();
  await orders.run({ bound: '2026-10-30T13:00:00Z' });
  expect((await ask(orders)).found.range?.to).toBe('2026-10-30 12:00:00.000001+00');
  await orders.run({ bound: '2027-10-30T13:00:00Z' });
  expect((await ask(orders)).found.range?.to).toBe('2026-10-30 12:00:00.000001+00');
});

test.each([
  ['0', '0 s'],
  ['20', '20 s'],
  ['0.25', '0.25 s'],
  ['-12.3456', '-12.3 s'],
  ['60', '1 min'],
  ['2280', '38 min'],
  ['3601', '1 h'],
  ['194930.5', '2 d 6 h'],
  [null, '-'],
])('%s seconds → %s', (seconds, text) => {
  expect(secondsText(seconds)).toBe(text);
});

test.each([
  ['0.1428571429', '14.3 %'],
  ['0.00012', '0.012 %'],
  ['0', '0 %'],
  ['-0.5', '-50 %'],
  [null, '-'],
])('a share of %s → %s', (share, text) => {
  expect(percentText(share)).toBe(text);
});

test('bars in blocks where the terminal knows UTF-8, else in plain ASCII', () => {
  const bar = (rows: string) => ({ above: '1', up_to: '3', rows, share: '0.5' });
  const bars = [bar('1000'), bar('10'), bar('0')];
  expect(plotLines(bars, true).map((line) => line.replaceAll(/[^█▏▎▍▌▋▊▉]/g, ''))).toEqual([
    '',
    '█'.repeat(40),
    '█'.repeat(20),
    '',
  ]);
  expect(plotLines(bars, false)[2]).toMatch(/ #{20}$/);
  expect(plotLines(bars, false).join('')).toMatch(/^[\x20-\x7e]*$/);
  expect(showsUnicode({ LANG: 'de_DE.UTF-8' })).toBe(true);
  expect(showsUnicode({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' })).toBe(false);
  expect(showsUnicode({})).toBe(false);
});
