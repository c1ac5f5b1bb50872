/** Delays and latenesses that differ by key, by source partition or from row to row (R2, R3, R8). */
import { describe, expect, test } from 'vitest';
import { applyRollup } from '../../src/catalog/apply.ts';
import { bindingsOf } from '../../src/catalog/bindings.ts';
import { notCarriedOut } from '../../src/catalog/supported.ts';
import { Findings } from '../../src/check/findings.ts';
import { checkOverrides } from '../../src/check/overrides.ts';
import { parseSettings } from '../../src/config/read-settings.ts';
import type { RollupSettings } from '../../src/config/settings.ts';
import { execute, prepare } from '../../src/db/statement.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { readReach } from '../../src/report/explain/explain.ts';
import { openErrata } from '../support/errata.ts';
import { openOrders } from '../support/orders.ts';
import { historyOf, openSourcePartitions } from '../support/source-partitions.ts';

const table = `
  create schema if not exists bronze;
  create schema ops;
  create table ops.delays (region text, delay interval, lateness interval);
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2),
    patience interval, grace interval)`;
const byRegion = 'overrides: { table: ops.delays, by: [region], allowed_lateness: lateness }';
/** Rows of three regions in a day that is sealed before the late ones come, 25 hours after its end. */
const onTime = [
  'a 10-29 10:00 10-29 10:01 EU',
  'b 10-29 10:00 10-29 10:01 US',
  'c 10-29 10:00 10-29 10:01 NULL',
];
const jump = 'jump 10-31 02:00 10-31 02:00 ZZ';
const late = [
  'a2 10-29 11:00 10-31 03:00 EU',
  'b2 10-29 11:00 10-31 03:00 US',
  'c2 10-29 11:00 10-31 03:00 NULL',
];

describe('allowed lateness', () => {
  test('by key: its own, the NULL key like any other; without a row, or with NULL in it, the one of the rollup', async () => {
    const orders = await openOrders({
      ddl: table,
      policy: 'grace',
      watermark: `{ strategy: bounded, delay: 1 hour, ${byRegion} }`,
    });
    await orders.rows(
      `insert into ops.delays values ('EU', null, '2 days'), ('US', null, null), (null, null, '25 hours 1 us'), ('none', null, '0')`,
    );
    await orders.land(...onTime, jump, ...late);
    await orders.run({ bound: '2026-10-31T04:00Z' });
    expect(await orders.lateEvents()).toEqual([
      "a2 'EU' late_firing included v2 late_firing",
      "b2 'US' side_output pending refused",
      'c2 NULL late_firing included v2 late_firing',
    ]);
    expect(
      await orders.rows('select region, is_provisional from gold.daily_orders_latest order by region'),
    ).toEqual([
      { region: 'EU', is_provisional: true },
      { region: 'US', is_provisional: false },
      { region: null, is_provisional: true },
    ]);
  });

  test('what was judged stays so when the table changes (R6)', async () => {
    const orders = await openOrders({
      ddl: table,
      policy: 'grace',
      watermark: `{ strategy: bounded, delay: 1 hour, ${byRegion} }`,
    });
    await orders.land(...onTime, jump, ...late);
    await orders.run({ bound: '2026-10-31T04:00Z' });
    await orders.rows(`insert into ops.delays values ('EU', null, '2 days')`);
    await orders.land('a3 10-29 11:00 10-31 05:00 EU');
    await orders.run({ bound: '2026-10-31T06:00Z', readAll: true });
    expect(await orders.lateEvents()).toEqual([
      "a2 'EU' side_output pending refused",
      "b2 'US' side_output pending refused",
      'c2 NULL side_output pending refused',
      "a3 'EU' late_firing included v2 late_firing",
    ]);
  });

  test('by source partition', async () => {
    const errata = await openSourcePartitions({
      ddl: 'create table bronze.patience (source text, lateness interval)',
      watermark:
        '{ strategy: bounded, delay: 0, max_future_skew: none, combine: max, overrides: { table: bronze.patience, by: { source_partition: source }, allowed_lateness: lateness } }',
      lateness: '10 s',
    });
    await errata.rows(`insert into bronze.patience values ('b', '20 s')`);
    await errata.land('a 1 5', 'b 2 25', 'a 3 6', 'b 3 6', 'NULL 3 6');
    await errata.runAt(4);
    expect(
      await errata.rows(
        'select source_partition, landing from gold.total_late_event order by source_partition',
      ),
    ).toEqual([
      { source_partition: 'a', landing: 'side_output' },
      { source_partition: 'b', landing: 'late_firing' },
      { source_partition: null, landing: 'side_output' },
    ]);
  });

  test('a column: each row its own; NULL, infinite or less than nothing: the one of the rollup', async () => {
    const orders = await openOrders({
      ddl: table,
      lateness: '{ column: grace, default: 24 hours }',
    });
    await orders.land(...onTime, jump);
    await orders.rows(`insert into bronze.orders (order_id, ordered_at, ingested_at, region, grace)
      select 'x' || n, '2026-10-29T11:00Z', '2026-10-31T03:00Z', 'EU', g.grace
      from unnest(array[interval '2 days', null, interval '-1 day', interval '1 hour']) with ordinality as g (grace, n)`);
    await orders.run({ bound: '2026-10-31T04:00Z' });
    expect((await orders.lateEvents()).map((line) => line.split(' ').slice(0, 3).join(' ')).sort()).toEqual([
      "x1 'EU' late_firing",
      "x2 'EU' side_output",
      "x3 'EU' side_output",
      "x4 'EU' side_output",
    ]);
  });
});

