import { describe, expect, test } from 'vitest';
import { query } from '../../src/db/statement.ts';
import { dailyPartitions, openOrders, plainTable, settleCounters } from '../support/orders.ts';

/** Moves the watermark (delay 1 hour) past the end of 10-29, at the given ingestion time. */
const pass = (at: string) => `pass${at.replace(/\W/g, '')} 10-30 02:00 ${at} ZZ 1`;

describe('copies (R5)', () => {
  test('an exact copy counts once and is no late event', async () => {
    const orders = await openOrders();
    await orders.land('a 10-29 10:00 10-29 10:01', 'a 10-29 10:00 10-29 10:01', 'b 10-29 11:00 10-29 11:01');
    await orders.land(pass('10-30 02:01'));
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    expect(await orders.lateEvents()).toEqual([]);
  });

  test('a conflicting copy is named with both values; the first ingested counts', async () => {
    const orders = await openOrders();
    await orders.land(
      'e1 10-29 10:00 10-29 10:02 EU 12',
      'e1 10-29 10:00 10-29 10:01 EU 10',
      'e2 10-29 11:00 10-29 11:01 EU 5',
      'e2 10-29 11:00 10-29 11:01 EU 5',
    );
    await orders.land(pass('10-30 02:01'));
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 15.00"]);
    expect(
      await orders.rows(
        'select event_id, landing, is_conflict, conflicts_with from gold.daily_orders_late_event',
      ),
    ).toEqual([
      {
        event_id: 'e1',
        landing: null,
        is_conflict: true,
        conflicts_with: { this: '(EU,12.00,)', counted: '(EU,10.00,)' },
      },
    ]);
  });

  test('a copy that differs in the key counts in neither its own nor the other keyed window again', async () => {
    const orders = await openOrders();
    await orders.land(
      'a 10-29 10:00 10-29 10:01 EU',
      'a 10-29 10:00 10-29 12:01 US',
      'b 10-29 11:00 10-29 11:01 US',
    );
    await orders.land(pass('10-30 02:01'));
    await orders.run({ bound: '2026-10-30T03:00Z' });
    // the later correction of US must not find the copy either
    await orders.land('late 10-29 12:00 10-30 04:00 US 7');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 1 10.00",
      "10-29 'US' v1 1 10.00",
      "10-29 'US' v2 2 17.00 late_firing",
    ]);
    expect(await orders.lateEvents()).toEqual([
      "a 'US' - -",
      "late 'US' late_firing included v2 late_firing",
    ]);
  });

  test('a copy that arrives after the seal is no late event, in the same run or a later one', async () => {
    const orders = await openOrders();
    await orders.land('a 10-29 10:00 10-29 10:01', pass('10-30 02:01'), 'a 10-29 10:00 10-30 03:00');
    await orders.run({ bound: '2026-10-30T04:00Z' });
    await orders.land('a 10-29 10:00 10-30 05:00');
    await orders.run({ bound: '2026-10-30T06:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
    expect(await orders.lateEvents()).toEqual([]);
  });

  test('a refused row and its copy are one event', async () => {
    const orders = await openOrders({ lateness: '0', policy: 'grace' });
    await orders.land('a 10-29 10:00 10-29 10:01', pass('10-30 02:01'));
    await orders.land('late 10-29 12:00 10-30 04:00 EU 7', 'late 10-29 12:00 10-30 05:00 EU 7');
    await orders.run({ bound: '2026-10-30T06:00Z' });
    await orders.land('late 10-29 12:00 10-30 07:00 EU 7');
    await orders.run({ bound: '2026-10-30T08:00Z' });
    expect(await orders.lateEvents()).toEqual(["late 'EU' side_output pending refused"]);
    expect(await orders.rows('select restated_orders from gold.daily_orders_reconciliation')).toEqual([
      { restated_orders: '2' },
    ]);
  });

  test('once counted, a copy examined later never displaces it, though it was ingested earlier', async () => {
    const orders = await openOrders();
    await orders.land('a 10-29 10:00 10-29 12:00 EU 10', pass('10-30 02:01'));
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.land('a 10-29 10:00 10-29 11:00 EU 99', 'late 10-29 13:00 10-30 03:30 EU 1');
    await orders.run({ bound: '2026-10-30T04:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00", "10-29 'EU' v2 2 11.00 late_firing"]);
  });

  test('a copy moves the watermark', async () => {
    const orders = await openOrders();
    await orders.land('a 10-29 10:00 10-29 10:01', 'p 10-30 00:30 10-30 00:31', 'p 10-30 01:00 10-30 01:01');
    await orders.run({ bound: '2026-10-30T02:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
  });

  test('the same id in another window is another event', async () => {
    const orders = await openOrders();
    await orders.land('a 10-28 10:00 10-28 10:01', 'a 10-29 10:00 10-29 10:01', pass('10-30 02:01'));
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(await orders.ledger()).toEqual(["10-28 'EU' v1 1 10.00", "10-29 'EU' v1 1 10.00"]);
  });

  test('rows declared unique are not looked at for copies; rows identified by columns are', async () => {
    const times = 'event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01';
    const unique = await openOrders({ bronze: `{ table: bronze.orders, unique_rows: true, ${times} }` });
    const byColumns = await openOrders({
      bronze: `{ table: bronze.orders, identified_by: [ordered_at, amount], ${times} }`,
    });
    for (const orders of [unique, byColumns]) {
      await orders.land('a 10-29 10:00 10-29 10:01', 'b 10-29 10:00 10-29 10:02', pass('10-30 02:01'));
      await orders.run({ bound: '2026-10-30T03:00Z' });
    }
    expect(await unique.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    expect(await byColumns.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
  });
});

test.each([
  ['few late ids', 25],
  ['many late ids', 4000],
])('%s: each is looked up in the one ingestion partition that it can be in', async (_, late) => {
  const orders = await openOrders({ ddl: dailyPartitions, lateness: '0', policy: 'grace' });
  await orders.rows(
    `insert into bronze.orders
     select 'early' || n, at, at, 'EU', 1 from generate_series(1, 40000) as n
     cross join lateral (select timestamptz '2026-10-25Z' + n * interval '30 seconds' as at) as t`,
  );
  await orders.rows('create index on bronze.orders (order_id)');
  await orders.run({ bound: '2026-11-09T00:00Z' });
  await orders.rows(
    `insert into bronze.orders
     select 'late' || n, timestamptz '2026-10-28Z' + n * interval '1 second', '2026-11-09 01:00Z', 'EU', 1
     from generate_series(1, $1::integer) as n`,
    [late],
  );
  await orders.rows('analyze bronze.orders');
  let looked: { lookups: number } | undefined;
  await orders.run({
    bound: '2026-11-09T02:00Z',
    before: async ({ transaction }) => {
      [looked] = await query(
        transaction,
        `select sum(idx_scan)::integer as lookups from pg_stat_xact_user_tables where relname like 'orders_2%'`,
      );
    },
  });
  // the planner looks too, and so does what asks for the least and the greatest id; in all partitions they were 15 times as many
  expect(looked?.lookups).toBeGreaterThanOrEqual(late);
  expect(looked?.lookups).toBeLessThan(late + 60);
});

test('an event id of several columns may have NULL parts: its copies are copies; without any part a row is its own event', async () => {
  const orders = await openOrders({
    ddl: `create schema bronze; create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2), line integer)`,
    bronze:
      '{ table: bronze.orders, event_id: [order_id, line], event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }',
  });
  await orders.land('a 10-29 10:00 10-29 10:01', pass('10-30 02:01'));
  await orders.rows(
    `insert into bronze.orders select null, ordered_at, ingested_at, 'none', n, null from bronze.orders, generate_series(1, 2) n where order_id = 'a'`,
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land('a 10-29 10:00 10-30 04:00');
  await orders.run({ bound: '2026-10-30T05:00Z' });
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00", "10-29 'none' v1 2 3.00"]);
  expect(await orders.lateEvents()).toEqual([]);
});

describe('the same id in another window', () => {
  for (const [where, ddl, options] of [
    ['a table', plainTable, {}],
    ['ingestion partitions', dailyPartitions, {}],
    ['sessions', plainTable, { window: '{ session_gap: 1 hour }' }],
  ] as const) {
    test(`a late event names it at once where an index on the id answers: ${where}`, async () => {
      const orders = await openOrders({
        ...options,
        ddl: `${ddl}; create index on bronze.orders (order_id)`,
      });
      await orders.land(
        'a 10-28 10:00 10-28 10:01 EU 7',
        'b 10-29 10:00 10-29 10:01',
        'p 10-31 02:00 10-31 02:01 ZZ',
        'q 11-01 03:00 11-01 03:01 ZZ',
        'a 10-29 12:00 11-01 04:00 EU 8',
        'c 10-29 12:00 11-01 04:01',
      );
      await orders.run({ bound: '2026-11-01T05:00Z' });
      expect(
        await orders.rows(
          'select event_id, landing, is_conflict, conflicts_with from gold.daily_orders_late_event order by 1',
        ),
      ).toEqual([
        {
          event_id: 'a',
          landing: 'side_output',
          is_conflict: true,
          conflicts_with: {
            this: '(EU,8.00,)',
            elsewhere: '(EU,7.00,)',
            event_time: '2026-10-28 10:00:00+00',
          },
        },
        { event_id: 'c', landing: 'side_output', is_conflict: false, conflicts_with: null },
      ]);
      // both count, each in its own window
      expect(
        await orders.rows(
          'select sum(revenue)::text as revenue from gold.daily_orders_latest where region = $1',
          ['EU'],
        ),
      ).toEqual([{ revenue: '35.00' }]);
    });
  }

  test('an id is looked up only in the ingestion partitions that it can be in, as they are now', async () => {
    const orders = await openOrders({ ddl: `${dailyPartitions}; create index on bronze.orders (order_id)` });
    const conflicts = async () =>
      (
        await orders.rows<{ event_id: string }>(
          'select event_id from gold.daily_orders_late_event where is_conflict order by 1',
        )
      ).map((row) => row.event_id);
    const spans = async () =>
      (
        await orders.rows<{ span: string }>(
          `select concat_ws(' ', relation, event_id_from, event_id_to) as span from errata.ingestion_partition where event_id_from is not null order by 1`,
        )
      ).map(({ span }) => span);
    await orders.land(
      'a 10-28 10:00 10-28 10:01',
      'b 10-28 11:00 10-28 11:01',
      'p 10-31 02:00 10-31 02:01 ZZ',
      'q 11-01 03:00 11-01 03:01 ZZ',
    );
    await orders.run({ bound: '2026-11-01T05:00Z' });
    expect(await spans()).toEqual([
      'bronze.orders_20261028 a b',
      'bronze.orders_20261031 p p',
      'bronze.orders_20261101 q q',
    ]);
    await orders.land('b 10-29 12:00 11-01 06:00', 'c 10-29 12:00 11-01 06:01');
    await orders.run({ bound: '2026-11-01T07:00Z' });
    expect(await conflicts()).toEqual(['b']);
    // what lands in an old partition is read there, and its ids are others then
    await orders.land('z 10-28 12:00 10-28 12:01', 'z 10-29 13:00 11-01 08:00');
    await settleCounters(orders);
    await orders.run({ bound: '2026-11-01T09:00Z' });
    expect(await conflicts()).toEqual(['b', 'z', 'z']);
    expect((await spans())[0]).toBe('bronze.orders_20261028 a z');
  });

  test('partitions that share a span of time are looked into once', async () => {
    const orders = await openOrders({
      ddl: `create schema bronze;
        create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)) partition by range (ingested_at);
        create table bronze.days partition of bronze.orders for values from ('2026-10-20Z') to ('2026-11-10Z') partition by list (region);
        create table bronze.days_eu partition of bronze.days for values in ('EU');
        create table bronze.days_us partition of bronze.days for values in ('US');
        create table bronze.days_else partition of bronze.days default;
        create index on bronze.orders (order_id)`,
    });
    const ids = Array.from({ length: 20 }, (_, n) => `${n + 10}`);
    await orders.land(
      ...ids.map((id, n) => `${id} 10-28 10:00 10-28 10:01 ${n % 2 ? 'EU' : 'US'}`),
      'p 10-31 02:00 10-31 02:01 ZZ',
      'q 11-01 03:00 11-01 03:01 ZZ',
    );
    await orders.run({ bound: '2026-11-01T05:00Z' });
    await orders.land(
      ...ids.map((id, n) => `${id} 10-29 12:00 11-01 06:00 ${n % 2 ? 'EU' : 'US'}`),
      '15 10-29 12:00 11-01 06:01 EU',
    );
    await orders.run({ bound: '2026-11-01T07:00Z' });
    expect(
      await orders.rows(
        'select count(*)::integer as events, count(*) filter (where is_conflict)::integer as conflicts from gold.daily_orders_late_event',
      ),
    ).toEqual([{ events: 20, conflicts: 20 }]);
    expect(await orders.rows('select event_id, copies from errata.daily_orders_copy order by 1')).toEqual([
      { event_id: '15', copies: '1' },
    ]);
  });

  test('without such an index nothing is asked', async () => {
    const orders = await openOrders({});
    await orders.land(
      'a 10-28 10:00 10-28 10:01',
      'p 10-31 02:00 10-31 02:01 ZZ',
      'q 11-01 03:00 11-01 03:01 ZZ',
      'a 10-29 12:00 11-01 04:00',
    );
    await orders.run({ bound: '2026-11-01T05:00Z' });
    expect(await orders.rows('select is_conflict from gold.daily_orders_late_event')).toEqual([
      { is_conflict: false },
    ]);
  });
});
