/** What a run may wait for, and who may wait for a run (R19). */
import { expect, test } from 'vitest';
import { parseSettings } from '../../src/config/read-settings.ts';
import { controlOf } from '../../src/db/control.ts';
import { migrateAll } from '../../src/install/install.ts';
import { databaseFailure } from '../../src/output/database-failure.ts';
import { openTestDatabase } from '../support/database.ts';
import { type Orders, openOrders, plainTable } from '../support/orders.ts';

const bound = '2026-10-30T03:00Z';
const rows = ['a 10-29 10:00 10-29 10:01 EU 5', 'pass 10-30 02:00 10-30 02:01 ZZ 1'];

/** The same rollup with other limits. */
const limited = (orders: Orders, limits: string) => {
  const settings = parseSettings(
    `rollups:
  daily_orders: { gold: gold.daily_orders, bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 },
    window: { calendar: 1 day, time_zone: UTC }, key: [region], measures: { orders: count(*), revenue: sum(amount) },
    watermark: { strategy: bounded, delay: 1 hour }, allowed_lateness: 24 hours, seal: { by: errata }, publish: { policy: auto } }
run: ${limits}`,
    'errata.yaml',
    {},
  );
  const { rollup } = orders;
  return { settings, rollup: { ...rollup, settings: { ...rollup.settings, limits: settings.limits } } };
};

const thrown = async (work: Promise<unknown>) =>
  databaseFailure(await work.then(() => undefined).catch((error: unknown) => error), {
    rollup: 'daily_orders',
  });

test('a run that waits too long for a lock ends, says so, and leaves nothing but its error', async () => {
  const orders = await openOrders();
  await orders.land(...rows);
  const { runRollup } = await import('../../src/pipeline/run.ts');
  const other = await orders.database.pool.connect();
  await other.query('begin; lock table bronze.orders');
  const failure = await thrown(
    runRollup(orders.control, limited(orders, '{ lock_timeout: 50 milliseconds }').rollup, { bound }),
  );
  await other.query('rollback');
  other.release();
  expect(failure).toMatchObject({
    message: 'a lock was not to be had in time while rollup "daily_orders" was at work',
    exitCode: 1,
    hint: 'find who holds it with pg_blocking_pids(), or raise lock_timeout in the settings, section run; nothing was written',
  });
  expect(await orders.rows("select outcome, failure ->> 'code' as code from errata.run")).toEqual([
    { outcome: 'failed', code: '55P03' },
  ]);
  expect(await orders.ledger()).toEqual([]);
  await orders.run({ bound });
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 5.00"]);
});

test('a statement that takes too long ends the run', async () => {
  const orders = await openOrders();
  await orders.land(...rows);
  await orders.rows(
    `create function bronze.slow() returns boolean language sql volatile as 'select pg_sleep(5) is null'`,
  );
  await orders.rows('alter table bronze.orders enable row level security');
  const { runRollup } = await import('../../src/pipeline/run.ts');
  const failure = await thrown(
    runRollup(orders.control, limited(orders, '{ statement_timeout: 200 milliseconds }').rollup, {
      bound,
      before: async ({ transaction }) => {
        const { query } = await import('../../src/db/statement.ts');
        await query(transaction, 'select bronze.slow()');
      },
    }),
  );
  expect(failure).toMatchObject({
    message: 'a statement was cancelled while rollup "daily_orders" was at work',
    hint: expect.stringContaining('raise statement_timeout in the settings, section run'),
  });
  expect(await orders.ledger()).toEqual([]);
});

test('migrate gives up too, before the stream has to wait for it', async () => {
  const orders = await openOrders({ seal: '{ by: stream }' });
  const other = await orders.database.pool.connect();
  // the stream is at work on its ledger
  await other.query(
    `begin; insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29 00:00+00', '2026-10-30 00:00+00', 'EU', 1, 1)`,
  );
  const { settings } = limited(orders, '{ lock_timeout: 50 milliseconds }');
  const stream = { ...settings, rollups: [{ ...orders.rollup.settings, limits: settings.limits }] };
  expect(await thrown(migrateAll(orders.control, stream))).toMatchObject({
    message: expect.stringContaining('a lock was not to be had in time'),
    exitCode: 1,
  });
  await other.query('commit');
  other.release();
  await migrateAll(orders.control, stream);
});

test('behind another migrate it waits, whatever lock_timeout says', async () => {
  const { pool } = await openTestDatabase();
  await pool.query(plainTable);
  const orders = await openOrders();
  const { settings } = limited(orders, '{ lock_timeout: 50 milliseconds }');
  const control = controlOf(pool, 'errata');
  const other = await pool.connect();
  await other.query(`begin; select pg_advisory_xact_lock(hashtextextended('errata errata migrate', 0))`);
  const waiting = migrateAll(control, settings);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await other.query('rollback');
  other.release();
  expect((await waiting).rollups).toHaveLength(1);
});

test('while a run is at its end, bronze and the ledger take what is written to them, and no lock of it stands in the way', async () => {
  const orders = await openOrders({ seal: '{ by: stream }', lateness: '0' });
  const say = (revenue: number) =>
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29 00:00+00', '2026-10-30 00:00+00', 'EU', 1, ${revenue})`;
  await orders.land(...rows);
  await orders.rows(say(5));
  await orders.land('late 10-29 11:00 10-30 02:30 EU 7');
  // the run is held where it closes its own row: every lock that it takes is taken by then
  await orders.rows(`create function public.hold() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock(4711); return new; end'`);
  await orders.rows(
    `create trigger hold before update on errata.run for each row when (new.outcome <> 'running') execute function public.hold()`,
  );
  const holder = await orders.database.pool.connect();
  await holder.query('select pg_advisory_lock(4711)');
  const running = orders.run({ bound });
  const held = async () =>
    (await orders.rows(`select 1 from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`))
      .length > 0;
  while (!(await held())) await new Promise((resolve) => setTimeout(resolve, 20));

  const writer = await orders.database.pool.connect();
  await writer.query(`set lock_timeout = '2s'`);
  await writer.query(
    `insert into bronze.orders values ('new', '2026-10-30 03:00+00', '2026-10-30 03:10+00', 'EU', 1)`,
  );
  await writer.query(`update bronze.orders set amount = 6 where order_id = 'a'`);
  await writer.query(`delete from bronze.orders where order_id = 'late'`);
  // another keyed window, another value of one that the run knows, and one that it is correcting
  await writer.query(say(5).replace("'EU'", "'US'"));
  await writer.query(say(9));
  const locks = await orders.rows<{ relation: string; mode: string }>(
    `select distinct n.nspname || '.' || c.relname as relation, l.mode
     from pg_locks as l join pg_class as c on c.oid = l.relation join pg_namespace as n on n.oid = c.relnamespace
     where l.pid = (select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted)
       and n.nspname in ('bronze', 'gold', 'errata') and c.relkind in ('r', 'p')
       and l.mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')`,
  );
  expect(locks).toEqual([]);
  expect(
    await orders.rows(
      `select l.mode from pg_locks as l where l.relation = 'bronze.orders'::regclass and l.pid <> pg_backend_pid()
       and l.pid = (select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted)`,
    ),
  ).toEqual([{ mode: 'AccessShareLock' }]);
  writer.release(true);
  await holder.query('select pg_advisory_unlock(4711)');
  holder.release();
  expect((await running).counts.windows_corrected).toBe(1);
});