test('a key that stands twice, or no span of time: the run does nothing and says which', async () => {
  const orders = await openOrders({
    ddl: table,
    watermark: `{ strategy: bounded, delay: 1 hour, ${byRegion} }`,
  });
  await orders.rows(
    `insert into ops.delays values ('EU', null, '1 day'), ('EU', null, '1 day'), ('US', null, '-1 day')`,
  );
  await expect(orders.run({ bound: '2026-10-31T04:00Z' })).rejects.toMatchObject({
    exitCode: 2,
    message: 'the overrides of rollup "daily_orders" cannot be followed',
    detail:
      'in ops.delays: {"region": "EU"} stands in it 2 times; {"region": "US"} has the allowed lateness -1 days, which is no span of time',
  });
  expect(await orders.rows('select * from errata.run')).toEqual([]);
});

test('errata check tells of a table that is missing, of columns and of types', async () => {
  const faultsOf = async (overrides: string) => {
    try {
      await openOrders({
        ddl: table,
        watermark: `{ strategy: bounded, delay: 1 hour, overrides: ${overrides} }`,
      });
      return [];
    } catch (error) {
      return String((error as { detail?: string }).detail).split('\n');
    }
  };
  const place = 'errata.yaml:3  rollups.daily_orders.watermark.overrides';
  expect(await faultsOf('{ table: ops.other, by: [region], allowed_lateness: lateness }')).toEqual([
    `${place}.table: there is no table or view ops.other; create it, or correct the name`,
  ]);
  expect(await faultsOf('{ table: ops.delays, by: { region: dev }, allowed_lateness: region }')).toEqual([
    `${place}.allowed_lateness: column "region" has type text, which is no interval; name a column of type interval`,
    `${place}.by: ops.delays has no column "dev"; it has: region, delay, lateness`,
  ]);
  expect(await faultsOf('{ table: ops.delays, by: { region: delay }, allowed_lateness: lateness }')).toEqual([
    `${place}.by: column "delay" has type interval, and the key "region" has type text; give it the type of the key`,
  ]);
});

describe('delay by source partition', () => {
  const ddl = 'create table bronze.patience (source text, delay interval)';
  const overrides = 'overrides: { table: bronze.patience, by: { source_partition: source }, delay: delay }';

  test('bounded: its own watermark is its greatest event time less its own delay', async () => {
    const errata = await openSourcePartitions({
      ddl,
      watermark: `{ strategy: bounded, delay: 5 s, max_future_skew: none, ${overrides} }`,
    });
    await errata.rows(
      `insert into bronze.patience values ('b', '20 s'), (null, '0'), ('c', null), ('none', '1 day')`,
    );
    await errata.land('a 1 30', 'b 1 40', 'NULL 1 22', 'c 1 26', 'b 3 60', 'c 4 40');
    await errata.runAt(2);
    expect(await historyOf(errata)).toEqual(['1 20']);
    await errata.runAt(5);
    // c stands at 21, then at 35; NULL at 22; a at 25; b at 40
    expect(await historyOf(errata)).toEqual(['1 20', '3 21', '4 22']);
  });

  test('fixed_delay: each row by that of its source partition; the greatest seals', async () => {
    const errata = await openSourcePartitions({
      ddl,
      watermark: `{ strategy: fixed_delay, delay: 5 s, max_future_skew: none, ${overrides} }`,
    });
    await errata.rows(`insert into bronze.patience values ('b', '20 s')`);
    await errata.land('a 1 1', 'b 1 1', 'a 14 2', 'a 15 3', 'b 29 4');
    await errata.runAt(29.5);
    // its window ends at 10: a's row of second 15 is late, b's of second 29 is not, and nothing is sealed yet
    expect(await errata.rows('select rows_counted from gold.total')).toEqual([]);
    expect(await errata.rows('select event_time, landing, state from gold.total_late_event')).toEqual([
      { event_time: '2026-01-01 00:00:03+00', landing: 'side_output', state: 'pending' },
    ]);
    await errata.runAt(30);
    expect(await errata.rows('select version, rows_counted from gold.total order by version')).toEqual([
      { version: 1, rows_counted: '4' },
      { version: 2, rows_counted: '5' },
    ]);
  });

  test('a baseline does not include in a version 1 what is not sealed', async () => {
    const errata = await openSourcePartitions({
      ddl,
      watermark: `{ strategy: fixed_delay, delay: 5 s, max_future_skew: none, ${overrides} }`,
    });
    await errata.rows(`insert into bronze.patience values ('b', '20 s')`);
    await errata.land('a 1 1', 'a 15 3');
    await errata.run({ bound: '2026-01-01 00:00:16+00', verb: 'baseline' });
    await errata.runAt(30);
    expect(await errata.rows('select version, rows_counted from gold.total order by version')).toEqual([
      { version: 1, rows_counted: '1' },
      { version: 2, rows_counted: '2' },
    ]);
  });
});

