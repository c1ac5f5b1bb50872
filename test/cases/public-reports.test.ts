/** Faults of other products, reduced to small inputs, each with its kind: B01, B05, B15, B17 and B21. */
import { describe, expect, test } from 'vitest';
import { errata, workDirectory } from '../commands/command.ts';
import { openOrders, ordersYaml, plainTable, settleCounters } from '../support/orders.ts';

const columns = 'table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at';
const partitioned = `create schema bronze;
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)) partition by range (ingested_at);`;
const monthly = `${partitioned}
  create table bronze.jan partition of bronze.orders for values from ('2026-01-01 00:00+00') to ('2026-02-01 00:00+00');
  create table bronze.mar partition of bronze.orders for values from ('2026-03-01 00:00+00') to ('2026-04-01 00:00+00');`;

test('B01: 64 days late, and years: no age is too great, and only the ingestion partition of the row is read', async () => {
  const orders = await openOrders({
    ddl: monthly,
    bronze: `{ ${columns}, complete_from: 2020-01-01 }`,
    lateness: '0',
  });
  const insert = (id: string, event: string, ingested: string, amount: number) =>
    orders.rows('insert into bronze.orders values ($1, $2, $3, $4, $5)', [id, event, ingested, 'A', amount]);
  await insert('e1', '2026-01-05T08:00Z', '2026-01-05T08:01Z', 100);
  await insert('pass', '2026-01-06T02:00Z', '2026-01-06T02:00Z', 1);
  await orders.run({ bound: '2026-01-06T03:00Z' });
  await orders.run({ bound: '2026-03-01T00:00Z' });
  await settleCounters(orders);
  await orders.run({ bound: '2026-03-01T00:00Z' });
  const versions = () =>
    orders.rows(
      `select version, revenue, event_count, md5(g::text) as bytes from gold.daily_orders as g where window_start < '2026-01-06' order by window_start, version`,
    );
  const [sealed] = await versions();
  await insert('e2', '2026-01-05T09:00Z', '2026-03-10T04:00Z', 25.5);
  await insert('e3', '2020-02-03T09:00Z', '2026-03-10T04:00Z', 7);
  const read: string[] = [];
  await orders.run({
    bound: '2026-03-10T05:00Z',
    onStage: (stage, detail) => void (stage === 'scan' && detail && read.push(detail)),
  });
  expect(read).toEqual(['bronze.mar']);
  expect(await versions()).toMatchObject([
    { version: 2, revenue: '7.00', event_count: '1' },
    sealed,
    { version: 2, revenue: '125.50', event_count: '2' },
  ]);
});

test('B05: a transaction that took a lower time commits later; a gap that was rolled back is not waited for', async () => {
  const orders = await openOrders({
    window: '{ tumbling: 1 hour }',
    watermark: '{ strategy: bounded, delay: 0 }',
  });
  const client = await orders.database.pool.connect();
  await client.query(
    `begin; insert into bronze.orders values ('e1', '2026-10-29 10:00Z', '2026-10-29 10:00:00Z', 'EU', 10)`,
  );
  await orders.rows(
    `insert into bronze.orders values ('e2', '2026-10-29 10:00Z', '2026-10-29 10:00:05Z', 'EU', 20)`,
  );
  await orders.rows(
    `insert into bronze.orders values ('pass', '2026-10-29 11:00Z', '2026-10-29 11:00Z', 'EU', 1)`,
  );
  await orders.run({ bound: '2026-10-29T11:30Z' });
  await client.query('commit; begin');
  await client.query(
    `insert into bronze.orders values ('undone', '2026-10-29 10:00Z', '2026-10-29 10:00:01Z', 'EU', 99)`,
  );
  await orders.run({ bound: '2026-10-29T11:31Z' });
  await client.query('rollback');
  client.release();
  await orders.run({ bound: '2026-10-29T11:32Z' });
  expect(
    await orders.rows(`select version, orders, revenue from gold.daily_orders order by version`),
  ).toEqual([
    { version: 1, orders: '1', revenue: '20.00' },
    { version: 2, orders: '2', revenue: '30.00' },
  ]);
});

test.each(['UTC', 'Asia/Tokyo', 'America/Chicago'])(
  'B15: partitions whose names are not their ranges, session in %s: each row once',
  async (zone) => {
    const orders = await openOrders({
      ddl: `set timezone = '${zone}'; ${partitioned}
      create table bronze.p20260301 partition of bronze.orders for values from ('2026-02-28 20:00+00') to ('2026-03-01 20:00+00');
      create table bronze.p20260302 partition of bronze.orders for values from ('2026-03-01 20:00+00') to ('2026-03-02 20:00+00'); reset timezone`,
      bronze: `{ ${columns}, complete_from: 2026-01-01 }`,
      watermark: '{ strategy: fixed_delay, delay: 1 hour }',
      lateness: '0',
    });
    await orders.rows(
      `do $$ begin execute format('alter database %I set timezone = %L', current_database(), '${zone}'); end $$`,
    );
    await orders.rows(`insert into bronze.orders values ('a', '2026-02-20 12:00Z', '2026-02-28 21:00Z', 'EU', 1),
    ('b', '2026-02-20 12:00Z', '2026-03-01 10:00Z', 'EU', 2), ('c', '2026-02-20 12:00Z', '2026-03-01 21:00Z', 'EU', 4)`);
    const revenues = [];
    // the end of 28 February, of 1 March and of 2 March, in UTC
    for (const bound of ['2026-03-01T00:00Z', '2026-03-02T00:00Z', '2026-03-03T00:00Z']) {
      await orders.run({ bound });
      revenues.push(
        (await orders.rows<{ revenue: string }>('select revenue from gold.daily_orders_latest'))[0]?.revenue,
      );
    }
    expect(revenues).toEqual(['1.00', '7.00', '7.00']);
  },
);

