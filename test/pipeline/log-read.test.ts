import { expect, test } from 'vitest';
import { readStatus } from '../../src/report/status/status.ts';
import { statusText } from '../../src/report/status/text.ts';
import {
  combinedAfter,
  openSourcePartitions,
  type SourcePartitions,
  zero,
} from '../support/source-partitions.ts';

const recorded = (more = '') =>
  openSourcePartitions({ watermark: `{ strategy: recorded${more} }`, lateness: '10 s' });

/** Runs at a second and gives what its counts say of the log. */
async function countsAt(sources: SourcePartitions, second: number): Promise<Record<string, unknown>> {
  await sources.runAt(second);
  const [row] = await sources.rows<{ counts: Record<string, unknown> }>(
    'select counts from errata.run order by run_id desc limit 1',
  );
  const { log_came_behind, stream_dropped, stream_dropped_shown } = row?.counts ?? {};
  return { log_came_behind, stream_dropped, stream_dropped_shown };
}

const nothing = { log_came_behind: undefined, stream_dropped: undefined, stream_dropped_shown: undefined };
const dropped = (sources: SourcePartitions, name: string, at: number, count: number | null) =>
  sources.rows(
    `insert into gold.total_watermark_log (source_partition, at, watermark, dropped)
     values ($1, timestamptz '${zero}' + interval '1 second' * $2::float8, timestamptz '${zero}', $3)`,
    [name, at, count],
  );

async function statusOf(sources: SourcePartitions): Promise<string[]> {
  const { settings, schema } = sources.rollup;
  const file = {
    database: undefined,
    schema,
    rollups: [settings],
    periods: { calendar: 'month', timeZone: 'UTC' },
    limits: settings.limits,
    notices: undefined,
    file: 'errata.yaml',
  } as const;
  const status = await readStatus(sources.control, file, settings, '2026-01-01 00:02:00+00');
  return statusText(status, settings)
    .split('\n')
    .filter((line) => /^ {2}(sources|drops| {5,})/.test(line));
}

test('an entry that comes behind the frontier moves nothing, and is reported by one run (R6)', async () => {
  const sources = await recorded();
  await sources.log('a', 10, 5);
  expect(await countsAt(sources, 20)).toEqual(nothing);
  await sources.log('a', 15, 14);
  await sources.log('a', 12, null, true);
  await sources.log('a', 20, 6);
  expect(await countsAt(sources, 30)).toEqual({ ...nothing, log_came_behind: 2 });
  expect(await combinedAfter(sources, 30)).toBe(6);
  expect(await countsAt(sources, 40)).toEqual(nothing);
  expect(await sources.rows('select came_behind from errata.source_partition')).toEqual([
    { came_behind: '2' },
  ]);
});

test('so does one at a bound that is repeated, and one of a source partition that nobody knew', async () => {
  const sources = await recorded();
  await sources.log('a', 10, 5);
  await sources.runAt(20);
  await sources.log('b', 15, 14);
  expect(await countsAt(sources, 20)).toEqual({ ...nothing, log_came_behind: 1 });
  await sources.log('b', 16, 14);
  await sources.log('c', 25, 14);
  await sources.log('c', 16, 14);
  expect(await countsAt(sources, 30)).toEqual({ ...nothing, log_came_behind: 2 });
  expect(await countsAt(sources, 30)).toEqual(nothing);
  expect(await combinedAfter(sources, 30)).toBe(5);
  expect(await statusOf(sources)).toContain('  sources     b: unknown, 2 entries came behind the frontier');
});

test('entries that are deleted are not counted', async () => {
  const sources = await recorded();
  await sources.log('a', 10, 5);
  await sources.log('a', 11, 5);
  await sources.runAt(20);
  await sources.rows('delete from gold.total_watermark_log');
  expect(await countsAt(sources, 30)).toEqual(nothing);
  expect(await sources.rows('select came_behind from errata.source_partition')).toEqual([
    { came_behind: '0' },
  ]);
});

const day = 86_400;
/** Runs on the first five days, with an entry a day. */
async function openOverDays(more: { ddl?: string; watermark?: string } = {}): Promise<SourcePartitions> {
  const sources = await openSourcePartitions({
    watermark: '{ strategy: recorded }',
    lateness: '10 s',
    ...more,
  });
  for (const n of [0, 1, 2, 3, 4]) {
    await sources.log('a', n * day + 10, 5);
    expect(await countsAt(sources, n * day + 20)).toEqual(nothing);
  }
  return sources;
}

/** What runs on the days from the sixth on report. */
async function reported(sources: SourcePartitions, days: number): Promise<unknown[]> {
  const found = [];
  for (let n = 5; n < 5 + days; n++) found.push((await countsAt(sources, n * day + 20)).log_came_behind ?? 0);
  return found;
}

test('an entry that comes days behind the frontier is reported too, once, within a day of the frontier (R6)', async () => {
  const sources = await openOverDays();
  await sources.log('a', 15, 5);
  await sources.log('b', 16, 5);
  await sources.log('a', 3.5 * day, 5);
  const counts = (await reported(sources, 4)) as number[];
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
  expect(counts.slice(2)).toEqual([0, 0]);
  expect(
    await sources.rows('select source_partition, came_behind from errata.source_partition order by 1'),
  ).toEqual([
    { source_partition: 'a', came_behind: '2' },
    { source_partition: 'b', came_behind: '1' },
  ]);
});

