/** What the commands say of the words of the stream: its refused rows, its log. */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { openTestDatabase } from '../support/database.ts';
import { errata, workDirectory } from './command.ts';

function yaml(watermark: string, bronze = 'event_id: order_id'): string {
  return `
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: { table: bronze.orders, ${bronze}, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }
    window: { calendar: 1 day, time_zone: UTC }
    key: [region]
    measures: { orders: count(*), revenue: sum(amount) }
    watermark: ${watermark}
    allowed_lateness: 24 hours
    seal: { by: stream }
    publish: { policy: grace }
`;
}

async function openBronze(more: string): Promise<{ url: string; pool: pg.Pool }> {
  const { url, pool } = await openTestDatabase();
  await pool.query(`create schema bronze; create schema stream;
    create table bronze.orders (order_id bigint, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2));
    create index on bronze.orders (region, ordered_at);
    ${more}`);
  return { url, pool };
}

async function faultsOf(url: string, directory: string): Promise<string[]> {
  const { stdout } = await errata(directory, url, 'check', '--json');
  return JSON.parse(stdout).rollups[0].faults.map(
    ({ place, fact, hint }: Record<string, string>) =>
      `${place?.split('.').slice(2).join('.')}: ${fact}; ${hint}`,
  );
}

test('check: the table of refused rows is there, can be read, and its columns fit', {
  timeout: 120_000,
}, async () => {
  const { url, pool } = await openBronze(
    `create table stream."Odd ""refused" (order_id integer, "the end" timestamptz, local timestamp, wm bigint, word text)`,
  );
  const columns = (text: string) => workDirectory(yaml(`{ strategy: external, refused: ${text} }`));
  expect(await faultsOf(url, columns('stream.refused'))).toEqual([
    'watermark.refused: there is no table or view stream.refused; create it, or correct the name',
  ]);
  const odd = `'stream."Odd ""refused"'`;
  expect(await faultsOf(url, columns(`{ table: ${odd}, window_end: the end }`))).toEqual([]);
  expect(
    await faultsOf(
      url,
      columns(`{ table: ${odd}, event_id: word, event_time: local, watermark: wm, window_start: ws }`),
    ),
  ).toEqual([
    'watermark.refused: stream."Odd ""refused" has no column "ws"; it has: order_id, the end, local, wm, word',
    'watermark.refused: column "local" of stream."Odd ""refused" has type timestamp without time zone, which is no instant; make it timestamptz, or name a view that casts it',
    'watermark.refused: column "wm" of stream."Odd ""refused" has type bigint, which is no instant; make it timestamptz, or name a view that casts it',
    'watermark.refused: column "word" of stream."Odd ""refused" has type text, and the id in bronze bigint, so no entry would find its row; name a view that casts it to bigint',
  ]);
  const role = `refused_${Math.random().toString(36).slice(2, 8)}`;
  await pool.query(`create role ${role} login password '${role}';
    do $$ begin execute format('grant create, temporary on database %I to ${role}', current_database()); end $$;
    grant usage on schema bronze, stream to ${role}; grant select on bronze.orders to ${role}`);
  const limited = new URL(url);
  [limited.username, limited.password] = [role, role];
  expect(await faultsOf(limited.href, columns(`{ table: ${odd} }`))).toEqual([
    `watermark.refused: stream."Odd ""refused" cannot be read by the connected role; grant usage on its schema and select on "stream"."Odd ""refused" to it`,
  ]);
  await pool.query(`drop owned by ${role}; drop role ${role}`);
});

test('check: the counter of a log is one', { timeout: 120_000 }, async () => {
  const { url } = await openBronze(
    'create table stream.log (at timestamptz, source_partition text, watermark timestamptz, idle boolean, lost integer, words text)',
  );
  const log = (dropped: string) =>
    workDirectory(yaml(`{ strategy: recorded, log: { table: stream.log, dropped: ${dropped} } }`));
  expect(await faultsOf(url, log('lost'))).toEqual([]);
  expect(await faultsOf(url, log('words'))).toEqual([
    'watermark.log: column "words" of stream.log has type text, which is no counter; make it bigint, or name a view that casts it',
  ]);
  expect(await faultsOf(url, log('gone'))).toEqual([
    'watermark.log: stream.log has no column "gone"; it has: at, source_partition, watermark, idle, lost, words',
  ]);
});

test('external: plan, run, status and explain say what the stream refused', {
  timeout: 120_000,
}, async () => {
  const { url, pool } = await openBronze(
    `create table stream.refused (order_id bigint, wm timestamptz);
     insert into bronze.orders values
       (1, '2026-10-29 10:00Z', '2026-10-29 10:01Z', 'EU', 10), (2, '2026-10-29 12:00Z', '2026-10-31 04:00Z', 'EU', 7);
     insert into stream.refused values (2, '2026-10-31 00:00Z'), (3, null)`,
  );
  const directory = workDirectory(
    yaml('{ strategy: external, refused: { table: stream.refused, watermark: wm } }'),
  );
  const say = async (...words: string[]) => (await errata(directory, url, ...words)).stdout;
  await say('migrate');
  await pool.query(
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29Z', '2026-10-30Z', 'EU', 1, 10.00)`,
  );
  const bound = ['--bound', '2026-11-01T00:00:00Z'];
  expect(await say('plan', ...bound)).toContain('1 refusal of the stream without a row in bronze so far');
  expect(await say('run', ...bound)).toContain(
    'daily_orders: sealed 0 keyed windows, corrected 0, 1 event newly pending, 1 refusal of the stream without a row in bronze so far, nothing blocked',
  );
  expect(await say('status')).toContain(
    'refusals    1 entry without a row in bronze, the first since 2026-11-01 00:00:00Z',
  );
  const explained = await say('explain', 'daily_orders', '2026-10-29', 'EU');
  expect(explained).toContain('its window ended 2026-10-30 00:00:00Z and took late events for 24 hours');
  expect(explained).toContain('the stream wrote that it refused it, at watermark 2026-10-31 00:00:00Z');
  expect(await say('lateness', 'daily_orders')).toContain("the rollup's own strategy is external");
  await pool.query(`insert into bronze.orders values (3, '2026-10-29 12:30Z', '2026-11-01 04:00Z', 'EU', 7)`);
  await say('run', '--bound', '2026-11-02T00:00:00Z');
  expect(await say('status')).toContain('refusals    each has its row in bronze');
  expect(await say('explain', 'daily_orders', '2026-10-29', 'EU')).toMatch(
    /the stream wrote that it refused it$/m,
  );
});
