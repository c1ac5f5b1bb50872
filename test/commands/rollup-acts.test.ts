/** `errata pause`, `resume`, `rename`, `drop`: what a person does to a rollup as a whole. */
import { expect, test } from 'vitest';
import { openRollup } from '../../src/catalog/open.ts';
import { drop } from '../../src/commands/drop.ts';
import { explain } from '../../src/commands/explain.ts';
import { pause } from '../../src/commands/pause.ts';
import { rename } from '../../src/commands/rename.ts';
import { resume } from '../../src/commands/resume.ts';
import { status } from '../../src/commands/status.ts';
import type { RollupSettings } from '../../src/config/settings.ts';
import { migrateAll } from '../../src/install/install.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { call, settingsOf } from '../report/verb-context.ts';
import { type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';
import { errata, workDirectory } from './command.ts';

const who = { actor: 'ada', reason: 'bronze is being restored' };
const rows = ['a 10-29 10:00 10-29 10:01 EU 5', 'pass 10-30 02:00 10-30 02:01 ZZ 1'];
const bound = '2026-10-30T03:00Z';

const acts = (orders: Orders) =>
  orders.rows(
    'select act, old_name, new_name, actor, reason, db_role from errata.rollup_act order by act_id',
  );

const renamedTo = (orders: Orders, name: string): RollupSettings => ({ ...orders.rollup.settings, name });

async function withLateRow(options: OrdersOptions = {}): Promise<Orders> {
  const orders = await openOrders(options);
  await orders.land(...rows);
  await orders.run({ bound });
  await orders.land('late 10-29 11:00 10-30 04:00 EU 7');
  return orders;
}

test('paused: nothing is run or published, status says who and why, and resuming loses nothing', async () => {
  const orders = await withLateRow();
  expect((await call(pause, orders, ['daily_orders'], who)).text).toMatch(/^daily_orders: paused by ada at /);
  const refused = {
    message: 'rollup "daily_orders" is paused',
    detail: expect.stringMatching(/^paused by ada since .*: bronze is being restored$/),
    exitCode: 2,
  };
  await expect(orders.run({ bound: '2026-10-30T05:00Z' })).rejects.toMatchObject(refused);
  await expect(releaseEvents(orders.control, orders.rollup, { ...who })).rejects.toMatchObject(refused);
  expect((await orders.plan({ bound: '2026-10-30T05:00Z' })).counts.windows_corrected).toBe(1);
  expect(await orders.rows('select count(*) from errata.run')).toEqual([{ count: '1' }]);
  const said = await call(status, orders, [], {});
  expect(said.exitCode).toBe(3);
  expect(said.text).toMatch(/^daily_orders: paused\n {2}! paused by ada since /);
  await expect(call(pause, orders, ['daily_orders'], who)).rejects.toMatchObject({
    message: 'rollup "daily_orders" is paused already',
    exitCode: 2,
  });

  await call(resume, orders, ['daily_orders'], { ...who, reason: 'it is back' });
  await expect(call(resume, orders, ['daily_orders'], who)).rejects.toMatchObject({ exitCode: 2 });
  await orders.run({ bound: '2026-10-30T05:00Z' });
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 5.00", "10-29 'EU' v2 2 12.00 late_firing"]);
  const names = { old_name: 'daily_orders', new_name: 'daily_orders', actor: 'ada', db_role: 'postgres' };
  expect(await acts(orders)).toEqual([
    { act: 'pause', reason: who.reason, ...names },
    { act: 'resume', reason: 'it is back', ...names },
  ]);
  await expect(orders.rows(`update errata.rollup_act set actor = 'bob'`)).rejects.toThrow(
    'update of what was done to a rollup is refused',
  );
  await expect(orders.rows('truncate errata.rollup_act')).rejects.toThrow('refused');
});

test('by the command line: run passes a paused rollup over with exit code 0', async () => {
  const orders = await withLateRow();
  const directory = workDirectory(`rollups:
  daily_orders: { gold: gold.daily_orders, bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 },
    window: { calendar: 1 day, time_zone: UTC }, key: [region], measures: { orders: count(*), revenue: sum(amount) },
    watermark: { strategy: bounded, delay: 1 hour }, allowed_lateness: 24 hours, seal: { by: errata }, publish: { policy: auto } }
`);
  const { url } = orders.database;
  const spoken = ['--actor', 'ada', '--reason', 'a test'];
  expect((await errata(directory, url, 'pause', 'daily_orders', ...spoken)).exitCode).toBe(0);
  const ran = await errata(directory, url, 'run', '--json');
  expect(ran.exitCode).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ rollups: [{ rollup: 'daily_orders', outcome: 'paused' }] });
  expect((await errata(directory, url, 'run')).stdout).toMatch(
    /^daily_orders is paused by ada since .*: a test\n$/,
  );
});

test('without a person and a reason, or with a name that is none, nothing is done', async () => {
  const orders = await openOrders();
  for (const verb of [pause, resume, drop]) {
    await expect(call(verb, orders, ['daily_orders'], {})).rejects.toMatchObject({
      message: `to ${verb.name} a rollup takes a person and a reason`,
      exitCode: 2,
    });
  }
  await expect(call(rename, orders, ['daily_orders', 'Daily'], who)).rejects.toMatchObject({
    message: '"Daily" is no new name for rollup "daily_orders"',
    exitCode: 2,
  });
  expect(await acts(orders)).toEqual([]);
});

