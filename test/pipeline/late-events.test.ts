/** An event with a state is known by its id, also when its bronze row reads otherwise now (R6, R14): figures worked out by hand. */
import { describe, expect, test } from 'vitest';
import { releaseEvents } from '../../src/publication/release.ts';
import { openErrata } from '../support/errata.ts';
import { dailyPartitions, type Orders, openOrders } from '../support/orders.ts';

const word = { actor: 'kim', reason: 'counted after all' };
const events = [
  'a 10-29 10:00 10-29 10:01',
  'p 10-30 02:00 10-30 02:01 ZZ 1',
  'late 10-29 12:00 10-30 04:00 EU 7',
];

/** The 29th is sealed with 10.00; `late` came too late. */
async function refused(policy: 'auto' | 'grace', ...more: string[]): Promise<Orders> {
  const orders = await openOrders({ lateness: '0', policy });
  await orders.land(...events, ...more);
  await orders.run({ bound: '2026-10-30T05:00Z' });
  return orders;
}

/** Every row has a new transaction number. */
const rewrite = (orders: Orders) =>
  orders.rows(
    'create table bronze.copy as table bronze.orders; truncate bronze.orders; insert into bronze.orders table bronze.copy',
  );

const sums = (orders: Orders) =>
  orders.rows(
    `select latest_revenue, pending_revenue, restated_revenue, pending_events
     from gold.daily_orders_reconciliation where region = 'EU'`,
  );

describe('a bronze row is updated, and nobody says so', () => {
  test('a pending event keeps its one state, with the new share, and is published with it', async () => {
    const orders = await refused('grace');
    await orders.rows(`update bronze.orders set amount = 9 where order_id = 'late'`);
    await orders.run({ bound: '2026-10-30T06:00Z' });
    expect(await orders.lateEvents()).toEqual(["late 'EU' side_output pending refused"]);
    expect(await sums(orders)).toEqual([
      { latest_revenue: '10.00', pending_revenue: '9.00', restated_revenue: '19.00', pending_events: '1' },
    ]);
    const published = await releaseEvents(orders.control, orders.rollup, word, {
      bound: '2026-10-30T07:00Z',
    });
    expect(published).toMatchObject({ released: 1, needsAttention: false });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00", "10-29 'EU' v2 2 19.00 refused"]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('an included event is not counted again: its new value is a source change', async () => {
    const orders = await refused('auto');
    await orders.rows(`update bronze.orders set amount = 9 where order_id = 'late'`);
    expect(await orders.run({ bound: '2026-10-30T06:00Z' })).toMatchObject({ needsAttention: false });
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 1 10.00",
      "10-29 'EU' v2 2 17.00 refused",
      "10-29 'EU' v3 2 19.00 source_change",
    ]);
    expect(await orders.lateEvents()).toEqual(["late 'EU' side_output included v2 refused"]);
    expect((await orders.run({ bound: '2026-10-30T07:00Z' })).counts.windows_touched).toBe(0);
  });
});

describe('state rows of before are known', () => {
  test.each(['auto', 'grace'] as const)('when a column has another type: %s', async (policy) => {
    const orders = await refused(
      policy,
      'late 10-29 12:00 10-30 04:01 EU 8',
      'a 10-29 10:00 10-29 10:02 EU 11',
    );
    const before = [await orders.ledger(), await orders.lateEvents()];
    const reconciled = await sums(orders);
    await orders.rows('alter table bronze.orders alter column amount type numeric(14,4)');
    expect((await orders.run({ bound: '2026-10-30T06:00Z' })).counts.rows_examined).toBe(5);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
    expect([await orders.ledger(), await orders.lateEvents()]).toEqual(before);
    expect(await sums(orders)).toEqual(
      policy === 'grace'
        ? [{ ...(reconciled[0] as object), pending_revenue: '7.0000', restated_revenue: '17.0000' }]
        : reconciled,
    );
    if (policy === 'grace') {
      await releaseEvents(orders.control, orders.rollup, word, { bound: '2026-10-30T07:00Z' });
      expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00", "10-29 'EU' v2 2 17.0000 refused"]);
    }
  });

  test('when a measure over a further column is added and bronze is read anew: what is pending has a share in it', async () => {
    const orders = await refused('grace');
    await orders.rows('alter table bronze.orders add column tip numeric not null default 2');
    const more = await openErrata(
      orders.database,
      `
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }
    window: { calendar: 1 day, time_zone: UTC }
    key: [region]
    measures: { orders: count(*), revenue: sum(amount), tips: sum(tip) }
    watermark: { strategy: bounded, delay: 1 hour }
    allowed_lateness: '0'
    seal: { by: errata }
    publish: { policy: grace }
`,
    );
    await rewrite(orders);
    await more.run({ bound: '2026-10-30T06:00Z' });
    expect(await orders.lateEvents()).toEqual(["late 'EU' side_output pending refused"]);
    expect(await more.rows('select tips from gold.daily_orders_late_event')).toEqual([{ tips: '2' }]);
  });
});

