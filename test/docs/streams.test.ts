/**
 * The pages about streams, replayed: their settings, and the very statements that their sinks send, each twice, as sinks
 * that deliver at least once do.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openTestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';

interface Page extends TestErrata {
  /** Sends the page's statement of this name with each row, and all of them once more. */
  send(name: string, ...rows: (string | number | boolean | null)[][]): Promise<void>;
  /** What the clock of the database says to whatever lands from here on. */
  clock(at: string): Promise<void>;
  runAt(bound: string): Promise<Record<string, unknown>>;
  ledger(): Promise<string[]>;
  lateEvents(): Promise<string[]>;
}

const day = ['2026-10-29T00:00Z', '2026-10-30T00:00Z'];

/** @param change of the page's settings, as the page describes it. @param key whether bronze has one. */
async function open(
  name: string,
  { change = (yaml: string) => yaml, key = '' }: { change?: (yaml: string) => string; key?: string } = {},
): Promise<Page> {
  const text = readFileSync(new URL(`../../docs/streams/${name}.md`, import.meta.url), 'utf8');
  const statements = new Map(
    [...text.matchAll(/```sql\n-- (.+)\n([\s\S]+?)\n```/g)].map(([, title, sql]) => [title, sql as string]),
  );
  const [yaml = ''] = /^ {4}rollups:\n(?: {4,}.+\n)+/m.exec(text) ?? [];
  const database = await openTestDatabase('migrated');
  await database.pool.query(`
    create schema bronze; create schema stream; create schema analytics;
    create table public.clock (at timestamptz);
    insert into public.clock values ('2026-10-29T00:00Z');
    create function public.now_there() returns timestamptz language sql as 'select at from public.clock';
    create table bronze.orders (order_id text ${key}, ordered_at timestamptz, kafka_partition text, ingested_at timestamptz not null default public.now_there(), region text, amount numeric(12,2));
    ${statements.get('refused table') ?? ''};
    ${statements.get('result table') ?? ''}`);
  const errata = await openErrata(database, change(yaml.replaceAll(/^ {4}/gm, '')));
  await errata.rows(`do $$ begin
    if to_regclass('gold.daily_orders_watermark_log') is not null then
      alter table gold.daily_orders_watermark_log alter at set default public.now_there();
    end if; end $$`);
  const lines = async (sql: string) => (await errata.rows<{ line: string }>(sql)).map(({ line }) => line);
  return {
    ...errata,
    send: async (title, ...rows) => {
      const sql = statements.get(title);
      if (!sql) throw new Error(`${name}.md has no statement "${title}"`);
      let parameters = 0;
      const numbered = sql.replaceAll('?', () => `$${++parameters}`);
      for (const row of [...rows, ...rows]) await errata.rows(numbered, row);
    },
    clock: (at) => errata.rows('update public.clock set at = $1', [at]).then(() => undefined),
    runAt: async (bound) => (await errata.run({ bound })).counts,
    ledger: () =>
      lines(
        `select concat_ws(' ', to_char(window_start at time zone 'UTC', 'DD'), region, 'v' || version, orders, revenue, nullif(array_to_string(causes, '+'), '')) as line
         from gold.daily_orders order by window_start, region, version`,
      ),
    lateEvents: () =>
      lines(
        `select concat_ws(' ', event_id, landing, state, 'v' || version) as line from gold.daily_orders_late_event where landing is not null order by event_id`,
      ),
  };
}