test.each<[string, OrdersOptions]>([
  ['calendar', {}],
  ['sessions', { window: '{ session_gap: 30 minutes }' }],
  [
    'a trigger on bronze',
    {
      bronze:
        '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01, track_changes: true }',
    },
  ],
])(
  'renamed: history, queue and gold stay, nothing bears the old name, and a run goes on: %s',
  async (_, options) => {
    const orders = await withLateRow(options);
    const before = await orders.ledger();
    const outcome = await call(rename, orders, ['daily_orders', 'by_day'], who);
    expect(outcome.text).toBe(
      'daily_orders: is called by_day now; write by_day in place of daily_orders in errata.yaml',
    );
    expect(
      await orders.rows(
        `select c.relname from pg_class as c join pg_namespace as n on n.oid = c.relnamespace where n.nspname = 'errata' and c.relname ~ '^daily_orders_' and c.relkind not in ('i', 'S')
       union all select p.proname from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace where n.nspname = 'errata' and (p.proname ~ '^daily_orders' or p.prosrc ~ 'errata"[.]"daily_orders')`,
      ),
    ).toEqual([]);
    const settings = { ...settingsOf(orders), rollups: [renamedTo(orders, 'by_day')] };
    await migrateAll(orders.control, settings);
    const renamed = await openRollup(orders.control, settings, renamedTo(orders, 'by_day'));
    expect(renamed.id).toBe(orders.rollup.id);
    await runRollup(orders.control, renamed, { bound: '2026-10-30T05:00Z' });
    expect((await orders.ledger()).length).toBeGreaterThan(before.length);
    if (options.bronze) {
      await orders.rows(`update bronze.orders set amount = 6 where order_id = 'a'`);
      await runRollup(orders.control, renamed, { bound: '2026-10-30T06:00Z' });
      expect((await orders.ledger()).at(-1)).toBe("10-29 'EU' v3 2 13.00 source_change");
    }
    await expect(
      openRollup(orders.control, settingsOf(orders), orders.rollup.settings),
    ).rejects.toMatchObject({ message: 'rollup "daily_orders" was renamed to "by_day"', exitCode: 2 });
    expect(await acts(orders)).toMatchObject([
      { act: 'rename', old_name: 'daily_orders', new_name: 'by_day' },
    ]);
  },
);

test('dropped: the ledger and its evidence stay and are read, nothing more is taken, and the name is not free', async () => {
  const orders = await openOrders({ seal: '{ by: stream }' });
  const say = (region: string) =>
    orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29 00:00+00', '2026-10-30 00:00+00', '${region}', 1, 5)`,
    );
  await orders.land(...rows, 'late 10-29 11:00 10-30 02:30 EU 7');
  await say('EU');
  await orders.run({ bound });
  const before = await orders.ledger();
  expect(before).toHaveLength(2);
  await call(drop, orders, ['daily_orders'], who);
  expect(await orders.ledger()).toEqual(before);
  expect(await orders.rows('select revenue from gold.daily_orders_latest')).toEqual([{ revenue: '12.00' }]);
  expect(await orders.rows('select event_id from gold.daily_orders_late_event')).toEqual([
    { event_id: 'late' },
  ]);
  expect(await orders.rows(`select to_regclass('gold.daily_orders_live') as live`)).toEqual([{ live: null }]);
  await expect(say('US')).rejects.toThrow('rollup "daily_orders" was dropped');
  await expect(orders.rows('delete from gold.daily_orders')).rejects.toThrow('refused');
  await orders.rows('drop table bronze.orders');
  const told = await call(explain, orders, ['daily_orders', '2026-10-29', 'EU'], {});
  expect(told.text).toContain('Bronze could not be counted anew');
  const refused = { message: 'rollup "daily_orders" was dropped', exitCode: 2 };
  await expect(call(drop, orders, ['daily_orders'], who)).rejects.toMatchObject(refused);
  await expect(call(pause, orders, ['daily_orders'], who)).rejects.toMatchObject(refused);
  await orders.rows(
    `create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2))`,
  );
  await expect(migrateAll(orders.control, settingsOf(orders))).rejects.toMatchObject(refused);
  await expect(openRollup(orders.control, settingsOf(orders), orders.rollup.settings)).rejects.toMatchObject(
    refused,
  );
  expect(await acts(orders)).toMatchObject([{ act: 'drop', actor: 'ada', reason: who.reason }]);
});

test('while a run holds the rollup it is neither dropped nor renamed, and may be paused', async () => {
  const orders = await withLateRow();
  await orders.run({
    bound: '2026-10-30T05:00Z',
    before: async () => {
      await expect(call(drop, orders, ['daily_orders'], who)).rejects.toMatchObject({ exitCode: 4 });
      await expect(call(rename, orders, ['daily_orders', 'by_day'], who)).rejects.toMatchObject({
        exitCode: 4,
      });
      await call(pause, orders, ['daily_orders'], who);
    },
  });
  expect(await orders.ledger()).toHaveLength(2);
  await expect(orders.run()).rejects.toMatchObject({ message: 'rollup "daily_orders" is paused' });
});
