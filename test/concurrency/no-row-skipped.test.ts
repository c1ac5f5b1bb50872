/** Rows that become visible in odd ways and at odd times: each is counted once, by some run (R16, B05). */
import { finished } from 'node:stream/promises';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import { describe, expect, test } from 'vitest';
import { openTestDatabase } from '../support/database.ts';
import { dailyPartitions, type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';

const passDay = 'pass 10-30 02:00 10-30 02:01 ZZ 1';
const first = ['a 10-29 10:00 10-29 10:01', 'b 10-29 11:00 10-29 11:01'];
const bound = (hour: number) => ({ bound: `2026-11-01T${String(hour).padStart(2, '0')}:00Z` });
const slow = `insert into bronze.orders values ('slow', '2026-10-29T12:00Z', '2026-10-29T12:01Z', 'EU', 4)`;
const once = ["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 24.00 straggler"];

/** A session of its own: when it ends, its counters are in the catalogue. */
async function inSession(orders: Orders, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: orders.database.url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Two quiet runs, after which past ingestion partitions are passed over. */
async function settled(orders: Orders, hour = 1): Promise<void> {
  await inSession(orders, (client) => client.query('select 1'));
  await orders.run(bound(hour));
  await orders.run(bound(hour + 1));
}

async function sealed(options: OrdersOptions = {}): Promise<Orders> {
  const orders = await openOrders({ ddl: dailyPartitions, ...options });
  await inSession(orders, () => orders.land(...first, passDay));
  await settled(orders);
  expect(await orders.ledger()).toContain(once[0]);
  return orders;
}

const europe = async (orders: Orders) =>
  (await orders.ledger()).filter((line) => line.includes("10-29 'EU'"));

/** A run that has its snapshot and waits; `meanwhile` happens before it reads anything. */
async function whileRunning(orders: Orders, meanwhile: () => Promise<unknown>): Promise<void> {
  const holder = await orders.database.pool.connect();
  await holder.query('begin; select from errata.rollup for update');
  const run = orders.run(bound(3));
  await untilWaiting(orders);
  await meanwhile();
  await holder.query('rollback');
  holder.release();
  await run;
}

async function untilWaiting(orders: Orders): Promise<void> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await orders.rows(waiting)).length).toBe(1);
}

describe('between the snapshot of a run and its scan', () => {
  test('a row commits into a past ingestion partition', async () => {
    const orders = await sealed();
    await whileRunning(orders, () => inSession(orders, (client) => client.query(slow)));
    await orders.run(bound(4));
    await orders.run(bound(5));
    expect(await europe(orders)).toEqual(once);
  });

  test('an ingestion partition with a row that nobody has examined cannot leave', async () => {
    const orders = await sealed();
    await inSession(orders, (client) => client.query(slow));
    const detach = 'alter table bronze.orders detach partition bronze.orders_20261029';
    await whileRunning(orders, () =>
      inSession(orders, async (client) => {
        await client.query(`set lock_timeout = '100ms'`);
        await expect(client.query(detach)).rejects.toThrow('lock timeout');
      }),
    );
    await orders.rows(detach);
    await orders.run(bound(4));
    await orders.rows(`alter table bronze.orders attach partition bronze.orders_20261029 ${day29}`);
    await orders.run(bound(5));
    expect(await europe(orders)).toEqual(once);
  });
});

const day29 = `for values from ('2026-10-29 00:00+00') to ('2026-10-30 00:00+00')`;
const attach29 = `alter table bronze.orders attach partition bronze.orders_20261029 ${day29}`;

