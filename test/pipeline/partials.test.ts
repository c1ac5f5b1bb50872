/** Partials change no result (R20); that two rollups with and without agree stands in test/oracle/partials.test.ts. */
import { describe, expect, test } from 'vitest';
import { applyRollup } from '../../src/catalog/apply.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { releaseQuarantined } from '../../src/publication/quarantine.ts';
import {
  dailyPartitions,
  type Orders,
  type OrdersOptions,
  openOrders,
  settleCounters,
} from '../support/orders.ts';
import { reconciled } from '../support/reconcile.ts';

/** Mondays to Sundays; the week from 2026-10-26 on lies in seven ingestion partitions and more. */
const week = '{ calendar: 1 week, time_zone: UTC }';
const ada = { actor: 'ada', reason: 'as it was' };

async function openWeek(options: OrdersOptions = {}): Promise<Orders> {
  const orders = await openOrders({
    ddl: dailyPartitions,
    window: week,
    watermark: '{ strategy: fixed_delay, delay: 1 hour }',
    lateness: '0',
    partials: true,
    ...options,
  });
  // 30.00 in two partitions
  await land(orders, 'a 10-26 10:00 10-26 10:01 EU 10', 'b 10-27 10:00 10-27 10:01 EU 20');
  return orders;
}

async function land(orders: Orders, ...rows: string[]): Promise<void> {
  await orders.land(...rows);
  await settleCounters(orders);
}

const run = (orders: Orders, at: string) => orders.run({ bound: `2026-${at}Z` });
/** Version 1 of the week, and a run after that of each partition that is closed. */
const sealed = async (options: OrdersOptions = {}) => {
  const orders = await openWeek(options);
  await run(orders, '10-28T12:00');
  await run(orders, '11-03T12:00');
  return orders;
};
const late = (orders: Orders) => land(orders, 'late 10-28 10:00 11-03 13:00 EU 5');
/** Whoever may write to Errata's own tables can falsify them: what is used shows. */
const falsify = (orders: Orders, day: string) =>
  orders.rows(
    `update errata.daily_orders_partial set revenue = revenue + 1000 where relation_id = 'bronze.orders_${day}'::regclass`,
  );
const kept = async (orders: Orders) =>
  (
    await orders.rows<{ line: string }>(
      `select concat_ws(' ', p.relation_id::regclass, p.revenue, p.event_count, p.copies) as line
       from errata.daily_orders_partial as p order by p.relation_id::regclass::text, p.window_start`,
    )
  ).map(({ line }) => line);

test('a window is made from the partials of closed partitions and from the rows of the open one', async () => {
  const orders = await sealed();
  expect(await kept(orders)).toEqual([
    'bronze.orders_20261026 10.00 1 0',
    'bronze.orders_20261027 20.00 1 0',
  ]);
  await late(orders);
  await falsify(orders, '20261026');
  await run(orders, '11-03T14:00');
  expect(await orders.ledger()).toEqual(["10-26 'EU' v1 2 30.00", "10-26 'EU' v2 3 1035.00 refused"]);
});

test('what a straggler changed is kept anew, in the run that finds it', async () => {
  const orders = await sealed();
  await falsify(orders, '20261027');
  await land(orders, 'slow 10-27 09:00 10-27 09:01 EU 3');
  await run(orders, '11-03T14:00');
  expect(await orders.ledger()).toEqual(["10-26 'EU' v1 2 30.00", "10-26 'EU' v2 3 33.00 straggler"]);
  expect(await kept(orders)).toEqual([
    'bronze.orders_20261026 10.00 1 0',
    'bronze.orders_20261027 23.00 2 0',
  ]);
});