test('B17: amounts and counts beyond 2^53 keep every digit in gold, in the views and in what commands print', async () => {
  const options = {
    ddl: plainTable.replace('numeric(12,2)', 'numeric'),
    measures: '{ orders: count(*), revenue: sum(amount), large: sum(9007199254740993::bigint) }',
    policy: 'auto',
  } as const;
  const orders = await openOrders(options);
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 9007199254740993.01',
    'x 10-29 10:00 10-29 10:01 X 10',
    'pass 10-30 02:00 10-30 02:01 ZZ',
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land('b 10-29 11:00 10-30 03:30 EU 0.02', 'y 10-29 11:00 10-30 03:30 X 5');
  const directory = workDirectory(ordersYaml(options));
  const words = ['--json', '--bound', '2026-10-30T04:00:00Z'];
  const planned = JSON.parse((await errata(directory, orders.database.url, 'plan', ...words)).stdout)
    .rollups[0].changes;
  expect(planned).toMatchObject([
    {
      measures: {
        revenue: ['9007199254740993.01', '9007199254740993.03'],
        large: ['9007199254740993', '18014398509481986'],
      },
      deltas: { revenue: '0.02' },
    },
    { measures: { revenue: ['10', '15'] }, deltas: { revenue: '5', orders: '1' } },
  ]);
  await orders.run({ bound: '2026-10-30T04:00Z' });
  for (const view of [
    'gold.daily_orders_latest',
    'gold.daily_orders_history',
    `gold.daily_orders_as_of((select settled_until from errata.rollup))`,
  ])
    expect(
      await orders.rows(`select revenue, large, orders from ${view} where region = 'EU' and version = 2`),
    ).toEqual([{ revenue: '9007199254740993.03', large: '18014398509481986', orders: '2' }]);
  expect(
    await orders.rows(
      `select latest_revenue, corrections_revenue from gold.daily_orders_reconciliation order by region`,
    ),
  ).toEqual([
    { latest_revenue: '9007199254740993.03', corrections_revenue: '0.02' },
    { latest_revenue: '15', corrections_revenue: '5' },
  ]);
});

describe('B21: sums of floats', () => {
  const open = (type: string, revenue: string) =>
    openOrders({
      ddl: plainTable.replace('numeric(12,2)', type),
      measures: `{ orders: count(*), revenue: ${revenue} }`,
    });
  const fill = `insert into bronze.orders select 'e' || n, '2026-10-29 10:00Z', '2026-10-29 10:01Z', 'g' || n % 7, 1234.56 from generate_series(1, 1000) as n;
    insert into bronze.orders values ('pass', '2026-10-30 02:00Z', '2026-10-30 02:01Z', 'ZZ', 1)`;

  test.each(['real', 'double precision'])(
    '%s is refused, unless it is cast or given a tolerance',
    async (type) => {
      await expect(open(type, 'sum(amount)')).rejects.toMatchObject({
        exitCode: 2,
        detail: expect.stringContaining('adds up floats'),
      });
      const orders = await open(type, 'sum(amount::numeric)');
      await orders.rows(fill);
      await orders.run({ bound: '2026-10-30T03:00Z' });
      expect(await orders.rows('select sum(revenue) as revenue from gold.daily_orders_latest')).toEqual([
        { revenue: '1234560.00' },
      ]);
    },
  );

  test('with a tolerance no difference of the last digits is a version, and a true one of 0.01 is', async () => {
    const orders = await open('double precision', '{ value: sum(amount), tolerance: 0.001 }');
    await orders.rows(fill);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    // the same rows in another order, as after a restore
    await orders.rows(
      'create table bronze.kept as table bronze.orders order by md5(order_id); truncate bronze.orders; insert into bronze.orders table bronze.kept',
    );
    await orders.run({ bound: '2026-10-30T04:00Z' });
    expect(await orders.rows('select max(version) as version from gold.daily_orders')).toEqual([
      { version: 1 },
    ]);
    await orders.rows(`update bronze.orders set amount = amount + 0.01 where order_id = 'e7'`);
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.rows('select region, causes from gold.daily_orders where version = 2')).toEqual([
      { region: 'g0', causes: ['source_change'] },
    ]);
  });
});