test('so is one whose transaction was open over several runs, and one in a table that joins the log later', async () => {
  const sources = await openOverDays({
    watermark: '{ strategy: recorded, log: ops.log }',
    ddl: `create schema ops;
      create table ops.log (source_partition text, at timestamptz, watermark timestamptz, idle boolean, dropped bigint) partition by range (at);
      create table ops.log_recent partition of ops.log for values from ('2026-01-01') to ('2027-01-01');
      create table ops.log_old (like ops.log);
      create schema if not exists gold;
      create view gold.total_watermark_log as table ops.log;
      insert into ops.log_old values ('a', '2025-06-01', '2025-06-01', false)`,
  });
  const client = await sources.database.pool.connect();
  try {
    await client.query("begin; insert into ops.log values ('a', '2026-01-01 00:00:30+00', null, true)");
    expect(await reported(sources, 3)).toEqual([0, 0, 0]);
    await client.query('commit');
  } finally {
    client.release(true);
  }
  await sources.rows(
    "alter table ops.log attach partition ops.log_old for values from ('2025-01-01') to ('2026-01-01')",
  );
  const counts = [];
  for (const n of [9, 10, 11, 12]) counts.push((await countsAt(sources, n * day)).log_came_behind ?? 0);
  expect(counts.filter((count) => count !== 0)).toEqual([2]);
});

test('a log that was restored elsewhere is taken as it is, and so are the days before a view', async () => {
  const sources = await openOverDays();
  await sources.rows('create table gold.copy as table gold.total_watermark_log');
  await sources.rows('truncate gold.total_watermark_log');
  await sources.rows('insert into gold.total_watermark_log table gold.copy');
  await sources.rows('update errata.rollup set system_identifier = 1');
  expect(await reported(sources, 3)).toEqual([0, 0, 0]);
  const viewed = await openOverDays({
    watermark: '{ strategy: recorded, log: ops.log }',
    ddl: `create schema ops; create schema if not exists gold;
      create table gold.total_watermark_log (source_partition text, at timestamptz, watermark timestamptz, idle boolean, dropped bigint);
      create view ops.log as table gold.total_watermark_log`,
  });
  await viewed.log('a', 15, 5);
  await viewed.log('a', 3.5 * day, 5);
  expect(await reported(viewed, 2)).toEqual([1, 0]);
});

test('rows that the stream dropped and the side output does not show are reported, with both counts', async () => {
  const sources = await recorded();
  await sources.log('a', 10, 5);
  await sources.land('a 10 1', 'a 10 2');
  await dropped(sources, 'a', 11, 0);
  expect(await countsAt(sources, 20)).toEqual(nothing);
  await sources.log('a', 30, 40);
  await sources.land('a 40 3');
  await dropped(sources, 'a', 41, 1);
  // what was dropped is shown
  expect(await countsAt(sources, 50)).toEqual(nothing);
  await dropped(sources, 'a', 51, 3);
  await dropped(sources, 'b', 52, 2);
  await dropped(sources, 'a', 53, null);
  expect(await countsAt(sources, 60)).toEqual({ ...nothing, stream_dropped: 5, stream_dropped_shown: 1 });
  // the counter begins anew with the job
  await dropped(sources, 'a', 61, 1);
  await dropped(sources, 'a', 62, 2);
  expect(await countsAt(sources, 70)).toEqual({ ...nothing, stream_dropped: 7, stream_dropped_shown: 1 });
  expect(await countsAt(sources, 80)).toEqual({ ...nothing, stream_dropped: 7, stream_dropped_shown: 1 });
});

test('status lists the source partitions, and what was dropped', async () => {
  const sources = await recorded(
    ', idle_after: 30 s, source_partitions: { a: 2026-01-01, b: 2026-01-01, c: 2026-01-01, gone: 2026-01-01, quiet: "2026-01-01T00:00:40Z", later: 2026-02-01 }',
  );
  await sources.log('a', 10, 5);
  await sources.log('b', 11, 6);
  await sources.log('c', 12, 7);
  await sources.log('b', 13, null, true);
  await sources.log('c', 55, 20);
  await sources.log('c', 56, 19);
  await dropped(sources, 'c', 57, 4);
  await sources.runAt(60);
  await sources.log('c', 40, 19);
  await sources.runAt(61);
  expect(await statusOf(sources)).toEqual([
    '  sources     gone: idle',
    '              later: expected from 2026-02-01 00:00:00Z on',
    '              quiet: silent since 2026-01-01 00:00:40Z: it holds the minimum back until it is idle',
    '              a: idle, watermark 2026-01-01 00:00:05Z, last heard of 2026-01-01 00:00:10Z (1 minute 50 seconds ago)',
    '              b: marked idle, watermark 2026-01-01 00:00:06Z, last heard of 2026-01-01 00:00:13Z (1 minute 47 seconds ago)',
    '              c: active, watermark 2026-01-01 00:00:20Z, last heard of 2026-01-01 00:00:57Z (1 minute 3 seconds ago), went back 2 times, 1 entry came behind the frontier, dropped 4 rows',
    '  drops       the stream dropped 4 rows, the side output shows 0',
  ]);
});

test('where bronze names source partitions, status lists them too', async () => {
  const sources = await openSourcePartitions({
    watermark: '{ strategy: bounded, delay: 10 s, idle_after: 30 s }',
  });
  await sources.land('a 10 5', 'b 50 40', 'NULL 55 45');
  await sources.runAt(60);
  expect(await statusOf(sources)).toEqual([
    '  sources     a: idle, watermark 2025-12-31 23:59:55Z, last heard of 2026-01-01 00:00:10Z (1 minute 50 seconds ago)',
    '              b: active, watermark 2026-01-01 00:00:30Z, last heard of 2026-01-01 00:00:50Z (1 minute 10 seconds ago)',
    '              NULL: active, watermark 2026-01-01 00:00:35Z, last heard of 2026-01-01 00:00:55Z (1 minute 5 seconds ago)',
  ]);
});