test('copies that are found after it was kept: its rows are read, until it is kept anew without them', async () => {
  const orders = await openWeek();
  await land(orders, 'a 10-26 11:00 10-26 11:01 EU 7');
  // before the week is sealed nobody looks for copies in it
  await run(orders, '10-28T12:00');
  expect(await kept(orders)).toEqual([
    'bronze.orders_20261026 17.00 2 0',
    'bronze.orders_20261027 20.00 1 0',
  ]);
  await run(orders, '11-03T12:00');
  await late(orders);
  await run(orders, '11-03T14:00');
  expect(await orders.ledger()).toEqual(["10-26 'EU' v1 2 30.00", "10-26 'EU' v2 3 35.00 refused"]);
  // else more rows than are accounted for would have had every partition read
  expect(await kept(orders)).toContain('bronze.orders_20261026 17.00 2 0');
  await land(orders, 'slow 10-26 09:00 10-26 09:01 EU 3');
  await run(orders, '11-03T15:00');
  expect((await orders.ledger()).at(-1)).toBe("10-26 'EU' v3 4 38.00 straggler");
  expect(await kept(orders)).toEqual([
    'bronze.orders_20261026 13.00 2 1',
    'bronze.orders_20261027 20.00 1 0',
  ]);
});

test('a pending event in a closed partition stays out, and its neighbours in', async () => {
  const orders = await sealed({ policy: 'grace' });
  await land(orders, 'late 10-28 10:00 11-03 13:00 EU 5', 'slow 10-26 09:00 10-26 09:01 EU 3');
  // the partition of 3 November is closed by now
  await run(orders, '11-04T12:00');
  expect(await orders.ledger()).toEqual(["10-26 'EU' v1 2 30.00", "10-26 'EU' v2 3 33.00 straggler"]);
  expect(await kept(orders)).toContain('bronze.orders_20261103 5.00 1 0');
});

test.each([
  ['deleted', `delete from bronze.orders where order_id = 'a'`, 20],
  ['changed', `update bronze.orders set amount = 1 where order_id = 'a'`, 21],
])('a row that is %s: bronze is read, also once the counters say nothing of it', async (_, change, left) => {
  const orders = await sealed();
  await orders.rows(change);
  await amendWindows(
    orders.control,
    orders.rollup,
    { ...ada, eventIds: undefined, windowFrom: '2026-10-26Z' },
    {
      bound: '2026-11-03T13:00Z',
    },
  );
  expect((await orders.ledger()).at(-1)).toContain(` ${left}.00 source_change`);
  // as if what was kept before it were all that the counters tell of
  await settleCounters(orders);
  await run(orders, '11-03T13:10');
  await falsify(orders, '20261026');
  await falsify(orders, '20261027');
  await late(orders);
  await run(orders, '11-03T14:00');
  expect((await orders.ledger()).at(-1)).toContain(` ${left + 5}.00 refused`);
});

test('a row let out of quarantine: bronze is read', async () => {
  const orders = await openWeek();
  await land(orders, 'ahead 10-28 10:00 10-26 12:00 EU 7');
  await run(orders, '10-28T12:00');
  await run(orders, '11-03T12:00');
  await releaseQuarantined(orders.control, orders.rollup, ada, { bound: '2026-11-03T12:30Z' });
  expect((await orders.ledger()).at(-1)).toBe("10-26 'EU' v2 3 37.00 quarantine_release");
  await falsify(orders, '20261026');
  await late(orders);
  await run(orders, '11-03T14:00');
  expect((await orders.ledger()).at(-1)).toBe("10-26 'EU' v3 4 42.00 refused");
});

test('a measure that fails in a closed partition: it is read, and kept once it is mended', async () => {
  const orders = await openWeek({ measures: '{ orders: count(*), revenue: sum(10 / amount) }' });
  await land(orders, 'bad 10-27 11:00 10-27 11:01 US 0');
  await run(orders, '10-28T12:00');
  expect(await kept(orders)).toHaveLength(1);
  await run(orders, '11-03T12:00');
  await late(orders);
  await run(orders, '11-03T14:00');
  expect(await orders.rows('select region, version, orders from gold.daily_orders order by 2')).toEqual([
    { region: 'EU', version: 1, orders: '2' },
    { region: 'EU', version: 2, orders: '3' },
  ]);
  await orders.rows(`update bronze.orders set amount = 10 where order_id = 'bad'`);
  await settleCounters(orders);
  await run(orders, '11-03T15:00');
  expect(await kept(orders)).toHaveLength(3);
  expect(await orders.rows(`select version, orders from gold.daily_orders where region = 'US'`)).toEqual([
    { version: 1, orders: '1' },
  ]);
});