describe('transactions', () => {
  test('a prepared one, in a past ingestion partition, over several runs', async () => {
    const orders = await sealed();
    const name = `errata ${orders.database.url.slice(-6)}`;
    await inSession(orders, (client) => client.query(`begin; ${slow}; prepare transaction '${name}'`));
    await orders.run(bound(3));
    await settled(orders, 4);
    expect(await europe(orders)).toEqual(once.slice(0, 1));
    await inSession(orders, (client) => client.query(`commit prepared '${name}'`));
    await settled(orders, 6);
    expect(await europe(orders)).toEqual(once);
  });

  test('COPY that takes longer than several runs, into past and present partitions; nobody waits for it', async () => {
    const orders = await sealed();
    await inSession(orders, async (client) => {
      const stream = client.query(from('copy bronze.orders from stdin'));
      const row = (id: string, day: string) => `${id}\t2026-10-29 12:00+00\t2026-${day} 12:01+00\tEU\t2\n`;
      stream.write(row('c1', '10-29'));
      // more than the server collects before it writes
      for (let n = 0; n < 3000; n++) stream.write(`n${n}\t2026-10-29 12:00+00\t2026-10-30 12:01+00\tUS\t1\n`);
      await orders.run(bound(3));
      stream.write(row('c2', '10-30'));
      await orders.run(bound(4));
      await orders.run(bound(5));
      stream.end(row('c3', '10-31'));
      await finished(stream);
    });
    await settled(orders, 6);
    await settled(orders, 8);
    expect(
      await orders.rows(
        `select region, version, orders, revenue from gold.daily_orders_latest where local_date = '2026-10-29' order by 1`,
      ),
    ).toEqual([
      { region: 'EU', version: 2, orders: '5', revenue: '26.00' },
      { region: 'US', version: 2, orders: '3000', revenue: '3000.00' },
    ]);
  });

  test('a long open one delays visibly: the rows behind it are examined again, and nothing is counted twice', async () => {
    const orders = await sealed();
    await inSession(orders, async (client) => {
      await client.query('begin; select pg_current_xact_id()');
      await orders.land('late 10-29 13:00 10-31 05:00 EU 1');
      const { counts } = await orders.run(bound(3));
      expect(counts).toMatchObject({ rows_examined: 1, windows_corrected: 1 });
      expect((await orders.run(bound(4))).counts).toMatchObject({ rows_examined: 0, windows_corrected: 0 });
      await client.query(`${slow}; commit`);
    });
    await settled(orders, 5);
    expect(await europe(orders)).toEqual([
      once[0],
      "10-29 'EU' v2 3 21.00 late_firing",
      "10-29 'EU' v3 4 25.00 straggler",
    ]);
  });
});

const anySkew = '{ strategy: bounded, delay: 1 hour, max_future_skew: none }';

test('ingested_at as clients write it: far in the past, ahead of the clock, equal for thousands, in microseconds', async () => {
  const orders = await sealed({ watermark: anySkew });
  await orders.rows(`insert into bronze.orders
    select 'equal' || n, '2026-10-29 14:00Z', '2026-10-31 09:00:00.000001Z', 'EU', 1 from generate_series(1, 3000) as n`);
  await orders.rows(
    `create table bronze.orders_old partition of bronze.orders for values from (minvalue) to ('2026-10-25 00:00+00')`,
  );
  await orders.rows(`insert into bronze.orders values
    ('past', '2026-10-29 14:00Z', '1999-01-01 00:00Z', 'EU', 1), ('ahead', '2026-10-29 14:00Z', '2026-11-01 05:00:00.000001Z', 'EU', 1)`);
  await orders.run(bound(3));
  expect((await europe(orders)).at(-1)).toMatch(/^10-29 'EU' v2 3003 3021\.00 /);
  await orders.run(bound(5));
  expect(await europe(orders)).toHaveLength(2);
  await orders.run({ bound: '2026-11-01T05:00:00.000001Z' });
  await settled(orders, 6);
  expect(await europe(orders)).toHaveLength(3);
  expect((await europe(orders)).at(-1)).toMatch(/^10-29 'EU' v3 3004 3022\.00 /);
});

