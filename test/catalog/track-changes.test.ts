/** The optional trigger on bronze: what it notes, what it lets pass, and that no statement of the user's fails for it. */
import { describe, expect, test } from 'vitest';
import { applyRollup } from '../../src/catalog/apply.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { dailyPartitions, type Orders, openOrders, plainTable } from '../support/orders.ts';

const columns =
  'table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01';
const tracked = `{ ${columns}, track_changes: true }`;
const at = { bound: '2026-10-31T05:00Z' };

async function sealed(options: Parameters<typeof openOrders>[0] = {}): Promise<Orders> {
  const orders = await openOrders({ bronze: tracked, ...options });
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 10',
    'b 10-29 11:00 10-29 11:01 EU 20',
    'c 10-30 01:00 10-30 01:01 EU 1',
    'q 10-31 03:00 10-31 03:01 ZZ 1',
  );
  await orders.run(at);
  return orders;
}

const triggers = (orders: Orders) =>
  orders.rows(
    `select t.tgrelid::regclass::text as relation, (t.tgtype & 16) > 0 as on_update from pg_trigger as t where t.tgname like 'errata_track%' order by 2`,
  );

async function track(orders: Orders, trackChanges: boolean): Promise<void> {
  const { settings } = orders.rollup;
  const rollup = {
    ...orders.rollup,
    settings: { ...settings, bronze: { ...settings.bronze, trackChanges } },
  };
  await inTransaction(orders.control, 'read committed', (transaction) => applyRollup(transaction, rollup));
}

describe.each([
  ['a plain table', plainTable],
  ['a partitioned table', dailyPartitions],
])('on %s', (_, ddl) => {
  test('an amount changed, a row moved, one deleted: each by the next run, both windows in one, no straggler named', async () => {
    const orders = await sealed({ ddl });
    await orders.rows(`update bronze.orders set amount = 25 where order_id = 'b'`);
    await orders.run(at);
    await orders.rows(
      `update bronze.orders set ordered_at = ordered_at - interval '1 day' where order_id = 'c'`,
    );
    await orders.run(at);
    await orders.rows(`delete from bronze.orders where order_id = 'a'`);
    await orders.run(at);
    await orders.run(at);
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-29 'EU' v2 2 35.00 source_change",
      "10-29 'EU' v3 3 36.00 source_change",
      "10-29 'EU' v4 2 26.00 source_change",
      "10-30 'EU' v1 1 1.00",
      "10-30 'EU' v2 - - source_change",
    ]);
    expect(
      await orders.rows(
        'select count(distinct stamp) from gold.daily_orders where version in (2, 3) and stamp > (select min(stamp) from gold.daily_orders where version = 2)',
      ),
    ).toEqual([{ count: '1' }]);
    expect(await orders.lateEvents()).toEqual([]);
    expect(await orders.rows('select from errata.daily_orders_touched')).toEqual([]);
  });

  test('moved to another ingestion time and another key', async () => {
    const orders = await sealed({ ddl, policy: 'grace' });
    await orders.rows(
      `update bronze.orders set region = 'US', ingested_at = '2026-10-30 00:10Z' where order_id = 'b'`,
    );
    const report = await orders.run(at);
    expect(report.counts).toMatchObject({ windows_proposed: 2, windows_corrected: 0 });
    await orders.run(at);
    expect(
      await orders.rows(
        `select key, measures ->> 'revenue' as revenue, event_count, state from errata.proposal order by key`,
      ),
    ).toEqual([
      { key: ['EU'], revenue: '10.00', event_count: '1', state: 'open' },
      { key: ['US'], revenue: '20.00', event_count: '1', state: 'open' },
    ]);
    expect(
      await orders.rows(
        `select region, latest_revenue, pending_revenue, restated_revenue from gold.daily_orders_reconciliation where local_date = '2026-10-29' order by 1`,
      ),
    ).toEqual([
      { region: 'EU', latest_revenue: '30.00', pending_revenue: '-20.00', restated_revenue: '10.00' },
      { region: 'US', latest_revenue: '0', pending_revenue: '20.00', restated_revenue: '20.00' },
    ]);
  });

  test('a window not sealed yet is queued harmlessly', async () => {
    const orders = await sealed({ ddl });
    await orders.rows(`update bronze.orders set amount = 2 where order_id = 'q'`);
    await orders.run(at);
    await orders.land('r 11-01 03:00 11-01 03:01 ZZ 1');
    await orders.run({ bound: '2026-11-01T05:00Z' });
    await orders.run({ bound: '2026-11-01T05:00Z' });
    expect((await orders.ledger()).at(-1)).toBe("10-31 'ZZ' v1 1 2.00");
    expect(await orders.lateEvents()).toEqual([]);
    expect(await orders.rows('select from errata.daily_orders_touched')).toEqual([]);
  });

  test('retention is no corrective delete', async () => {
    const orders = await sealed({ ddl });
    await orders.rows(
      ddl === dailyPartitions
        ? 'alter table bronze.orders detach partition bronze.orders_20261029'
        : 'truncate bronze.orders',
    );
    await orders.run(at);
    expect(await orders.rows('select from errata.daily_orders_touched')).toEqual([]);
    expect((await orders.ledger()).filter((line) => line.includes('v2'))).toEqual([]);
  });
});

