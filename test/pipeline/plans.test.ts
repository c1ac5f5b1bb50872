/** A plan never falls off a cliff: a run takes about as long where statistics are missing, or tell of what was there before (R20). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';

let database: TestDatabase;
const bronze =
  '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at }';
const rollups: Readonly<Record<string, { readonly yaml: string; readonly ships?: true }>> = {
  by_stream: {
    ships: true,
    yaml: `
    window: { tumbling: 5 minutes }
    watermark: { strategy: fixed_delay, delay: 10 minutes }
    allowed_lateness: 0
    seal: { by: stream, after: 0 }
    publish: { policy: auto }`,
  },
  by_errata: {
    yaml: `
    window: { calendar: 1 day, time_zone: UTC }
    watermark: { strategy: bounded, delay: 10 minutes }
    allowed_lateness: 6 hours
    seal: { by: errata }
    publish: { policy: grace }`,
  },
  by_session: {
    yaml: `
    window: { session_gap: 2 minutes }
    watermark: { strategy: bounded, delay: 10 minutes }
    allowed_lateness: 1 hour
    seal: { by: errata }
    publish: { policy: auto }`,
  },
};
const opened = new Map<string, TestErrata>();
/** Of an ingestion day; some are late, and some are copies. */
const rowsADay = 8000;
const keys = 10;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.pool.query(`
    create schema bronze;
    create schema gold;
    create table bronze.orders (
      order_id bigint not null, ordered_at timestamptz not null, ingested_at timestamptz not null, region text not null, amount numeric(12, 2) not null
    ) partition by range (ingested_at);
    create index on bronze.orders (region, ordered_at);
    create index on bronze.orders (order_id)`);
  for (let day = 1; day <= 8; day++)
    await database.pool.query(
      `create table bronze.orders_${day} partition of bronze.orders for values from ('2026-10-0${day} 00:00Z') to ('2026-10-0${day + 1} 00:00Z')`,
    );
  for (const [name, { yaml }] of Object.entries(rollups))
    opened.set(
      name,
      await openErrata(
        database,
        `
rollups:
  ${name}:
    gold: gold.${name}
    bronze: ${bronze}
    key: [region]
    measures: { orders: count(*), revenue: sum(amount) }${yaml}
`,
      ),
    );
  for (let day = 1; day <= 4; day++) await land(day);
  await database.pool.query('analyze');
  for (const name of Object.keys(rollups)) await catchUp(name, 4);
  for (let day = 5; day <= 7; day++) await land(day);
}, 240_000);

afterAll(async () => database.close());

test.each(Object.keys(rollups))('%s', { timeout: 240_000 }, async (name) => {
  await database.pool.query('analyze');
  const analysed = await catchUp(name, 5);
  await setStatistics(`delete from pg_statistic where starelid in (select c.oid from tables as c)`);
  await setStatistics(
    'update pg_class set relpages = 0, reltuples = -1 where oid in (select c.oid from tables as c)',
  );
  const missing = await catchUp(name, 6);
  // as of a time when there was next to nothing
  await database.pool.query('analyze');
  await setStatistics(
    'update pg_class set relpages = 1, reltuples = 1 where oid in (select c.oid from tables as c)',
  );
  const wrong = await catchUp(name, 7);
  // a cliff is ten or a hundred times as long; the machine of a test may be busy
  expect(Math.max(missing, wrong), `milliseconds, beside ${analysed} with statistics`).toBeLessThan(
    3 * analysed + 2000,
  );
});

/** Before the statement stands `tables`, all of bronze, gold and Errata. */
async function setStatistics(statement: string): Promise<void> {
  const client = await database.pool.connect();
  try {
    await client.query(
      `create temp table tables on commit preserve rows as
       select c.oid from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
       where n.nspname in ('bronze', 'gold', 'errata') and c.relkind in ('r', 'p', 'i')`,
    );
    await client.query(statement);
    await client.query('drop table tables');
  } finally {
    client.release();
  }
}

async function land(day: number): Promise<void> {
  await database.pool.query(
    `insert into bronze.orders
     select
       case when n % 997 = 0 then greatest(i.id - 1, 0) else i.id end,
       i.at - case when n % 200 = 0 then interval '1 hour' * (1 + hashint8(i.id) & 63) else interval '20 seconds' end,
       i.at,
       'k' || (hashint8(i.id) & 1048575) % $3::integer,
       (hashint8(i.id) & 65535) / 100.0
     from generate_series(0, $2::bigint - 1) as n
     cross join lateral (
       select $1::bigint * 1000000 + n as id, make_timestamptz(2026, 10, $1::integer, 0, 0, 0, 'UTC') + n * (interval '1 day' / $2::bigint) as at
     ) as i`,
    [day, rowsADay, keys],
  );
}

/** The stream ships what it seals, and Errata runs. @returns milliseconds of the run */
async function catchUp(name: string, day: number): Promise<number> {
  const errata = opened.get(name) as TestErrata;
  const bound = new Date(Date.UTC(2026, 9, day + 1)).toISOString();
  if (rollups[name]?.ships)
    await database.pool.query(
      `insert into gold.${name} (window_start, window_end, region, orders, revenue)
       select w.start, w.start + interval '5 minutes', o.region, count(*), sum(o.amount)
       from bronze.orders as o
       cross join lateral (select date_bin('5 minutes', o.ordered_at, timestamptz '2000-01-01 00:00Z') as start) as w
       where w.start + interval '15 minutes' <= $1::timestamptz
         and w.start >= coalesce((select max(g.window_end) from gold.${name} as g), '-infinity')
         and o.ingested_at - interval '10 minutes' < w.start + interval '5 minutes'
       group by w.start, o.region`,
      [bound],
    );
  const started = performance.now();
  await errata.run({ bound });
  return performance.now() - started;
}