describe('a delay in each row', () => {
  const ddl = 'alter table bronze.event add column slack interval';
  const open = async (strategy: string) => {
    const errata = await openSourcePartitions({
      ddl,
      watermark: `{ strategy: ${strategy}, delay: { column: slack, default: 5 s }, max_future_skew: none, combine: max }`,
    });
    /** Rows of `arrival_second event_second slack_in_seconds`. */
    const land = async (...rows: string[]) => {
      for (const row of rows) {
        const [at, time, slack] = row.split(' ');
        await errata.rows(
          `insert into bronze.event (source, ingested_at, event_time, slack)
           select 'a', zero + $1 * second, zero + $2 * second, nullif($3, '-')::interval
           from (values (timestamptz '2026-01-01 00:00:00+00', interval '1 second')) as v (zero, second)`,
          [at, time, slack === undefined || slack === '-' ? '-' : `${slack} s`],
        );
      }
    };
    return { ...errata, landed: land };
  };

  test('bounded: the watermark is the greatest event time less its own delay', async () => {
    const errata = await open('bounded');
    await errata.landed('1 30 20', '2 20', '3 40 -10', '4 41 30', '5 36 0');
    await errata.runAt(6);
    expect(await historyOf(errata)).toEqual(['1 10', '2 15', '3 35', '5 36']);
  });

  test('fixed_delay: the clock less the greatest delay so far seals, and never goes back', async () => {
    const errata = await open('fixed_delay');
    const sealed = async () =>
      (
        await errata.rows<{ until: string }>(
          `select extract(epoch from sealed_until - '2026-01-01Z')::int::text as until from errata.rollup`,
        )
      )[0]?.until;
    await errata.landed('1 1', '40 32', '50 31 100', '51 33 100', '52 39');
    await errata.runAt(50);
    expect(await sealed()).toBe('45');
    await errata.runAt(120);
    // it stood at 45 when the row with 100 seconds came, and stands there until second 145
    expect(await sealed()).toBe('45');
    await errata.landed('121 32 3');
    await errata.runAt(146);
    expect(await sealed()).toBe('46');
    // the first row of the greatest delay is judged by what had sealed when it came; the window of 30 ended at 40
    expect(
      await errata.rows(
        `select extract(epoch from ingested_at - '2026-01-01Z')::int as at, landing, extract(epoch from watermark - '2026-01-01Z')::int as watermark from gold.total_late_event order by ingested_at`,
      ),
    ).toEqual([
      { at: 50, landing: 'side_output', watermark: 45 },
      { at: 51, landing: 'side_output', watermark: 45 },
      { at: 52, landing: 'side_output', watermark: 47 },
      { at: 121, landing: 'side_output', watermark: 118 },
    ]);
  });

  test('fixed_delay: however the log is cut, versions and landings are the same (R17)', async () => {
    const found = [];
    for (const cuts of [[200], [48, 50, 51, 90, 200], [50, 200]]) {
      const errata = await open('fixed_delay');
      for (const cut of cuts) {
        if (cut === cuts[0])
          await errata.landed(
            '1 1',
            '40 36',
            '47 44',
            '50 44 100',
            '60 45 100',
            '110 46 3',
            '130 47 100',
            '199 48',
          );
        await errata.runAt(cut);
      }
      found.push([
        await errata.rows(
          'select window_start, version, rows_counted from gold.total order by window_start, version',
        ),
        await errata.rows(
          'select ingested_at, landing, watermark from gold.total_late_event order by ingested_at',
        ),
      ]);
    }
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
    expect(found[0]?.[1]).toHaveLength(2);
  });
});

