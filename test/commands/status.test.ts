/** `errata status`, over small histories: every figure is worked out by hand from the rows that are landed. */
import { expect, test } from 'vitest';
import { status } from '../../src/commands/status.ts';
import { concernsOf } from '../../src/report/status/concerns.ts';
import { type RollupStatus, readStatus } from '../../src/report/status/status.ts';
import { statusText } from '../../src/report/status/text.ts';
import { call, settingsOf } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';

const read = (orders: Orders, at?: string): Promise<RollupStatus> =>
  readStatus(orders.control, settingsOf(orders), orders.rollup.settings, at);

const text = async (orders: Orders, at?: string) =>
  statusText(await read(orders, at), orders.rollup.settings);

/** One refused order of 7.50: its window ended 10-30 00:00, the watermark stood at 10-31 11:00. */
async function pendingOrder(): Promise<Orders> {
  const orders = await openOrders({ policy: 'grace' });
  await orders.land(
    '1 10-29 10:00 10-29 10:00',
    '2 10-31 12:00 10-31 12:00',
    '3 10-29 11:00 10-31 13:00 EU 7.50',
  );
  await orders.run({ bound: '2026-10-31T14:00:00Z' });
  return orders;
}

test('before the first run it says so, and nothing needs a person', async () => {
  const orders = await openOrders();
  expect(await read(orders)).toMatchObject({
    last_run: null,
    last_success: null,
    last_error: null,
    frontier: null,
    sealed_until: null,
    complete_from: '2026-01-01 00:00:00+00',
    complete_from_source: 'setting',
    queue: [],
    waiting: [],
  });
  const outcome = await call(status, orders, [], {});
  expect(outcome.exitCode).toBe(0);
  expect(outcome.text).toContain('daily_orders: never run');
  expect(outcome.text).toContain('errata run daily_orders');
  expect(outcome.text).toContain('watermark   nothing is sealed yet');
});

test('a quiet rollup: lags against the clock, and exit code 0', async () => {
  const orders = await openOrders();
  await orders.land('1 10-29 10:00 10-29 10:00', '2 10-31 12:00 10-31 12:00');
  await orders.run({ bound: '2026-10-31T14:00:00Z' });
  const found = await read(orders, '2026-10-31T16:00:00Z');
  expect(found).toMatchObject({
    frontier: '2026-10-31 14:00:00+00',
    frontier_lag_seconds: '7200.000000',
    sealed_until: '2026-10-31 11:00:00+00',
    watermark_lag_seconds: '18000.000000',
    last_run: { run_id: '1', verb: 'run', outcome: 'done', failure: null },
    faults: [],
  });
  const lines = await text(orders, '2026-10-31T16:00:00Z');
  expect(lines).toContain('daily_orders: all is well');
  expect(lines).toContain('frontier    2026-10-31 14:00:00Z, 2 hours behind the clock');
  expect(lines).toContain('watermark   2026-10-31 11:00:00Z, 5 hours behind the clock');
  expect(lines).toContain('bronze      complete from 2026-01-01 00:00:00Z: as bronze.complete_from says');
  expect((await call(status, orders, [], {})).exitCode).toBe(0);
});

test('a pending event: how many, their amounts, the command to run, and exit code 3', async () => {
  const orders = await pendingOrder();
  expect((await read(orders)).waiting).toEqual([
    {
      state: 'pending',
      released: false,
      is_proposed: false,
      events: '1',
      windows: '1',
      first_window_start: '2026-10-29 00:00:00+00',
      measures: { orders: '1', revenue: '7.50' },
    },
  ]);
  const outcome = await call(status, orders, ['daily_orders'], {});
  expect(outcome.exitCode).toBe(3);
  expect(outcome.text).toContain('daily_orders: 1 event pending');
  expect(outcome.text).toContain('pending     1 event, orders 1, revenue 7.50 in 1 window');
  expect(outcome.text).toContain('errata publish daily_orders --all --actor NAME --reason TEXT --dry-run');
  expect(outcome.data).toMatchObject({ rollups: [{ rollup: 'daily_orders', needs: [expect.any(String)] }] });
});

test('a window that starts before bronze is complete is blocked, with its reason', async () => {
  const bronze =
    '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-10-29 }';
  const orders = await openOrders({ bronze });
  await orders.land('1 10-29 10:00 10-29 10:00', '2 10-31 12:00 10-31 12:00', '3 10-27 11:00 10-31 13:00');
  await orders.run({ bound: '2026-10-31T14:00:00Z' });
  expect((await read(orders, '2026-10-31T15:00:00Z')).queue).toMatchObject([
    {
      waits_for: 'blocked',
      keyed_windows: '1',
      first_window_start: '2026-10-27 00:00:00+00',
      since: '2026-10-31 14:00:00+00',
      age_seconds: '3600.000000',
      reason: 'bronze is complete from 2026-10-29 00:00:00+00 on, and the window starts earlier',
    },
  ]);
  const outcome = await call(status, orders, [], {});
  expect(outcome.exitCode).toBe(3);
  expect(outcome.text).toContain('daily_orders: 1 blocked');
});