test('it comes with the setting, once, and goes with it', async () => {
  const orders = await sealed();
  const both = [
    { relation: 'bronze.orders', on_update: false },
    { relation: 'bronze.orders', on_update: true },
  ];
  expect(await triggers(orders)).toEqual(both);
  await track(orders, true);
  expect(await triggers(orders)).toEqual(both);
  await track(orders, false);
  expect(await triggers(orders)).toEqual([]);
  await track(orders, false);
  await orders.rows(`delete from bronze.orders where order_id = 'a'`);
  await orders.run(at);
  expect(await orders.ledger()).toHaveLength(2);
  await track(orders, true);
  expect(await triggers(orders)).toEqual(both);
});

test('a role without any right on what is ours may change rows, and one writer never waits for another', async () => {
  const orders = await sealed();
  const name = `errata_writer_${orders.database.url.slice(-6)}`;
  await orders.rows(`create role ${name}`);
  try {
    await orders.rows(`grant usage on schema bronze to ${name}`);
    await orders.rows(`grant select, update, delete on bronze.orders to ${name}`);
    const [one, two] = [await orders.database.pool.connect(), await orders.database.pool.connect()];
    try {
      for (const client of [one, two]) {
        await client.query('begin');
        await client.query(`set local role ${name}`);
        await client.query(`set local lock_timeout = '2s'`);
      }
      await one.query(`update bronze.orders set amount = 11 where order_id = 'a'`);
      await two.query(`update bronze.orders set amount = 21 where order_id = 'b'`);
      // a run between them takes neither, and loses neither
      await orders.run(at);
      await one.query('commit');
      await orders.run(at);
      await two.query('commit');
      await orders.run(at);
    } finally {
      one.release();
      two.release();
    }
    expect((await orders.ledger()).slice(0, 3)).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-29 'EU' v2 2 31.00 source_change",
      "10-29 'EU' v3 2 32.00 source_change",
    ]);
  } finally {
    await orders.rows(`drop owned by ${name}`);
    await orders.rows(`drop role ${name}`);
  }
});

test('a statement is carried out though what changed cannot be noted', async () => {
  const orders = await sealed();
  await orders.rows('drop table errata.daily_orders_source_change');
  await orders.rows(`delete from bronze.orders where order_id = 'a'`);
  expect(await orders.rows(`select from bronze.orders where order_id = 'a'`)).toEqual([]);
});

test('a view takes no trigger, and a foreign partition would make updates fail: both are refused', async () => {
  await expect(
    openOrders({
      bronze: tracked.replace('bronze.orders', 'bronze.seen'),
      ddl: `${plainTable}; create view bronze.seen as select * from bronze.orders`,
    }),
  ).rejects.toMatchObject({ exitCode: 2, detail: expect.stringContaining('bronze.track_changes') });
  await expect(
    openOrders({
      bronze: tracked,
      ddl: `${dailyPartitions}; create foreign data wrapper nothing; create server nowhere foreign data wrapper nothing;
        create foreign table bronze.orders_old partition of bronze.orders for values from ('2026-01-01Z') to ('2026-02-01Z') server nowhere`,
    }),
  ).rejects.toMatchObject({ exitCode: 2, detail: expect.stringContaining('orders_old') });
});