describe('Flink', () => {
  test('bronze, version 1, a window that fires again, watermarks and refused rows', async () => {
    const page = await open('flink');
    await page.clock('2026-10-29T10:00Z');
    await page.send(
      'bronze',
      ['a', '2026-10-29T10:00Z', '0', 'EU', 10],
      ['b', '2026-10-29T11:00Z', '1', 'EU', 5],
    );
    await page.send('watermark', ['0', '2026-10-29T09:59Z', false], ['1', null, true]);
    await page.clock('2026-10-30T00:10Z');
    await page.send('watermark', ['0', '2026-10-30T00:05Z', false]);
    await page.send('version 1', [...day, 'EU', 2, 15]);
    // within the allowed lateness: the window fires again
    await page.clock('2026-10-30T00:20Z');
    await page.send('bronze', ['c', '2026-10-29T12:00Z', '0', 'EU', 7]);
    await page.send('version 1', [...day, 'EU', 3, 22]);
    await page.clock('2026-10-30T02:00Z');
    await page.send('watermark', ['0', '2026-10-30T01:55Z', false]);
    await page.clock('2026-10-30T03:00Z');
    await page.send('bronze', ['d', '2026-10-29T13:00Z', '0', 'EU', 1]);
    await page.send('refused', ['d', ...day, '2026-10-30T01:55Z']);
    const counts = await page.runAt('2026-10-30T04:00Z');
    expect(counts).not.toHaveProperty('refused_unknown');
    // the stream's own later value is this run's version; the event that it refused follows in the next
    const emitted = ['29 EU v1 2 15', '29 EU v2 3 22 stream_emission'];
    expect(await page.ledger()).toEqual(emitted);
    await page.runAt('2026-10-30T05:00Z');
    expect(await page.ledger()).toEqual([...emitted, '29 EU v3 4 23.00 late_firing+refused']);
    expect(await page.lateEvents()).toEqual(['c late_firing included v3', 'd side_output included v3']);
    await page.runAt('2026-10-30T06:00Z');
    expect(await page.ledger()).toHaveLength(3);
  });

  test('Flink SQL: without a key it appends; with one it overwrites, which the ledger refuses', async () => {
    const page = await open('flink');
    await page.send('version 1 of Flink SQL', [...day, 'EU', 2, 15]);
    expect(await page.ledger()).toEqual(['29 EU v1 2 15']);
    await expect(
      page.rows(`insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('${day[0]}', '${day[1]}', 'EU', 3, 22)
        on conflict (window_start, window_end, region) do update set orders = excluded.orders`),
    ).rejects.toThrow('there is no unique or exclusion constraint matching the ON CONFLICT specification');
  });

  test('a job that overwrites its own result table: what it says first is version 1, what it says later a version', async () => {
    const page = await open('flink', {
      change: (yaml) =>
        yaml.replace('{ by: stream, after: 0 }', '{ from: analytics.daily_orders, after: 15 minutes }'),
    });
    await page.clock('2026-10-29T10:00Z');
    await page.send(
      'bronze',
      ['a', '2026-10-29T10:00Z', '0', 'EU', 10],
      ['b', '2026-10-29T11:00Z', '0', 'EU', 5],
    );
    await page.clock('2026-10-30T00:10Z');
    await page.send('watermark', ['0', '2026-10-30T00:05Z', false]);
    await page.send('result', [...day, 'EU', 2, 15]);
    await page.runAt('2026-10-30T00:30Z');
    expect(await page.ledger()).toEqual(['29 EU v1 2 15']);
    await page.send('result', [...day, 'EU', 3, 16]);
    await page.runAt('2026-10-30T00:40Z');
    expect(await page.ledger()).toEqual(['29 EU v1 2 15', '29 EU v2 3 16 stream_emission']);
  });
});

test('Spark: only appends; what it dropped is known by its counter', async () => {
  const page = await open('spark');
  await page.clock('2026-10-29T10:00Z');
  await page.send('bronze', ['a', '2026-10-29T10:00Z', 'EU', 10], ['b', '2026-10-29T11:00Z', 'EU', 5]);
  await page.send('watermark', ['2026-10-29T10:50Z', 0]);
  await page.clock('2026-10-30T00:10Z');
  await page.send('watermark', ['2026-10-30T00:05Z', 0]);
  await page.send('version 1', [...day, 'EU', 2, 15]);
  await page.runAt('2026-10-30T00:20Z');
  await page.clock('2026-10-30T03:00Z');
  await page.send('bronze', ['c', '2026-10-29T12:00Z', 'EU', 7]);
  await page.send('watermark', ['2026-10-30T02:50Z', 2]);
  const counts = await page.runAt('2026-10-30T03:10Z');
  expect(await page.ledger()).toEqual(['29 EU v1 2 15']);
  expect(await page.lateEvents()).toEqual(['c side_output pending']);
  // of the two rows that Spark dropped bronze has one
  expect(counts).toMatchObject({ stream_dropped: 2, stream_dropped_shown: 1, events_pending: 1 });
});