test('windows left over by a limited run stay queued, with the age of the oldest', async () => {
  const orders = await openOrders();
  await orders.land(
    '1 10-28 10:00 10-28 10:00',
    '2 10-29 10:00 10-29 10:00',
    '3 10-31 12:00 10-31 12:00',
    '4 10-28 11:00 10-31 13:00',
    '5 10-29 11:00 10-31 13:00',
  );
  await orders.run({ bound: '2026-10-31T14:00:00Z', maxWindows: 1 });
  expect((await read(orders, '2026-10-31T14:30:00Z')).queue).toMatchObject([
    { waits_for: 'run', reason: null, keyed_windows: '1', age_seconds: '1800.000000' },
  ]);
  expect(await text(orders, '2026-10-31T14:30:00Z')).toContain(
    'queue       1 keyed window for the next run, the oldest for 30 minutes',
  );
});

test('a run that failed comes first, with its message: exit code 1, also when bronze is gone', async () => {
  const orders = await pendingOrder();
  await orders.rows('alter table bronze.orders rename to moved');
  await expect(orders.run()).rejects.toThrow();
  const found = await read(orders);
  expect(found.last_run).toMatchObject({ outcome: 'failed', failure: { code: '42P01' } });
  expect(found.last_success).toMatchObject({ run_id: '1', outcome: 'attention' });
  expect(found.faults).toEqual([
    'rollups.daily_orders.bronze.table: there is no table or view bronze.orders',
  ]);
  const outcome = await call(status, orders, [], {});
  expect(outcome.exitCode).toBe(1);
  expect(outcome.text).toContain('daily_orders: the last run failed, bronze does not fit, 1 event pending');
  expect(outcome.text).toContain('relation "bronze.orders" does not exist (42P01)');

  await orders.rows('alter table bronze.moved rename to orders');
  await orders.run();
  const healed = await call(status, orders, [], {});
  expect(healed.exitCode).toBe(3);
  expect(healed.text).toMatch(/last error .*relation "bronze.orders" does not exist/);
});

test('settings that changed since they were migrated: no run begins, and status says so', async () => {
  const orders = await openOrders();
  await orders.run();
  const wider = { ...orders.rollup.settings, allowedLateness: { microseconds: 0n, text: '0' } };
  const changed = { ...orders, rollup: { ...orders.rollup, settings: wider } };
  const outcome = await call(status, changed, [], {});
  expect(outcome.exitCode).toBe(3);
  expect(outcome.text).toContain('the settings have changed since they were migrated, so no run begins');
  expect(outcome.text).toContain('errata migrate');
});

test('an ingestion partition that is gone is named', async () => {
  const orders = await openOrders({
    ddl: `create schema bronze;
      create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)) partition by range (ingested_at);
      create table bronze.early partition of bronze.orders for values from ('2026-10-29 00:00+00') to ('2026-10-30 00:00+00');
      create table bronze.late partition of bronze.orders for values from ('2026-10-30 00:00+00') to ('2026-11-10 00:00+00')`,
  });
  await orders.land('1 10-29 10:00 10-29 10:00', '2 10-31 12:00 10-31 12:00');
  await orders.run({ bound: '2026-10-31T14:00:00Z' });
  await orders.rows('drop table bronze.early');
  await orders.run({ bound: '2026-10-31T15:00:00Z' });
  expect((await read(orders)).gone).toEqual(['bronze.early']);
  expect(await text(orders)).toContain('gone        bronze.early: read once, and not there any more');
});

test('late seals of the stream are counted', async () => {
  const orders = await openOrders({ seal: '{ by: stream }' });
  await orders.land('1 10-29 10:00 10-29 10:00', '2 10-31 12:00 10-31 12:00');
  await orders.run({ bound: '2026-10-31T14:00:00Z' });
  await orders.rows(
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29 00:00+00', '2026-10-30 00:00+00', 'EU', 1, 10)`,
  );
  expect((await read(orders)).late_seals).toBe('1');
  expect(concernsOf(await read(orders), orders.rollup.settings)).toMatchObject([
    { word: '1 late seal', exitCode: 3 },
  ]);
});

test('a rollup that is not migrated does not hide the others', async () => {
  const orders = await openOrders();
  const missing = { ...orders.rollup.settings, name: 'other' };
  const both = { ...orders, rollup: orders.rollup };
  const settings = { ...settingsOf(orders), rollups: [missing, orders.rollup.settings] };
  const context = {
    environment: {},
    settings: () => settings,
    open: async () => ({ control: both.control }),
  };
  const outcome = await status.execute(context as never, [], {});
  expect(outcome.exitCode).toBe(2);
  expect(outcome.text).toContain('other: rollup "other" is not in the database yet');
  expect(outcome.text).toContain('daily_orders: never run');
});