describe('partitions of every kind', () => {
  test('one renamed, with its rows and its schema, is known by what it is', async () => {
    const orders = await sealed();
    await orders.rows('create schema archive');
    await orders.rows(
      'alter table bronze.orders_20261029 rename to anything; alter table bronze.anything set schema archive',
    );
    const report = await orders.run(bound(3));
    expect(report).toMatchObject({ gone: [], counts: { windows_blocked: 0 } });
    await inSession(orders, (client) => client.query(slow));
    await settled(orders, 4);
    expect(await europe(orders)).toEqual(once);
  });

  test('one filled beforehand and attached, its rows older than every run', async () => {
    const orders = await openOrders({ ddl: dailyPartitions });
    await orders.rows('alter table bronze.orders detach partition bronze.orders_20261031');
    await orders.rows(
      slow.replace('bronze.orders ', 'bronze.orders_20261031 ').replace('10-29T12:01Z', '10-31T12:01Z'),
    );
    await inSession(orders, () => orders.land(...first, passDay));
    await settled(orders);
    await orders.rows(
      `alter table bronze.orders attach partition bronze.orders_20261031 for values from ('2026-10-31 00:00+00') to ('2026-11-01 00:00+00')`,
    );
    await settled(orders, 3);
    expect(await europe(orders)).toEqual([once[0], "10-29 'EU' v2 3 24.00 late_firing"]);
  });

  test('one detached, written to while it was away, and attached again', async () => {
    const orders = await sealed();
    await orders.rows('alter table bronze.orders detach partition bronze.orders_20261029');
    await orders.run(bound(3));
    await inSession(orders, (client) =>
      client.query(slow.replace('bronze.orders ', 'bronze.orders_20261029 ')),
    );
    await orders.run(bound(4));
    await orders.rows(attach29);
    await settled(orders, 5);
    expect(await europe(orders)).toEqual(once);
  });

  test('one dropped, and made and filled again from a copy', async () => {
    const orders = await sealed();
    await orders.rows(
      'create table bronze.kept as table bronze.orders_20261029; drop table bronze.orders_20261029',
    );
    await orders.land('late 10-29 09:00 10-31 09:00 EU 5');
    expect(await orders.run(bound(3))).toMatchObject({
      gone: ['bronze.orders_20261029'],
      counts: { windows_blocked: 1 },
    });
    await orders.rows(
      `create table bronze.orders_20261029 partition of bronze.orders ${day29}; insert into bronze.orders table bronze.kept`,
    );
    const report = await orders.run(bound(4));
    expect(report).toMatchObject({ needsAttention: false, gone: [] });
    expect(await europe(orders)).toEqual([once[0], "10-29 'EU' v2 3 25.00 late_firing"]);
  });

  test('one dropped, and made again empty or with a part of its rows, is still gone: nothing is sealed over it', async () => {
    const orders = await openOrders({ ddl: dailyPartitions, window: '{ calendar: 1 week, time_zone: UTC }' });
    await orders.land(
      'a 10-27 10:00 10-29 10:01 EU 50',
      'b 10-28 10:00 10-29 11:01 EU 30',
      'c 10-29 10:00 10-29 12:01 EU 20',
    );
    await orders.run({ bound: '2026-10-30T00:00Z' });
    await orders.rows(
      'create table bronze.kept as table bronze.orders_20261029; drop table bronze.orders_20261029',
    );
    await orders.rows(`create table bronze.orders_20261029 partition of bronze.orders ${day29}`);
    await orders.land('next 11-03 10:00 11-03 10:01 EU 1');
    const run = (hour: number) => orders.run({ bound: `2026-11-04T0${hour}:00Z` });
    const blocked = {
      needsAttention: true,
      gone: ['bronze.orders_20261029'],
      counts: { sealing_blocked: 1 },
    };
    expect(await run(1)).toMatchObject(blocked);
    await inSession(orders, (client) =>
      client.query(`insert into bronze.orders select * from bronze.kept where order_id <> 'b'`),
    );
    expect(await run(2)).toMatchObject(blocked);
    expect(await orders.ledger()).toEqual([]);
    await inSession(orders, (client) =>
      client.query(`insert into bronze.orders select * from bronze.kept where order_id = 'b'`),
    );
    expect(await run(3)).toMatchObject({ needsAttention: false, gone: [], counts: { sealing_blocked: 0 } });
    expect(await orders.ledger()).toEqual(["10-26 'EU' v1 3 100.00"]);
  });

  test('one whose detaching was interrupted, then finished, then undone', async () => {
    const orders = await sealed();
    const detach = 'alter table bronze.orders detach partition bronze.orders_20261029';
    await inSession(orders, async (reader) => {
      await reader.query('begin; select from bronze.orders');
      await inSession(orders, async (client) => {
        await client.query(`set lock_timeout = '100ms'`);
        await expect(client.query(`${detach} concurrently`)).rejects.toThrow('lock timeout');
      });
    });
    await orders.land('late 10-29 09:00 10-31 09:00 EU 5');
    expect(await orders.run(bound(3))).toMatchObject({
      needsAttention: true,
      gone: ['bronze.orders_20261029'],
      counts: { windows_blocked: 1 },
    });
    await orders.rows(`${detach} finalize`);
    expect(await orders.run(bound(4))).toMatchObject({ needsAttention: true });
    await orders.rows(attach29);
    expect(await orders.run(bound(5))).toMatchObject({ needsAttention: false, gone: [] });
    expect(await europe(orders)).toEqual([once[0], "10-29 'EU' v2 3 25.00 late_firing"]);
  });

  test('a default one, and one divided again by key', async () => {
    const orders = await openOrders({
      watermark: anySkew,
      ddl: `create schema bronze;
        create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)) partition by range (ingested_at);
        create table bronze.rest partition of bronze.orders default;
        create table bronze.october partition of bronze.orders for values from ('2026-10-01 00:00+00') to ('2026-10-30 00:00+00') partition by list (region);
        create table bronze.october_eu partition of bronze.october for values in ('EU');
        create table bronze.october_rest partition of bronze.october default`,
    });
    await inSession(orders, () => orders.land(...first, passDay));
    await settled(orders);
    await inSession(orders, (client) =>
      client.query(`${slow}; ${slow.replace('slow', 'us').replace('EU', 'US')}`),
    );
    // from before the first partition: it lands in the default one
    await orders.land('old 10-29 12:00 09-01 00:00 EU 1');
    await settled(orders, 3);
    expect(await orders.ledger()).toEqual([
      once[0],
      "10-29 'EU' v2 4 25.00 straggler",
      "10-29 'US' v2 1 4.00 straggler",
    ]);
    // and what a later partition takes over from it
    await orders.rows(
      `begin;
      create table bronze.november (like bronze.orders);
      with moved as (delete from bronze.rest where ingested_at >= '2026-10-30 00:00+00' returning *) insert into bronze.november table moved;
      alter table bronze.orders attach partition bronze.november for values from ('2026-10-30 00:00+00') to ('2026-12-01 00:00+00');
      commit`.replace('table moved', 'select * from moved'),
    );
    await settled(orders, 5);
    expect(await orders.ledger()).toHaveLength(3);
  });
});