describe('Kafka Connect', () => {
  test('inserts: a record that comes again is a copy, a result that comes again is absorbed', async () => {
    const page = await open('kafka-connect');
    await page.clock('2026-10-29T10:00Z');
    await page.send('bronze', ['a', '2026-10-29T10:00Z', 'EU', 10], ['b', '2026-10-29T11:00Z', 'EU', 5]);
    await page.clock('2026-10-30T01:00Z');
    await page.send('bronze', ['pass', '2026-10-30T01:00Z', 'ZZ', 1]);
    await page.send('version 1', [...day, 'EU', 2, 15]);
    await page.clock('2026-10-30T02:00Z');
    await page.send('bronze', ['c', '2026-10-29T12:00Z', 'EU', 7]);
    await page.runAt('2026-10-30T03:00Z');
    expect(await page.ledger()).toEqual(['29 EU v1 2 15', '29 EU v2 3 22.00 refused']);
    expect(await page.rows('select copies::int from errata.daily_orders_copy')).toEqual(
      expect.arrayContaining([{ copies: 1 }]),
    );
  });

  test('upserts: a row written again as it was changes nothing; one with another value is a change of bronze', async () => {
    const page = await open('kafka-connect', {
      key: 'primary key',
      change: (yaml) =>
        yaml.replace('complete_from: 2026-01-01', 'complete_from: 2026-01-01, track_changes: true'),
    });
    await page.clock('2026-10-29T10:00Z');
    await page.send(
      'bronze by upsert',
      ['a', '2026-10-29T10:00Z', 'EU', 10],
      ['b', '2026-10-29T11:00Z', 'EU', 5],
    );
    await page.clock('2026-10-30T01:00Z');
    await page.send('bronze by upsert', ['pass', '2026-10-30T01:00Z', 'ZZ', 1]);
    await page.send('version 1', [...day, 'EU', 2, 15]);
    await page.runAt('2026-10-30T03:00Z');
    await page.send('bronze by upsert', ['a', '2026-10-29T10:00Z', 'EU', 10]);
    await page.runAt('2026-10-30T04:00Z');
    expect(await page.ledger()).toEqual(['29 EU v1 2 15']);
    await page.send('bronze by upsert', ['a', '2026-10-29T10:00Z', 'EU', 11]);
    await page.runAt('2026-10-30T05:00Z');
    expect(await page.ledger()).toEqual(['29 EU v1 2 15', '29 EU v2 2 16.00 source_change']);
  });
});

test('Azure Stream Analytics: a row whose time was adjusted waits in its own window, and the other is blocked, with both counts', async () => {
  const page = await open('azure-stream-analytics');
  await page.clock('2026-10-29T10:00Z');
  await page.send('bronze', ['a', '2026-10-29T10:00Z', 'EU', 10], ['b', '2026-10-29T11:00Z', 'EU', 5]);
  await page.clock('2026-10-30T01:00Z');
  await page.send('bronze', ['e', '2026-10-30T01:00Z', 'EU', 1]);
  await page.send('result', ['2026-10-30T00:00Z', 'EU', 2, 15]);
  // the service counts it on the 30th
  await page.clock('2026-10-30T02:00Z');
  await page.send('bronze', ['late', '2026-10-29T12:00Z', 'EU', 7]);
  await page.clock('2026-10-31T01:00Z');
  await page.send('bronze', ['pass', '2026-10-31T01:00Z', 'ZZ', 1]);
  await page.send('result', ['2026-10-31T00:00Z', 'EU', 2, 8]);
  await page.runAt('2026-10-31T02:00Z');
  expect(await page.ledger()).toEqual(['29 EU v1 2 15', '30 EU v1 2 8']);
  expect(await page.lateEvents()).toEqual(['late side_output pending']);
  expect(
    await page.rows(
      `select to_char(window_start at time zone 'UTC', 'DD') as day, blocked_reason from errata.daily_orders_touched where blocked_reason is not null`,
    ),
  ).toEqual([{ day: '30', blocked_reason: 'version 1 counts 2 events, bronze holds 1 of them so far' }]);
});
