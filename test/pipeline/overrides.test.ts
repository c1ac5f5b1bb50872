/** Delays and latenesses that differ by key, by source partition or from row to row (R2, R3, R8). */
import { describe, expect, test } from 'vitest';
import { Findings } from '../../src/check/findings.ts';
import { checkOverrides } from '../../src/check/overrides.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { openOrders, tableWithDelays as table } from '../support/orders.ts';
import { historyOf, openSourcePartitions } from '../support/source-partitions.ts';

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
