/**
 * What is printed and what is stored follow neither the time zone of the process nor that of the session (B19): the
 * real command, over copies of one database.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, expect, inject, test } from 'vitest';
import { start, workDirectory } from '../commands/command.ts';
import { openTestDatabase } from '../support/database.ts';
import { onFileEnd } from '../support/file-end.ts';
import { databaseUrl, execute } from '../support/template.ts';

const processZones = ['Europe/Rome', 'America/New_York', 'Pacific/Apia'];
const sessionZones = ['Asia/Kathmandu', 'UTC', 'America/New_York'];

const directory = workDirectory(`
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }
    window: { calendar: 1 day, time_zone: Europe/Rome }
    key: [business_day, printed_at]
    measures: { orders: count(*), revenue: sum(amount), last_day: max(business_day), last_print: max(printed_at) }
    watermark: { strategy: bounded, delay: 1 hour }
    allowed_lateness: 0
    seal: { by: errata }
    publish: { policy: grace }
`);

const server = inject('testServerUrl');
let prepared = '';

beforeAll(async () => {
  const database = await openTestDatabase();
  // the day on which Rome loses an hour; date and zone-less columns as keys and in measures
  await database.pool.query(`
    create schema bronze;
    create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, business_day date, printed_at timestamp, amount numeric(12,2));
    insert into bronze.orders values
      ('a', '2026-03-28T23:00Z', '2026-03-28T23:01Z', '2026-03-29', '2026-03-29 00:00', 10.10),
      ('b', '2026-03-29T21:59:59Z', '2026-03-29T22:00Z', '2026-03-29', '2026-03-29 00:00', 0.20),
      ('c', '2026-03-29T01:00Z', '2026-03-29T01:01Z', '2026-03-29', '2026-03-29 02:30', 5),
      ('pass', '2026-03-31T12:00Z', '2026-03-31T12:00Z', '2026-03-31', '2026-03-31 00:00', 1),
      ('late', '2026-03-29T10:00Z', '2026-04-01T10:00Z', '2026-03-29', '2026-03-29 00:00', 7),
      ('ahead', '2026-05-01T00:00Z', '2026-04-01T10:30Z', '2026-05-01', '2026-05-01 00:00', 3)`);
  const migrated = await start(directory, database.url, 'migrate').ended;
  expect(migrated).toMatchObject({ exitCode: 0 });
  await database.close();
  prepared = new URL(database.url).pathname.slice(1);
});

/** A copy of the prepared database whose sessions have this time zone. */
async function copied(zone: string): Promise<string> {
  const name = `${prepared.slice(0, 50)}_${randomBytes(4).toString('hex')}`;
  const quoted = pg.escapeIdentifier(name);
  await execute(server, `create database ${quoted} template ${pg.escapeIdentifier(prepared)}`);
  onFileEnd(async () => {
    await execute(server, `drop database if exists ${quoted} with (force)`);
  });
  await execute(server, `alter database ${quoted} set timezone = ${pg.escapeLiteral(zone)}`);
  return databaseUrl(server, name);
}

/**
 * Instants of the clock of this very run have microseconds, those of the rows have none; durations vary too, and so does
 * the width of a column that holds an instant, since its last zeros are not printed.
 */
const timeless = (text: string) =>
  text
    .replace(/ {2,}/g, '  ')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+(\+00|Z)( ?) */g, 'CLOCK$1$2')
    .replace(/"stageMilliseconds": ?\{[^}]*\}/g, 'STAGES')
    .replace(/"[a-z_]*seconds": ?"?[\d.]+"?/g, 'SECONDS');

async function printed(processZone: string, sessionZone: string): Promise<string[]> {
  const url = await copied(sessionZone);
  const texts: string[] = [];
  for (const args of [
    ['run', '--json', '--bound', '2026-04-02T00:00:00Z'],
    ['publish', 'daily_orders', '--window', '2026-03-29', '--actor', 'ada', '--reason', 'late', '--json'],
    ['explain', 'daily_orders', '2026-03-29', '2026-03-29', '2026-03-29 00:00:00'],
    ['lateness', 'daily_orders', '--json'],
  ]) {
    // taken over by the process as it starts
    process.env.TZ = processZone;
    const { ended } = start(directory, url, ...args);
    delete process.env.TZ;
    const { stdout, exitCode } = await ended;
    texts.push(`${args[0]} ${exitCode} ${timeless(stdout)}`);
  }
  const stored = await execute(
    url,
    `select local_date::text, business_day::text, printed_at::text, version::text, revenue::text, last_day::text, last_print::text, extract(epoch from window_start)::text as start
     from gold.daily_orders order by window_start, business_day, printed_at, version`,
  );
  texts.push(JSON.stringify(stored));
  return texts;
}

test('run, publish, explain and lateness print the same, byte for byte, under three zones of either', async () => {
  const all = await Promise.all(processZones.map((zone, n) => printed(zone, sessionZones[n] ?? '')));
  const [first = []] = all;
  const [run, publish, explained] = first;
  expect(run).toMatch(/^run 3 /);
  expect(publish).toMatch(/^publish 0 /);
  expect(explained).toContain('daily_orders, 2026-03-29, business_day 2026-03-29');
  expect(JSON.parse(first.at(-1) ?? '')).toContainEqual({
    local_date: '2026-03-29',
    business_day: '2026-03-29',
    printed_at: '2026-03-29 00:00:00',
    version: '2',
    revenue: '17.30',
    last_day: '2026-03-29',
    last_print: '2026-03-29 00:00:00',
    start: '1774738800.000000',
  });
  for (const texts of all) expect(texts).toEqual(first);
}, 120_000);