describe('where rows say nothing of their transaction', () => {
  const views = {
    view: `${dailyPartitions}; alter table bronze.orders rename to source; create view bronze.orders as table bronze.source`,
    'foreign table': `${dailyPartitions}; alter table bronze.orders rename to source;
      create extension postgres_fdw; create server itself foreign data wrapper postgres_fdw options (dbname 'DATABASE', host 'HOST', port 'PORT');
      create user mapping for current_user server itself options (user 'USER', password 'PASSWORD');
      create foreign table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2))
        server itself options (schema_name 'bronze', table_name 'source')`,
  };
  test.each(Object.entries(views))(
    '%s: rows ingested after the last bound are found; one behind it is not, and changes nothing',
    async (_, ddl) => {
      const database = await openTestDatabase();
      const { hostname, port, username, password, pathname } = new URL(database.url);
      const orders = await openOrders({
        database,
        ddl: ddl
          .replace('DATABASE', pathname.slice(1))
          .replace('HOST', hostname)
          .replace('PORT', port)
          .replace('USER', username)
          .replace('PASSWORD', password || 'none'),
      });
      await orders.land(...first, passDay);
      await orders.run(bound(1));
      await orders.rows(slow);
      await orders.land('late 10-29 13:00 11-01 01:30 EU 1');
      const report = await orders.run(bound(2));
      expect(report.counts.rows_examined).toBe(1);
      // bronze holds a row more than was examined: the window is not published over it
      expect(await europe(orders)).toEqual([once[0]]);
      expect(report).toMatchObject({ needsAttention: true, counts: { windows_blocked: 1 } });
    },
  );
});