test('a plan keeps nothing, and a partition that is gone nothing either', async () => {
  const orders = await openWeek();
  await orders.plan({ bound: '2026-10-28T12:00Z' });
  expect(await kept(orders)).toEqual([]);
  await run(orders, '10-28T12:00');
  await orders.rows('drop table bronze.orders_20261026');
  await run(orders, '10-28T13:00');
  expect(await kept(orders)).toEqual(['bronze.orders_20261027 20.00 1 0']);
});

test('a default partition that holds rows may hold any: none is used', async () => {
  const orders = await openWeek({
    watermark: '{ strategy: fixed_delay, delay: 1 hour, max_future_skew: none }',
  });
  await orders.rows('create table bronze.orders_other partition of bronze.orders default');
  await run(orders, '10-28T12:00');
  await run(orders, '11-03T12:00');
  expect(await kept(orders)).toHaveLength(2);
  await land(orders, 'x 10-27 10:00 10-01 10:00 EU 1');
  await falsify(orders, '20261026');
  await run(orders, '11-03T13:00');
  expect((await orders.ledger()).at(-1)).toBe("10-26 'EU' v2 3 31.00 straggler");
});

test('reconcile compares them with bronze, and names the keyed window and the partition', async () => {
  const orders = await sealed();
  const named = async () =>
    (await reconciled(orders, { from: '2026-10-26', to: '2026-11-09' })).events.map(
      ({ kind, event_id, detail }) => ({ kind, event_id, detail }),
    );
  expect(await named()).toEqual([]);
  await falsify(orders, '20261027');
  expect(await named()).toEqual([
    {
      kind: 'partial differs',
      event_id: 'bronze.orders_20261027',
      detail: {
        kept: { event_count: '1', orders: '1', revenue: '1020.00' },
        bronze: { event_count: '1', orders: '1', revenue: '20.00' },
      },
    },
  ]);
});

describe('the setting', () => {
  const refused = (options: OrdersOptions) =>
    openOrders({ ddl: dailyPartitions, partials: true, ...options }).then(
      () => undefined,
      (error: { detail: string; exitCode: number }) => error,
    );

  test.each([
    [
      'sessions',
      { window: '{ session_gap: 30 minutes }' },
      'which session a row is in depends on the rows beside it',
    ],
    ['distinct', { measures: '{ buyers: count(distinct order_id) }' }, 'cannot be made from its parts'],
    ['an average', { measures: '{ mean: avg(amount) }' }, 'cannot be made from its parts'],
    ['no partitions', { ddl: undefined as never }, 'bronze.orders has no partitions'],
  ])('is refused over %s', async (_, options, why) => {
    expect(await refused(options)).toMatchObject({ exitCode: 2, detail: expect.stringContaining(why) });
  });

  test('taken away, it takes the tables with it; set again, they are made anew', async () => {
    const orders = await sealed();
    const set = (partials: boolean) =>
      inTransaction(orders.control, 'read committed', (transaction) =>
        applyRollup(transaction, {
          ...orders.rollup,
          settings: { ...orders.rollup.settings, partials },
        }),
      );
    await set(false);
    expect(await orders.rows(`select to_regclass('errata.daily_orders_partial') as found`)).toEqual([
      { found: null },
    ]);
    await set(true);
    await late(orders);
    await run(orders, '11-03T14:00');
    expect((await orders.ledger()).at(-1)).toBe("10-26 'EU' v2 3 35.00 refused");
    expect(await kept(orders)).toHaveLength(2);
  });
});
