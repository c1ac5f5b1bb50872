import { describe, expect, test } from 'vitest';
import { type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';

const passDay = 'pass 10-30 02:00 10-30 02:01 ZZ 1';
const first = ['a 10-29 10:00 10-29 10:01', 'b 10-29 11:00 10-29 11:01'];
const late = 'late 10-29 12:00 10-30 04:00 EU 7';

describe('sealed by the stream (R8)', () => {
  const stream = (options: OrdersOptions = {}) =>
    openOrders({ seal: '{ by: stream, after: 15 minutes }', ...options });
  const emit = (orders: Orders, count: number, revenue: number, region = 'EU') =>
    orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', $1, $2, $3)`,
      [region, count, revenue.toFixed(2)],
    );

  test('what the stream inserts is version 1; late rows correct it', async () => {
    const orders = await stream();
    await orders.land(...first, passDay);
    await emit(orders, 2, 20);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    await orders.land(late);
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 27.00 late_firing"]);
    expect(
      await orders.rows(
        'select kind, event_count, local_date, run_id from gold.daily_orders where version = 1',
      ),
    ).toEqual([{ kind: 'seal', event_count: '2', local_date: '2026-10-29', run_id: null }]);
  });

  test('an identical retry is absorbed, within a transaction and after it', async () => {
    const orders = await stream();
    await emit(orders, 2, 20);
    await emit(orders, 2, 20);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    expect(await orders.rows('select count(*) from errata.daily_orders_emission')).toEqual([{ count: '0' }]);
  });

  test('ten retries at once are one version', async () => {
    const orders = await stream();
    await Promise.all(Array.from({ length: 10 }, () => emit(orders, 2, 20)));
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
  });

  test('a different later emission becomes a version at the next run, and a retry of it none', async () => {
    const orders = await stream({ policy: 'grace' });
    await orders.land(...first, passDay);
    await emit(orders, 2, 20);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await emit(orders, 3, 26);
    await emit(orders, 3, 26);
    await orders.run({ bound: '2026-10-30T04:00Z' });
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 26.00 stream_emission"]);
    expect(
      await orders.rows(
        'select stream_emission_revenue, corrections_revenue from gold.daily_orders_reconciliation',
      ),
    ).toEqual([{ stream_emission_revenue: '6.00', corrections_revenue: '6.00' }]);
  });

  test('a later emission that bronze confirms includes the late row by name', async () => {
    const orders = await stream();
    await orders.land(...first, passDay);
    await emit(orders, 2, 20);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.land(late);
    await emit(orders, 3, 27);
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 2 20.00",
      "10-29 'EU' v2 3 27.00 late_firing+stream_emission",
    ]);
    expect(await orders.lateEvents()).toEqual(["late 'EU' late_firing included v2 late_firing"]);
  });

  test('a version 1 that counts a refused row includes it', async () => {
    const orders = await stream({ policy: 'grace', lateness: '0' });
    await orders.land(...first, passDay, late);
    await emit(orders, 3, 27);
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 3 27.00"]);
    expect(await orders.lateEvents()).toEqual(["late 'EU' side_output included v1 refused"]);
  });

  test('a version 1 that its own rows contradict is published, flagged, under auto, and proposed under grace', async () => {
    for (const policy of ['auto', 'grace'] as const) {
      const orders = await stream({ policy });
      await orders.land(...first, passDay);
      await emit(orders, 2, 19);
      const { counts } = await orders.run({ bound: '2026-10-30T03:00Z' });
      expect(counts).toMatchObject(
        policy === 'auto' ? { windows_corrected: 1 } : { windows_corrected: 0, windows_proposed: 1 },
      );
      expect(await orders.ledger()).toEqual(
        policy === 'auto'
          ? ["10-29 'EU' v1 2 19.00", "10-29 'EU' v2 2 20.00 seal_mismatch"]
          : ["10-29 'EU' v1 2 19.00"],
      );
      const proposals = await orders.rows('select key, base_version, measures, causes from errata.proposal');
      expect(proposals).toEqual(
        policy === 'auto'
          ? []
          : [
              {
                key: ['EU'],
                base_version: 1,
                measures: { orders: '2', revenue: '20.00' },
                causes: ['seal_mismatch'],
              },
            ],
      );
    }
  });

  test('a version 1 that counts a copy is none that its rows give, though it equals all that bronze holds', async () => {
    const orders = await stream();
    await orders.land(...first, 'a 10-29 10:00 10-29 10:03', passDay);
    await emit(orders, 3, 30);
    const { counts } = await orders.run({ bound: '2026-10-30T03:00Z' });
    // it waits for a third event
    expect(counts).toMatchObject({ windows_touched: 1, windows_corrected: 0, windows_blocked: 1 });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 3 30.00"]);
  });

  test('what shipped right leaves the queue unless something came late to it, and a limited run leaves it in', async () => {
    const orders = await stream({ policy: 'grace', lateness: '0' });
    await orders.land(...first, 'c 10-29 11:00 10-29 11:01 US', passDay, late);
    await emit(orders, 2, 20);
    await emit(orders, 1, 10, 'US');
    const bound = '2026-10-30T05:00Z';
    const planned = await orders.plan({ bound, maxWindows: 1 });
    expect(planned.counts).toMatchObject({ windows_touched: 1, side_output: 1 });
    const { counts } = await orders.run({ bound });
    expect(counts).toMatchObject({ windows_touched: 2, windows_corrected: 0, events_pending: 1 });
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('a bronze that lags behind the stream makes no lower version', async () => {
    const orders = await stream();
    await orders.land(first[0] as string, passDay);
    await emit(orders, 2, 20);
    const { counts } = await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(counts).toMatchObject({ windows_corrected: 0, windows_blocked: 1 });
    await orders.land(first[1] as string);
    await orders.run({ bound: '2026-10-30T04:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('a keyed window that the stream never published starts at version 2; what it says afterwards is a late seal', async () => {
    const orders = await stream();
    await orders.land(...first, passDay);
    await orders.run({ bound: '2026-10-30T02:10Z' });
    expect(await orders.ledger()).toEqual([]);
    await orders.run({ bound: '2026-10-30T02:20Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v2 2 20.00 seal_mismatch"]);
    await emit(orders, 2, 20);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v2 2 20.00 seal_mismatch"]);
    expect(await orders.rows('select kind, orders from errata.daily_orders_emission')).toEqual([
      { kind: 'late_seal', orders: '2' },
    ]);
  });

  test.each([
    [
      'another window',
      `('2026-10-29T01:00Z', '2026-10-30T00:00Z', 'EU', 1, 1, 1)`,
      'the row names a window that this rollup does not have',
    ],
    [
      'another version',
      `('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', 1, 1, 2)`,
      'a stream may only insert version 1',
    ],
  ])('%s is refused', async (_, values, message) => {
    const orders = await stream();
    await expect(
      orders.rows(
        `insert into gold.daily_orders (window_start, window_end, region, orders, revenue, version) values ${values}`,
      ),
    ).rejects.toThrow(message);
  });

  test('what a stream has not committed keeps an instant unsettled', async () => {
    const orders = await stream();
    await orders.land(...first, passDay);
    await emit(orders, 2, 20);
    const client = await orders.database.pool.connect();
    await client.query('begin');
    await client.query(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-28T00:00Z', '2026-10-29T00:00Z', 'EU', 9, 9)`,
    );
    const { stamp } = await orders.run({ bound: '2026-10-30T03:00Z' });
    const known = () =>
      orders.rows('select orders from gold.daily_orders_as_of($1) order by window_start', [stamp]);
    await expect(known()).rejects.toThrow('not settled');
    await client.query('commit');
    client.release();
    await orders.run({ bound: '2026-10-30T04:00Z' });
    expect(await known()).toEqual([{ orders: '9' }, { orders: '2' }]);
  });
});

describe("adopted from the stream's own result table (R8)", () => {
  const adopted = async (policy: 'auto' | 'grace' = 'auto') => {
    const orders = await openOrders({
      policy,
      seal: '{ from: analytics.daily, after: 15 minutes }',
      ddl: `create schema bronze; create schema analytics;
        create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2));
        create table analytics.daily (window_start timestamptz, region text, orders bigint, revenue numeric)`,
    });
    await orders.land(...first, passDay);
    await orders.rows(
      `insert into analytics.daily values ('2026-10-29T00:00Z', 'EU', 2, 20), ('2026-10-30T00:00Z', 'ZZ', 1, 1)`,
    );
    return orders;
  };

  test('only sealed windows are adopted', async () => {
    const orders = await adopted();
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20"]);
  });

  test('a later change of that table becomes a version', async () => {
    const orders = await adopted();
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.rows(`update analytics.daily set orders = 3, revenue = 25 where region = 'EU'`);
    await orders.run({ bound: '2026-10-30T04:00Z' });
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20", "10-29 'EU' v2 3 25 stream_emission"]);
  });

  test('late rows correct what was adopted', async () => {
    const orders = await adopted();
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.land(late);
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20", "10-29 'EU' v2 3 27.00 late_firing"]);
  });
});

describe('a baseline', () => {
  test('seals an existing history as it is known, late rows included in version 1', async () => {
    const orders = await openOrders({ policy: 'grace', lateness: '0' });
    await orders.land(...first, passDay, late);
    const { needsAttention } = await orders.run({
      bound: '2026-10-30T05:00Z',
      verb: 'baseline',
      actor: 'kim',
      reason: 'start',
    });
    expect(needsAttention).toBe(false);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 3 27.00"]);
    expect(await orders.lateEvents()).toEqual(["late 'EU' side_output included v1 refused"]);
    await expect(orders.run({ verb: 'baseline' })).rejects.toMatchObject({ exitCode: 2 });
  });
});

test('a stream that counted nothing where nothing is agrees with its rows; what bronze has not yet is waited for', async () => {
  const orders = await openOrders({ seal: '{ by: stream, after: 15 minutes }' });
  await orders.land(...first, passDay);
  await orders.rows(
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values
       ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'none', 0, 0), ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', 2, 20.00),
       ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'slow', 1, 5.00)`,
  );
  const { counts } = await orders.run({ bound: '2026-10-30T03:00Z' });
  expect(counts).toMatchObject({ windows_corrected: 0, windows_blocked: 1 });
  expect(await orders.ledger()).toEqual([
    "10-29 'EU' v1 2 20.00",
    "10-29 'none' v1 0 0",
    "10-29 'slow' v1 1 5.00",
  ]);
});

describe('a busy stream', () => {
  test('measures of any name; live shows a keyed window once from the stream on; 10,000 keys take a moment', async () => {
    const orders = await openOrders({
      seal: '{ by: stream, after: 15 minutes }',
      measures: '{ n: count(*), orders: count(*), revenue: sum(amount) }',
    });
    await orders.land(...first);
    const insert = (count: number) =>
      orders.rows(
        `insert into gold.daily_orders (window_start, window_end, region, n, orders, revenue)
        values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', $1, $1, 20.00)`,
        [count],
      );
    await insert(2);
    await insert(2);
    await insert(3);
    await insert(3);
    expect(await orders.rows('select count(*) from errata.daily_orders_emission')).toEqual([{ count: '1' }]);
    expect(await orders.rows('select region, is_open from gold.daily_orders_live')).toEqual([
      { region: 'EU', is_open: false },
    ]);
    const from = performance.now();
    await orders.rows(`insert into gold.daily_orders (window_start, window_end, region, n, orders, revenue)
      select '2026-10-28T00:00Z', '2026-10-29T00:00Z', 'k' || k, 1, 1, 1 from generate_series(1, 10000) as k`);
    expect(performance.now() - from).toBeLessThan(10_000);
  });
});
