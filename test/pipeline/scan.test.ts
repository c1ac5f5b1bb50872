import { describe, expect, test } from 'vitest';
import { dailyPartitions, type Orders, openOrders, settleCounters } from '../support/orders.ts';

const passDay = 'pass 10-30 02:00 10-30 02:01 ZZ 1';
const first = ['a 10-29 10:00 10-29 10:01', 'b 10-29 11:00 10-29 11:01'];

describe('no row is skipped (R16)', () => {
  /** Begins a transaction that inserts, runs, commits, runs again: the row must be counted exactly once. */
  async function committedAfterRun(orders: Orders, begin: string[], commit: string): Promise<void> {
    const client = await orders.database.pool.connect();
    try {
      await orders.land(...first, passDay);
      for (const sql of begin) await client.query(sql);
      // others come and go meanwhile: the open transaction is not the latest
      for (let other = 0; other < 3; other++) await orders.rows('select pg_current_xact_id()');
      await orders.run({ bound: '2026-10-30T03:00Z' });
      expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
      await client.query(commit);
    } finally {
      client.release();
    }
    await orders.run({ bound: '2026-10-30T04:00Z' });
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 24.00 straggler"]);
    expect(await orders.lateEvents()).toEqual(["slow 'EU' open included v2 straggler"]);
  }
  const slow = `insert into bronze.orders values ('slow', '2026-10-29T12:00Z', '2026-10-29T12:01Z', 'EU', 4)`;

  test('a transaction that began before the scan and commits after it', async () => {
    await committedAfterRun(await openOrders(), ['begin', slow], 'commit');
  });

  test('the same in a savepoint, whose own transaction number no snapshot lists', async () => {
    await committedAfterRun(
      await openOrders(),
      ['begin', 'select pg_current_xact_id()', 'savepoint s', slow, 'release s'],
      'commit',
    );
  });

  test('the same in an old ingestion partition', async () => {
    await committedAfterRun(await openOrders({ ddl: dailyPartitions }), ['begin', slow], 'commit');
  });

  test('rows beyond the bound wait for their time, and are not counted before', async () => {
    const orders = await openOrders();
    await orders.land(...first, passDay, 'ahead 10-29 13:00 10-30 09:00');
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    await orders.run({ bound: '2026-10-30T08:00Z' });
    expect(await orders.lateEvents()).toEqual([]);
    await orders.run({ bound: '2026-10-30T09:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 30.00 late_firing"]);
  });

  test('a rolled-back transaction leaves nothing and is not waited for', async () => {
    const orders = await openOrders();
    await orders.land(...first, passDay);
    await orders.rows(
      'do $$ begin insert into bronze.orders values (1); raise exception $x$undo$x$; exception when others then null; end $$',
    );
    const { counts } = await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(counts).toMatchObject({ rows_examined: 3, windows_sealed: 1 });
  });
});

test('a run over unchanged bronze appends nothing and moves nothing back (R17)', async () => {
  const orders = await openOrders();
  await orders.land(...first, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  const before = await orders.rows('select frontier, sealed_until from errata.rollup');
  const { counts } = await orders.run({ bound: '2026-10-30T03:00Z' });
  expect(counts).toMatchObject({ rows_examined: 0, windows_sealed: 0, windows_corrected: 0 });
  expect(await orders.rows('select frontier, sealed_until from errata.rollup')).toEqual(before);
});

test('everything read anew changes nothing: no straggler is invented (R16)', async () => {
  const orders = await openOrders();
  await orders.land(...first, passDay, 'late 10-29 12:00 10-30 04:00 EU 7');
  await orders.run({ bound: '2026-10-30T05:00Z' });
  const before = [await orders.ledger(), await orders.lateEvents()];
  // as after a restore: every row has a new transaction number, and the table a new file
  await orders.rows(
    'create table bronze.copy as table bronze.orders; truncate bronze.orders; insert into bronze.orders table bronze.copy',
  );
  const { counts } = await orders.run({ bound: '2026-10-30T06:00Z' });
  expect(counts.rows_examined).toBe(4);
  expect([await orders.ledger(), await orders.lateEvents()]).toEqual(before);
  // and a true straggler among them is still found
  await orders.rows('truncate bronze.orders; insert into bronze.orders table bronze.copy');
  await orders.land('true 10-29 13:00 10-29 23:00 EU 1');
  await orders.run({ bound: '2026-10-30T07:00Z' });
  expect(await orders.ledger()).toEqual([...(before[0] as string[]), "10-29 'EU' v3 4 28.00 straggler"]);
});

test('ingestion partitions that begin after the bound are read by the run that reaches them (R20)', async () => {
  const orders = await openOrders({ ddl: dailyPartitions });
  await orders.land(...first, passDay, 'next 10-31 00:00 10-31 00:00', 'same 10-30 12:00 10-30 23:59');
  const read: string[] = [];
  const onStage = (stage: string, detail?: string) => void (stage === 'scan' && detail && read.push(detail));
  await orders.run({ bound: '2026-10-30T23:59:59.999999Z', onStage });
  expect(read.at(-1)).toBe('bronze.orders_20261030');
  // a row of the bound's own instant is within it, and may be the first of its partition
  const { counts } = await orders.run({ bound: '2026-10-31T00:00Z', onStage });
  expect(counts.rows_examined).toBe(1);
  expect(read.at(-1)).toBe('bronze.orders_20261031');
});

describe('past ingestion partitions', () => {
  test('are not read while nothing is written to them, and are when something is', async () => {
    const orders = await openOrders({ ddl: dailyPartitions });
    await orders.land(...first, passDay, 'now 10-31 01:00 10-31 01:00 EU 1');
    await orders.run({ bound: '2026-10-31T03:00Z' });
    const read: string[] = [];
    const onStage = (stage: string, detail?: string) =>
      void (stage === 'scan' && detail && read.push(detail));
    await settleCounters(orders);
    await orders.run({ bound: '2026-10-31T04:00Z' });
    await orders.run({ bound: '2026-10-31T05:00Z', onStage });
    expect(read).not.toContain('bronze.orders_20261029');
    expect(read).toEqual(['bronze.orders_20261031']);
    await orders.land('old 10-29 12:00 10-29 12:00 EU 5');
    await settleCounters(orders);
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(await orders.ledger()).toContain("10-29 'EU' v2 3 25.00 straggler");
  });

  test('ranges come from the catalogue, not from names (B15)', async () => {
    const orders = await openOrders({
      ddl: `create schema bronze;
        create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)) partition by range (ingested_at);
        create table bronze.p20260301 partition of bronze.orders for values from ('2026-02-28 20:00+00') to ('2026-03-01 20:00+00');
        create table bronze.p20260302 partition of bronze.orders for values from ('2026-03-01 20:00+00') to ('2026-03-02 20:00+00')`,
      window: '{ tumbling: 1 day }',
      measures: '{ orders: count(*), revenue: sum(amount) }',
      watermark: '{ strategy: fixed_delay, delay: 1 hour }',
      lateness: '0',
    });
    for (const [id, ingested, amount] of [
      ['a', '2026-02-28T21:00Z', 1],
      ['b', '2026-03-01T10:00Z', 2],
      ['c', '2026-03-01T21:00Z', 4],
    ]) {
      await orders.rows('insert into bronze.orders values ($1, $2, $3, $4, $5)', [
        id,
        '2026-02-20T12:00Z',
        ingested,
        'EU',
        amount,
      ]);
    }
    const revenue = async () =>
      (
        await orders.rows<{ revenue: string }>('select sum(revenue) as revenue from gold.daily_orders_latest')
      )[0]?.revenue;
    await orders.run({ bound: '2026-03-01T00:00Z' });
    expect(await revenue()).toBe('1.00');
    await orders.run({ bound: '2026-03-02T00:00Z' });
    expect(await revenue()).toBe('7.00');
  });
});

describe('what has gone from bronze (R15)', () => {
  test('a window that had rows in it is not recomputed, says why, and heals when it is back', async () => {
    const orders = await openOrders({ ddl: dailyPartitions });
    await orders.land(
      'e1 10-28 10:00 10-28 10:01 EU 50',
      'e2 10-28 11:00 10-28 11:01 EU 30',
      'e3 10-28 12:00 10-28 12:01 EU 20',
      'p 10-29 02:00 10-29 02:01 ZZ',
    );
    await orders.run({ bound: '2026-10-29T03:00Z' });
    expect(await orders.ledger()).toEqual(["10-28 'EU' v1 3 100.00"]);
    await orders.rows('alter table bronze.orders detach partition bronze.orders_20261028');
    await orders.land('e9 10-28 09:00 10-30 09:00 EU 5');
    const report = await orders.run({ bound: '2026-10-30T10:00Z' });
    expect(report).toMatchObject({
      needsAttention: true,
      gone: ['bronze.orders_20261028'],
      counts: { windows_blocked: 1, windows_corrected: 0 },
    });
    expect(await orders.ledger()).toEqual(["10-28 'EU' v1 3 100.00"]);
    expect(await orders.rows('select blocked_reason from errata.daily_orders_touched')).toEqual([
      {
        blocked_reason:
          '4 events were published or released, bronze holds 1 of them; gone: bronze.orders_20261028',
      },
    ]);
    await orders.rows(
      `alter table bronze.orders attach partition bronze.orders_20261028 for values from ('2026-10-28 00:00+00') to ('2026-10-29 00:00+00')`,
    );
    await orders.run({ bound: '2026-10-30T11:00Z' });
    expect(await orders.ledger()).toEqual(["10-28 'EU' v1 3 100.00", "10-28 'EU' v2 4 105.00 late_firing"]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('windows that start before bronze is complete are neither sealed nor corrected', async () => {
    const orders = await openOrders({
      bronze:
        '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-10-29 }',
    });
    await orders.land('old 10-28 10:00 10-29 00:30', ...first, passDay, 'late 10-28 10:00 10-30 04:00');
    const { counts } = await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    expect(counts.windows_blocked).toBe(1);
  });
});

test('a bronze that was empty at the first migrate is complete from the day of its first ingestion (R15)', async () => {
  const orders = await openOrders({
    bronze: '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at }',
  });
  const known = () => orders.rows('select complete_from, complete_from_source from errata.rollup');
  await orders.run({ bound: '2026-10-28T00:00Z' });
  expect(await known()).toEqual([{ complete_from: '-infinity', complete_from_source: 'empty' }]);
  await orders.land('before 10-28 23:00 10-29 09:00', ...first, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  expect(await known()).toEqual([
    { complete_from: '2026-10-29 00:00:00+00', complete_from_source: 'first_ingestion' },
  ]);
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
});

test('windows that had rows in a partition that is gone are not sealed over what is left (R15)', async () => {
  const orders = await openOrders({ ddl: dailyPartitions, window: '{ calendar: 1 week, time_zone: UTC }' });
  await orders.land('a 10-27 10:00 10-27 10:01 EU 50', 'b 10-29 10:00 10-29 10:01 EU 30');
  await orders.run({ bound: '2026-10-30T00:00Z' });
  await orders.rows('alter table bronze.orders detach partition bronze.orders_20261027');
  await orders.land('c 11-03 10:00 11-03 10:01 EU 1', 'late 10-28 10:00 11-03 11:00 EU 7');
  const report = await orders.run({ bound: '2026-11-04T00:00Z' });
  expect(report).toMatchObject({ needsAttention: true, counts: { windows_sealed: 0, sealing_blocked: 1 } });
  expect(await orders.ledger()).toEqual([]);
  await orders.rows(
    `alter table bronze.orders attach partition bronze.orders_20261027 for values from ('2026-10-27 00:00+00') to ('2026-10-28 00:00+00')`,
  );
  await orders.run({ bound: '2026-11-04T01:00Z' });
  expect(await orders.ledger()).toEqual(["10-26 'EU' v1 2 80.00", "10-26 'EU' v2 3 87.00 refused"]);
});