describe('delay by key', () => {
  /** Tumbling windows of 10 seconds from second 0; a delay of 5 seconds unless the table says another. */
  const open = async (
    options: {
      strategy?: string;
      seal?: string;
      bronze?: string;
      policy?: 'auto' | 'grace';
      ddl?: string;
    } = {},
  ) => {
    const orders = await openOrders({
      ddl: `${options.ddl ? table.replace(/create table bronze[^;]*$/, options.ddl) : table}; create schema if not exists gold; create table gold.result (window_start timestamptz, region text, orders bigint, revenue numeric)`,
      window: '{ tumbling: 10 s }',
      watermark: `{ strategy: ${options.strategy ?? 'bounded'}, delay: 5 s, max_future_skew: none, overrides: { table: ops.delays, by: [region], delay: delay, allowed_lateness: lateness } }`,
      lateness: '0',
      seal: options.seal ?? '{ by: errata }',
      policy: options.policy ?? 'auto',
      ...(options.bronze ? { bronze: options.bronze } : {}),
    });
    const at = (second: number | string) => `2026-01-01T00:00:00Z'::timestamptz + interval '${second} s`;
    return {
      ...orders,
      delays: async (...rows: string[]) => {
        await orders.rows('truncate ops.delays');
        for (const row of rows) {
          const [region, delay] = row.split(' ');
          await orders.rows(`insert into ops.delays values ($1, $2::interval)`, [
            region === 'NULL' ? null : region,
            delay,
          ]);
        }
      },
      /** Rows of `region second_of_arrival second_of_event`; the id is all of it. */
      rows_of: async (...rows: string[]) => {
        for (const row of rows) {
          const [region = '', arrival = '', event = '', id = row] = row.split(' ');
          await orders.rows(
            `insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount) values ($1, '${at(event)}', '${at(arrival)}', $2, 1)`,
            [id, region === 'NULL' ? null : region],
          );
        }
      },
      runAt: async (second: number, more: object = {}) => {
        const [row] = await orders.rows<{ bound: string }>(`select ('${at(second)}')::text as bound`);
        return await orders.run({ bound: row?.bound, ...more });
      },
      /** `region second_of_window vN orders`. */
      versions: async () =>
        (
          await orders.rows<{ line: string }>(
            `select concat_ws(' ', coalesce(region, 'NULL'), extract(epoch from window_start - '2026-01-01Z')::int, 'v' || version, orders) as line
             from gold.daily_orders order by window_start, region nulls last, version`,
          )
        ).map(({ line }) => line),
      /** `region second_of_window`, of what `live` shows beside the ledger. */
      openNow: async () =>
        (
          await orders.rows<{ line: string }>(
            `select concat_ws(' ', coalesce(region, 'NULL'), extract(epoch from window_start - '2026-01-01Z')::int) as line
             from errata.daily_orders_open_windows() order by window_start, region nulls last`,
          )
        ).map(({ line }) => line),
    };
  };
  const three = ['EU 1 1', 'US 1 1', 'NULL 1 1', 'XX 1 1'];

  test.each(['bounded', 'fixed_delay'])(
    '%s: each keyed window is sealed by the watermark of its key',
    async (strategy) => {
      const errata = await open({ strategy });
      await errata.delays('US 20s', 'NULL 0s', 'none 100s');
      await errata.rows_of(...three);
      const tick = async (second: number) => {
        await errata.rows_of(`tick ${second} ${second}`);
        await errata.runAt(second + 0.5);
        return (await errata.versions()).filter((line) => !line.startsWith('tick'));
      };
      // the rows of second 10 let the watermark reach 10, less each delay
      expect(await tick(10)).toEqual(['NULL 0 v1 1']);
      expect((await errata.openNow()).filter((line) => line.endsWith(' 0'))).toEqual([
        'EU 0',
        'US 0',
        'XX 0',
      ]);
      expect(await tick(15)).toEqual(['EU 0 v1 1', 'XX 0 v1 1', 'NULL 0 v1 1']);
      // US has time until second 30; then a row of that window is late, as one of EU is now
      await errata.rows_of('US 16 2', 'EU 16 2');
      expect(await tick(29)).toEqual(['EU 0 v1 1', 'EU 0 v2 2', 'XX 0 v1 1', 'NULL 0 v1 1']);
      expect((await errata.openNow()).filter((line) => line.endsWith(' 0'))).toEqual(['US 0']);
      expect(await tick(30)).toEqual(['EU 0 v1 1', 'EU 0 v2 2', 'US 0 v1 2', 'XX 0 v1 1', 'NULL 0 v1 1']);
      await errata.rows_of('US 31 3');
      await tick(32);
      expect(await errata.lateEvents()).toEqual([
        "EU 16 2 'EU' side_output included v2 refused",
        "US 31 3 'US' side_output included v2 refused",
      ]);
      expect(
        await errata.rows(
          `select region, extract(epoch from watermark - '2026-01-01Z')::int as watermark from gold.daily_orders_late_event order by ingested_at`,
        ),
      ).toEqual([
        { region: 'EU', watermark: strategy === 'bounded' ? 10 : 11 },
        { region: 'US', watermark: strategy === 'bounded' ? 10 : 11 },
      ]);
    },
  );

  test('no keyed window is sealed twice or left out when delays come, change and go', async () => {
    const errata = await open();
    const steps: [number, string[]][] = [
      [20, []],
      [40, ['US 30s', 'EU 0s']],
      [60, ['US 50s', 'EU 0s']],
      [80, ['US 2s', 'EU 40s', 'XX 10s']],
      [100, ['EU 0s']],
      [103, []],
      [120, []],
      [140, ['NULL 30s']],
      [160, []],
    ];
    let from = 0;
    for (const [to, delays] of steps) {
      await errata.delays(...delays);
      for (let second = from + 1; second <= to; second++)
        await errata.rows_of(...['EU', 'US', 'NULL', 'XX'].map((region) => `${region} ${second} ${second}`));
      from = to;
      await errata.runAt(to + 0.5);
      // what live shows as open and what is published are all there is, once
      const lines = [
        ...(await errata.versions()).map((line) => line.split(' v')[0]),
        ...(await errata.openNow()),
      ];
      expect(new Set(lines).size).toBe(lines.length);
      expect(lines.length).toBe((Math.floor(to / 10) + 1) * 4);
    }
    await errata.rows_of('EU 300 300');
    await errata.runAt(301);
    const versions = await errata.versions();
    expect(versions.filter((line) => !line.includes(' v1 '))).toEqual([]);
    expect(versions.filter((line) => Number(line.split(' ')[1]) < 160)).toHaveLength(16 * 4);
    const counts = versions.map((line) => line.split(' ')).filter(([, window]) => Number(window) < 160);
    expect(counts.filter(([, window, , rows]) => rows !== (window === '0' ? '9' : '10'))).toEqual([]);
    // and what has caught up is no longer remembered
    expect(await errata.rows('select * from errata.daily_orders_override')).toEqual([]);
  });

  test('one id under two keys: the first ingested counts, whichever of the two is sealed first (R5)', async () => {
    const errata = await open();
    await errata.delays('US 20s');
    await errata.rows_of(
      'US 2 2 first-US',
      'EU 3 3 first-US',
      'EU 4 4 first-EU',
      'US 5 5 first-EU',
      'EU 6 6 plain',
      'US 6 6',
      'EU 8 8 behind',
      'US 8 8 twice',
      'US 9 9 twice',
    );
    await errata.rows_of('EU 16 16');
    await errata.runAt(17);
    expect((await errata.versions()).filter((line) => line.includes(' 0 '))).toEqual(['EU 0 v1 3']);
    // nothing is decided of ids that only an open keyed window has
    expect(await errata.rows('select distinct event_id from errata.daily_orders_copy order by 1')).toEqual([
      { event_id: 'first-EU' },
      { event_id: 'first-US' },
    ]);
    // copies of what EU has sealed come while US is open, one of them with an earlier ingestion; one of what is open there
    // comes to what is sealed; and one of what EU has sealed comes to EU
    await errata.rows_of(
      'US 18 7 first-EU',
      'US 7 7 behind',
      'EU 18 7 first-US',
      'EU 19 6 plain',
      'EU 32 32',
    );
    await errata.runAt(26);
    await errata.runAt(33);
    expect((await errata.versions()).filter((line) => line.includes(' 0 '))).toEqual([
      'EU 0 v1 3',
      'US 0 v1 3',
    ]);
    expect(
      await errata.rows('select event_id from gold.daily_orders_late_event where landing is not null'),
    ).toEqual([]);
    expect(
      await errata.rows(
        'select region, event_id from gold.daily_orders_late_event where is_conflict order by 2, ingested_at',
      ),
    ).toEqual([
      { region: 'US', event_id: 'behind' },
      { region: 'US', event_id: 'first-EU' },
      { region: 'US', event_id: 'first-EU' },
      { region: 'EU', event_id: 'first-US' },
      { region: 'EU', event_id: 'first-US' },
    ]);
  });

  test('the stream seals: a keyed window is judged, and missed, when its key is sealed', async () => {
    const errata = await open({ seal: '{ by: stream }' });
    await errata.delays('US 20s');
    await errata.rows_of('EU 1 1', 'US 1 1', 'XX 1 1', 'EU 11 11', 'US 11 11');
    for (const region of ['EU', 'US'])
      await errata.rows(
        `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-01-01Z', '2026-01-01 00:00:10Z', $1, 7, 7)`,
        [region],
      );
    await errata.rows_of('XX 16 16');
    const plan = await errata.plan({ bound: '2026-01-01T00:00:17Z' });
    expect(plan.changes.map(({ key }) => key.region).sort()).toEqual(['EU', 'XX']);
    await errata.runAt(17);
    expect(await errata.versions()).toEqual(['EU 0 v1 7', 'US 0 v1 7', 'XX 0 v2 1']);
    await errata.rows_of('XX 31 31');
    await errata.runAt(32);
    expect((await errata.versions()).filter((line) => line.startsWith('US'))).toEqual(['US 0 v1 7']);
    expect(await errata.rows('select region, blocked_reason from errata.daily_orders_touched')).toEqual([
      { region: 'EU', blocked_reason: 'version 1 counts 7 events, bronze holds 1 of them so far' },
      { region: 'US', blocked_reason: 'version 1 counts 7 events, bronze holds 1 of them so far' },
    ]);
  });

  test('adopted from a table: a keyed window when its key is sealed', async () => {
    const errata = await open({ seal: '{ from: gold.result }' });
    await errata.delays('US 20s', 'NULL 0s');
    await errata.rows_of(...three, 'XX 15 15');
    await errata.rows(
      `insert into gold.result select '2026-01-01Z', region, 1, 1 from unnest(array['EU', 'US', null]) as r (region)`,
    );
    await errata.runAt(16);
    expect(await errata.versions()).toEqual(['EU 0 v1 1', 'XX 0 v2 1', 'NULL 0 v1 1']);
    await errata.rows_of('XX 30 30');
    await errata.runAt(31);
    expect((await errata.versions()).filter((line) => line.includes(' 0 '))).toEqual([
      'EU 0 v1 1',
      'US 0 v1 1',
      'XX 0 v2 1',
      'NULL 0 v1 1',
    ]);
  });

  test('a baseline, status, explain and latest know how far each key is sealed', async () => {
    const errata = await open();
    await errata.delays('US 20s');
    await errata.rows(`update ops.delays set lateness = '1 hour' where region = 'US'`);
    await errata.rows_of('EU 1 1', 'US 1 1', 'EU 16 16', 'US 16 2', 'EU 16 3');
    await errata.runAt(17, { verb: 'baseline' });
    expect((await errata.versions()).filter((line) => line.includes(' 0 '))).toEqual(['EU 0 v1 2']);
    expect(await errata.openNow()).toEqual(['US 0', 'EU 10']);
    await errata.rows(
      `insert into errata.daily_orders_touched (window_start, window_end, region, cause, since)
       select '2026-01-01Z', '2026-01-01 00:00:10Z', region, 'source_change', '2026-01-01Z' from unnest(array['EU', 'US']) as r (region)`,
    );
    const bindings = bindingsOf(errata.rollup);
    const queued = await execute(errata.control, prepare('report/queue.sql', bindings), {
      sealed_until: '2026-01-01 00:00:11Z',
      complete_from: '2026-01-01Z',
      at: '2026-01-01Z',
    });
    expect(queued.rows.map(({ waits_for: waits, keyed_windows: count }) => `${waits} ${count}`)).toEqual([
      'run 1',
      'seal 1',
    ]);
    const window = { window_start: '2026-01-01Z', window_end: '2026-01-01 00:00:10Z' };
    const reach = (key: Record<string, string | null>) =>
      inTransaction(errata.control, 'read committed', (transaction) =>
        readReach(transaction, errata.rollup, window, key),
      );
    expect(await reach({ region: 'EU' })).toMatchObject({
      sealed_until: '2026-01-01 00:00:11+00',
      is_open: false,
    });
    expect(await reach({ region: 'US' })).toMatchObject({
      sealed_until: '2025-12-31 23:59:56+00',
      is_open: true,
    });
    expect(await reach({ region: null })).toMatchObject({ is_open: false });
    expect(await reach({})).toMatchObject({ is_open: true });
    await errata.rows_of('EU 50 50');
    await errata.runAt(51);
    expect(
      await errata.rows(
        `select region, is_provisional from gold.daily_orders_latest where window_start = '2026-01-01Z' order by 1`,
      ),
    ).toEqual([
      { region: 'EU', is_provisional: false },
      { region: 'US', is_provisional: true },
    ]);
  });

  test('a row that appears after its own key was sealed is a straggler; before, it is not', async () => {
    const errata = await open();
    await errata.delays('NULL 0s', 'US 20s');
    await errata.rows_of(...three, 'EU 16 16');
    await errata.runAt(17);
    await errata.rows_of('NULL 2 2', 'US 2 2', 'NULL 3 12', 'EU 19 19');
    await errata.runAt(20);
    expect(await errata.lateEvents()).toEqual(['NULL 2 2 NULL open included v2 straggler']);
    await errata.rows_of('NULL 4 13', 'EU 22 22');
    await errata.runAt(27);
    await errata.rows_of('NULL 5 14', 'EU 5 14');
    await errata.runAt(28);
    expect((await errata.lateEvents()).map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'NULL 2 2',
      'NULL 5 14',
    ]);
  });

  test('a baseline includes what is late where its key is sealed, though the others are not', async () => {
    const errata = await open();
    await errata.delays('NULL 0s');
    await errata.rows_of('NULL 1 1', 'EU 1 1', 'EU 11 11', 'NULL 12 2');
    await errata.runAt(14, { verb: 'baseline' });
    expect(await errata.versions()).toEqual(['NULL 0 v1 2']);
    expect(await errata.lateEvents()).toEqual(['NULL 12 2 NULL side_output included v1 refused']);
    // sealed, and no lateness: nothing changes it by itself any more
    expect(await errata.rows('select region, is_provisional from gold.daily_orders_latest')).toEqual([
      { region: null, is_provisional: false },
    ]);
  });

  test('another delay of the rollup moves no key that has its own, and none is sealed before its time', async () => {
    for (const strategy of ['bounded', 'fixed_delay']) {
      const errata = await open({ strategy });
      await errata.delays('US 20s');
      await errata.rows_of('US 1 1', 'EU 1 1', 'US 12 12', 'EU 22 22');
      await errata.runAt(23);
      const settings = errata.rollup.settings;
      const raised = {
        ...errata.rollup,
        settings: {
          ...settings,
          watermark: { ...settings.watermark, delay: { microseconds: 60_000_000n, text: '60 s' } },
        },
      };
      await inTransaction(errata.control, 'read committed', (transaction) =>
        applyRollup(transaction, raised),
      );
      const us = async () => (await errata.versions()).filter((line) => line.startsWith('US'));
      await errata.rows_of('US 29 3', 'EU 29 29');
      await runRollup(errata.control, raised, { bound: '2026-01-01T00:00:29.5Z' });
      expect(await us()).toEqual([]);
      await errata.rows_of('EU 30 30');
      await runRollup(errata.control, raised, { bound: '2026-01-01T00:00:30.5Z' });
      // under bounded the watermark stands still until it has made up for the difference, and US with it
      expect(await us()).toEqual(strategy === 'bounded' ? [] : ['US 0 v1 2']);
      await errata.rows_of('EU 90 90');
      await runRollup(errata.control, raised, { bound: '2026-01-01T00:01:31Z' });
      expect((await errata.versions()).sort()).toEqual([
        'EU 0 v1 1',
        'EU 20 v1 2',
        'US 0 v1 2',
        'US 10 v1 1',
      ]);
    }
  });

  test('delays of their own come together with another delay of the rollup: its steps so far were reckoned by the old one', async () => {
    const window = '{ tumbling: 10 m }';
    const orders = await openOrders({
      ddl: table,
      window,
      watermark: '{ strategy: bounded, delay: 5 m, max_future_skew: none }',
      lateness: '0',
    });
    await orders.land(
      'a 10-29 10:12 10-29 10:13 US',
      'b 10-29 10:12 10-29 10:13 EU',
      'c 10-29 10:22 10-29 10:22 EU',
    );
    await orders.run({ bound: '2026-10-29T10:23Z' });
    await orders.rows(`insert into ops.delays values ('US', '1 m')`);
    const now = await openErrata(
      orders.database,
      `
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }
    window: ${window}
    key: [region]
    measures: { orders: count(*), revenue: sum(amount) }
    watermark: { strategy: bounded, delay: 2 h, max_future_skew: none, overrides: { table: ops.delays, by: [region], delay: delay } }
    seal: { by: errata }
    publish: { policy: auto }
`,
    );
    await now.run({ bound: '2026-10-29T10:24Z' });
    // the greatest event time is 10:22, so US stands at 10:21, 4 minutes ahead of the rollup
    expect(await now.rows('select region, errata_shift from errata.daily_orders_override')).toEqual([
      { region: 'US', errata_shift: '00:04:00' },
    ]);
    expect(await orders.ledger()).toEqual(["10-29 'US' v1 1 10.00"]);
  });

  test('the setting stays while a key is sealed otherwise than the rest, and can go after', async () => {
    const errata = await open();
    await errata.delays('US 20s');
    await errata.rows_of('US 1 1', 'EU 1 1', 'EU 22 22');
    await errata.runAt(23);
    const settings = errata.rollup.settings;
    const { overrides: _, ...watermark } = settings.watermark;
    const without = { ...errata.rollup, overrides: undefined, settings: { ...settings, watermark } };
    const migrate = () =>
      inTransaction(errata.control, 'read committed', (transaction) => applyRollup(transaction, without));
    await expect(migrate()).rejects.toMatchObject({
      exitCode: 2,
      detail:
        'keys with a delay of their own are sealed otherwise than the rest: 1, such as {"region": "US"}',
    });
    await errata.delays();
    await errata.runAt(24);
    expect(await errata.versions()).toEqual(['EU 0 v1 1', 'US 0 v1 1']);
    await migrate();
    await errata.rows_of('US 29 3');
    await runRollup(errata.control, without, { bound: '2026-01-01T00:00:30Z' });
    expect(await errata.versions()).toEqual(['EU 0 v1 1', 'US 0 v1 1', 'US 0 v2 2']);
  });

  test('nothing is sealed while rows of a window of any key are gone, and no key is lost by it (R15)', async () => {
    const errata = await open({
      ddl: `create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)) partition by range (ingested_at);
        create table bronze.early partition of bronze.orders for values from ('2026-01-01Z') to ('2026-01-01 00:00:05Z');
        create table bronze.later partition of bronze.orders for values from ('2026-01-01 00:00:05Z') to ('2027-01-01Z')`,
    });
    await errata.delays('US 20s');
    // sealed until second 16: the new delay of EU would be past the end of the next window, had the run not been blocked
    await errata.rows_of('US 1 1', 'EU 1 1', 'EU 6 16', 'EU 6 21');
    await errata.runAt(7);
    await errata.rows('alter table bronze.orders detach partition bronze.early');
    await errata.rows_of('EU 8 26', 'EU 9 36');
    await errata.delays('US 10s', 'EU 0s');
    const report = await errata.runAt(10);
    expect(report.counts).toMatchObject({ sealing_blocked: 1, windows_sealed: 0 });
    await errata.rows(
      `alter table bronze.orders attach partition bronze.early for values from ('2026-01-01Z') to ('2026-01-01 00:00:05Z')`,
    );
    await errata.runAt(11);
    expect(await errata.versions()).toEqual(['EU 0 v1 1', 'US 0 v1 1', 'EU 10 v1 1', 'EU 20 v1 2']);
  });

  test('by a part of the key, by a table that names it otherwise and has another type of text', async () => {
    const orders = await openOrders({
      ddl: `${table}; create table ops.slow (dev varchar(9) primary key, lag interval)`,
      key: '[amount, region]',
      watermark:
        '{ strategy: bounded, delay: 1 hour, overrides: { table: ops.slow, by: { region: dev }, delay: lag } }',
    });
    await orders.rows(`insert into ops.slow values ('US', '1 day')`);
    await orders.land(
      'a 10-29 10:00 10-29 10:01 EU 1',
      'b 10-29 10:00 10-29 10:01 US 1',
      'c 10-29 10:00 10-29 10:01 US 2',
      'd 10-30 23:59 10-30 23:59 ZZ 3',
    );
    await orders.run({ bound: '2026-10-31T00:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 1.00"]);
    await orders.land('e 10-31 00:00 10-31 00:00:01 ZZ 3');
    await orders.run({ bound: '2026-10-31T00:01Z' });
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 1 1.00",
      "10-29 'US' v1 1 1.00",
      "10-29 'US' v1 1 2.00",
    ]);
  });
});