describe('sessions', () => {
  const session = async (policy: 'auto' | 'grace') => {
    const orders = await openOrders({ lateness: '0', policy, window: '{ session_gap: 30 minutes }' });
    await orders.land(
      'a 10-29 10:00 10-29 10:01',
      'c 10-29 15:00 10-29 15:01 EU 3',
      'c 10-29 15:01 10-29 15:02 EU 4',
      'p 10-30 02:00 10-30 02:01 EU 1',
      'late 10-29 10:10 10-30 04:00 EU 7',
    );
    await orders.run({ bound: '2026-10-30T05:00Z' });
    return orders;
  };
  const shipped = ["10-29 'EU' v1 1 10.00", "10-29 'EU' v2 - - refused", "10-29 'EU' v2 2 17.00 refused"];

  test('a pending row that is updated is no copy of itself: it is published with its new value', async () => {
    const orders = await session('grace');
    await orders.rows(`update bronze.orders set amount = 9 where order_id = 'late'`);
    await orders.run({ bound: '2026-10-30T06:00Z' });
    expect(await orders.lateEvents()).toEqual(["c 'EU' - -", "late 'EU' side_output pending refused"]);
    expect(
      await orders.rows(`select revenue from gold.daily_orders_late_event where state = 'pending'`),
    ).toEqual([{ revenue: '9.00' }]);
    const published = await releaseEvents(orders.control, orders.rollup, word, {
      bound: '2026-10-30T07:00Z',
    });
    expect(published).toMatchObject({ released: 1, needsAttention: false });
    expect(await orders.ledger()).toContain("10-29 'EU' v2 2 19.00 refused");
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('an included row that is updated: its new value is a source change', async () => {
    const orders = await session('auto');
    await orders.rows(`update bronze.orders set amount = 9 where order_id = 'late'`);
    await orders.run({ bound: '2026-10-30T06:00Z' });
    expect(await orders.ledger()).toEqual([
      ...shipped,
      "10-29 'EU' v3 2 19.00 source_change",
      "10-29 'EU' v1 1 3.00",
    ]);
  });

  test('a column has another type: nothing differs, and open sessions go on', async () => {
    const orders = await session('auto');
    const before = [await orders.ledger(), await orders.lateEvents()];
    await orders.rows('alter table bronze.orders alter column amount type numeric(14,4)');
    await orders.run({ bound: '2026-10-30T06:00Z' });
    expect([await orders.ledger(), await orders.lateEvents()]).toEqual(before);
    await orders.land(
      'more 10-30 02:20 10-30 06:01 EU 2',
      'q 10-30 09:00 10-30 09:01 EU 1',
      'later 10-29 10:15 10-30 09:02 EU 5',
    );
    expect(await orders.run({ bound: '2026-10-30T10:00Z' })).toMatchObject({ needsAttention: false });
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 1 10.00",
      "10-29 'EU' v2 - - refused",
      "10-29 'EU' v2 2 17.00 refused",
      "10-29 'EU' v2 3 22.0000 refused",
      "10-29 'EU' v3 - - refused",
      "10-29 'EU' v1 1 3.00",
      "10-30 'EU' v1 2 3.0000",
    ]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('the copy of a row whose ingestion partition is gone changes nothing (R15)', async () => {
    const orders = await openOrders({
      ddl: dailyPartitions,
      lateness: '0',
      policy: 'auto',
      window: '{ session_gap: 30 minutes }',
    });
    await orders.land('a 10-29 10:00 10-29 10:01', 'p 10-30 02:00 10-30 02:01 EU 1');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    await orders.rows('drop table bronze.orders_20261029');
    await orders.land('a 10-29 10:05 10-30 06:00 EU 11');
    expect(await orders.run({ bound: '2026-10-30T07:00Z' })).toMatchObject({ needsAttention: false });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });
});