test('errata check tells of a key that stands twice', async () => {
  const { control, rollup, rows } = await openOrders({
    ddl: table,
    watermark: `{ strategy: bounded, delay: 1 hour, ${byRegion} }`,
  });
  await rows(`insert into ops.delays values (null, null, '1 day'), (null, null, '1 day')`);
  const findings = new Findings(rollup.settings);
  await inTransaction(control, 'read committed', (transaction) =>
    checkOverrides(transaction, rollup, findings),
  );
  expect(findings.faults.map(({ place, fact }) => `${place}: ${fact}`)).toEqual([
    'rollups.daily_orders.watermark.overrides.table: in ops.delays {"region": null} stands in it 2 times',
  ]);
});

test.each([
  [
    '{ strategy: bounded, delay: 1 h, overrides: { table: a.b, by: [k], delay: d } }',
    '0',
    ['watermark.overrides.delay'],
  ],
  [
    '{ strategy: fixed_delay, delay: { column: c, default: 1 h } }',
    '{ column: c, default: 0 }',
    ['allowed_lateness', 'watermark.delay'],
  ],
  ['{ strategy: bounded, delay: 1 h, overrides: { table: a.b, by: [source_partition], delay: d } }', '0', []],
])('sessions with %s: what is not carried out is refused', (watermark, lateness, refused) => {
  const yaml = `
rollups:
  r:
    gold: gold.r
    bronze: { table: bronze.o, event_id: id, event_time: t, ingested_at: i, source_partition: p }
    window: { session_gap: 5 minutes }
    key: [k]
    measures: { n: count(*) }
    watermark: ${watermark}
    allowed_lateness: ${lateness}
    seal: { by: errata }
    publish: { policy: auto }
`;
  const [settings] = parseSettings(yaml, 'errata.yaml', {}).rollups;
  expect(notCarriedOut(settings as RollupSettings).map(({ place }) => place)).toEqual(
    refused.map((place) => `rollups.r.${place}`),
  );
});
