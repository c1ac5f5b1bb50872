/** Each verb on its happy way, as a shell sees it: exit codes, streams, and what is written. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { verbs } from '../../src/cli/verbs.ts';
import { parseSettings } from '../../src/config/read-settings.ts';
import { controlOf } from '../../src/db/control.ts';
import { createPool } from '../../src/db/pool.ts';
import { migrateAll } from '../../src/install/install.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { errata, rowCounts, start, workDirectory } from './command.ts';

const order = (id: number, ordered: string, ingested: string, amount: string) =>
  `insert into bronze.orders values (${id}, '2026-${ordered}Z', '2026-${ingested}Z', 'eu', ${amount});`;

let database: TestDatabase;
let url: string;
const directory = workDirectory();

beforeAll(async () => {
  database = await openTestDatabase();
  url = database.url;
  await database.pool.query(`create schema bronze;
    create table bronze.orders (order_id bigint primary key, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2));
    ${order(8801, '10-29 10:00', '10-29 10:00', '1200.50')}
    ${order(8802, '10-30 12:00', '10-30 12:00', '10.00')}`);
});

describe('from nothing to a corrected number', () => {
  test('init fills a file from the table, never overwrites, and leaves the policy to choose', async () => {
    const first = await errata(directory, url, 'init', '--table', 'bronze.orders');
    expect(first).toMatchObject({
      exitCode: 0,
      stderr: '',
      stdout:
        'wrote errata.yaml, filled from bronze.orders; choose publish.policy in it, then run `errata check`\n',
    });
    const again = await errata(directory, url, 'init');
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toMatch(/^errata\.yaml is there already\n {2}hint: {3}/);
    const file = join(directory, 'errata.yaml');
    const text = readFileSync(file, 'utf8')
      .replace('      policy:\n', '      policy: grace\n')
      .replace('allowed_lateness: 0', 'allowed_lateness: 24 hours');
    writeFileSync(file, text);
  });

  test('check says what a first run costs and which index is missing, and writes nothing', async () => {
    const before = await rowCounts(database.pool);
    const ended = await errata(directory, url, 'check');
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout).toContain('no index of bronze.orders serves the recompute');
    expect(ended.stdout).toContain(
      'create index concurrently on "bronze"."orders" ("region", "ordered_at"); about ',
    );
    expect(ended.stdout).toMatch(
      /a first run reads about [\d,]+ rows?, 8 kB; about 2 windows from 2026-10-29 10:00:00\+00 to/,
    );
    expect(ended.stdout).toMatch(/everything fits, with 1 warning: run `errata migrate`\n$/);
    expect(await rowCounts(database.pool)).toEqual(before);
  });

  test('migrate --dry-run prints what would run and writes nothing; then migrate says from when bronze is complete', async () => {
    const before = await rowCounts(database.pool);
    const dry = await errata(directory, url, 'migrate', '--dry-run');
    expect(dry).toMatchObject({ exitCode: 0, stderr: '' });
    expect(dry.stdout).toContain('create table "errata".rollup (');
    expect(dry.stdout).toContain('create table if not exists "gold"."daily_orders"');
    expect(await rowCounts(database.pool)).toEqual(before);
    const ended = await errata(directory, url, 'migrate');
    expect(ended).toMatchObject({
      exitCode: 0,
      stderr: '',
      stdout: expect.stringMatching(/^errata: made 0001_control_tables(, \d{4}_[a-z_]+)*\ndaily_orders: /),
    });
    expect(ended.stdout.split('\n')[1]).toBe(
      'daily_orders: gold.daily_orders is ready; bronze is complete from 2026-10-29 00:00:00+00 ' +
        '(the start of the day of the earliest ingestion); windows that start earlier are never recomputed',
    );
    const json = await errata(directory, url, 'migrate', '--json');
    expect(JSON.parse(json.stdout)).toEqual({
      migrations: [],
      rollups: [
        {
          rollup: 'daily_orders',
          gold: 'gold.daily_orders',
          completeFrom: '2026-10-29 00:00:00+00',
          completeFromSource: 'first_ingestion',
        },
      ],
    });
  });

  test('run seals, logs JSON lines, and leaves one line on stdout', async () => {
    const ended = await errata(directory, url, 'run', '--bound', '2026-10-30T13:00:00Z');
    expect(ended).toMatchObject({
      exitCode: 0,
      stdout: 'daily_orders: sealed 1 keyed window, corrected 0, no event newly pending, nothing blocked\n',
    });
    const lines = ended.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({ level: 'info', rollup: 'daily_orders', msg: 'rollup starts' });
    expect(lines[1]).toMatchObject({
      outcome: 'done',
      counts: { windows_sealed: 1, rows_examined: 2 },
      stage_milliseconds: { scan: expect.any(Number), diff: expect.any(Number) },
    });
  });

  test('plan shows old, new and delta, and writes nothing; run does the same and asks for a person', async () => {
    await database.pool.query(
      order(8840, '10-29 18:00', '10-30 14:00', '0.25') +
        order(8803, '11-01 12:00', '11-01 12:00', '1.00') +
        order(8841, '10-29 18:02', '11-01 13:00', '99.00'),
    );
    const before = await rowCounts(database.pool);
    const planned = await errata(directory, url, 'plan', '--bound', '2026-11-02T00:00:00Z');
    expect(planned.stdout.split('\n')).toEqual([
      'daily_orders: would seal 1 keyed window, correct 1, 1 event newly pending, nothing blocked',
      '  bound 2026-11-02 00:00:00+00, watermark 2026-11-01 11:50:00+00, 3 new rows of bronze',
      '  window      region  what     measure       old       new  delta  causes       events',
      '  2026-10-29  eu      correct  orders          1         2     +1  late_firing  8840',
      '                               amount   1,200.50  1,200.75  +0.25',
      '',
    ]);
    expect(planned).toMatchObject({ exitCode: 3, stderr: '' });
    expect(await rowCounts(database.pool)).toEqual(before);

    const json = await errata(directory, url, 'plan', '--json', '--bound', '2026-11-02T00:00:00Z');
    expect(JSON.parse(json.stdout).rollups[0].changes).toMatchObject([
      {
        verdict: 'change',
        measures: { amount: ['1200.50', '1200.75'] },
        deltas: { amount: '0.25', orders: '1' },
        events: ['8840'],
      },
    ]);

    const ran = await errata(directory, url, 'run', '--json', '--bound', '2026-11-02T00:00:00Z');
    expect(ran.exitCode).toBe(3);
    expect(ran.stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      exitCode: 3,
      totals: { windows_corrected: '1', events_pending: '1' },
      rollups: [{ rollup: 'daily_orders', outcome: 'attention' }],
    });
  });

  test('sql prints every statement with the path of its file', async () => {
    const ended = await errata(directory, url, 'sql', 'daily_orders');
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^-- Rollup daily_orders, number 1 in schema "errata"\.\n/);
    for (const path of ['rollup/ledger.sql', 'pipeline/scan/scan.sql', 'pipeline/publish/publish.sql'])
      expect(ended.stdout).toContain(`\n-- sql/${path}\n`);
    expect(ended.stdout).not.toContain('/*:');
  });
});

describe('in the way', () => {
  test('another run holds the rollup: exit code 4', async () => {
    const client = await database.pool.connect();
    await client.query("begin; select pg_advisory_xact_lock(hashtextextended('errata errata rollup 1', 0))");
    const ended = await errata(directory, url, 'run');
    await client.query('rollback');
    client.release();
    expect(ended).toMatchObject({
      exitCode: 4,
      stdout: 'another run holds daily_orders: nothing done there\n',
    });
  });

  test('SIGTERM cancels the statement under way, and the rollup is free at once', async () => {
    const client = await database.pool.connect();
    await client.query('begin; lock table bronze.orders in access exclusive mode');
    const command = start(directory, url, 'run');
    await command.said('rollup starts');
    await waits();
    command.signal('SIGTERM');
    const ended = await command.ended;
    expect(ended.exitCode).toBe(143);
    expect(ended.stderr).toContain('interrupted: what was under way is rolled back; nothing is half done\n');
    const { rows } = await client.query(
      "select pg_try_advisory_xact_lock(hashtextextended('errata errata rollup 1', 0)) as is_free",
    );
    expect(rows).toEqual([{ is_free: true }]);
    await client.query('rollback');
    client.release();
  });

  test('a connection that is lost in the middle: one clear message, and nothing half done', async () => {
    const client = await database.pool.connect();
    await client.query('begin; lock table bronze.orders in access exclusive mode');
    const command = start(directory, url, 'run', '--json');
    await waits();
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    const ended = await command.ended;
    await client.query('rollback');
    client.release();
    expect(ended.exitCode).toBe(1);
    expect(JSON.parse(ended.stdout).rollups[0].error).toMatchObject({
      message: 'the connection to the database was lost while rollup "daily_orders" was at work',
      hint: 'look at the server log; nothing is half done, so run the command again',
    });
  });

  test('twenty installers at once', async () => {
    const shared = await openTestDatabase();
    await shared.pool.query(`create schema bronze;
      create table bronze.orders (order_id bigint primary key, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2))`);
    const settings = parseSettings(readFileSync(join(directory, 'errata.yaml'), 'utf8'), 'errata.yaml', {
      DATABASE_URL: shared.url,
    });
    const pools = Array.from({ length: 20 }, () => createPool(shared.url));
    const results = await Promise.all(pools.map((pool) => migrateAll(controlOf(pool, 'errata'), settings)));
    await Promise.all(pools.map((pool) => pool.end()));
    expect(results.filter(({ migrations }) => migrations.length > 0)).toHaveLength(1);
    const { rows } = await shared.pool.query('select count(*)::int as rollups from errata.rollup');
    expect(rows).toEqual([{ rollups: 1 }]);
  });

  test('a further measure is added in place; another key is refused, and nothing is changed', async () => {
    const text = readFileSync(join(directory, 'errata.yaml'), 'utf8');
    const control = controlOf(database.pool, 'errata');
    const parsed = (yaml: string) => parseSettings(yaml, 'errata.yaml', { DATABASE_URL: url });
    await migrateAll(
      control,
      parsed(text.replace('orders: count(*)', 'orders: count(*)\n      largest: max(amount)')),
    );
    const { rows } = await database.pool.query(
      'select orders, largest from gold.daily_orders_latest limit 1',
    );
    expect(rows).toEqual([{ orders: expect.any(String), largest: null }]);
    const before = await rowCounts(database.pool);
    await expect(migrateAll(control, parsed(text.replace('key: [region]', 'key: []')))).rejects.toMatchObject(
      {
        message: 'rollup "daily_orders" cannot be changed in place',
        exitCode: 2,
      },
    );
    expect(await rowCounts(database.pool)).toEqual(before);
  });

  /** Until a backend of this database waits for a lock on bronze. */
  async function waits(): Promise<void> {
    for (;;) {
      const { rows } = await database.pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      if (rows.length > 0) return;
      await pause(20);
    }
  }
});

describe('usage', () => {
  test('a reader that goes away is no failure', async () => {
    const launcher = fileURLToPath(new URL('../../bin/errata.mjs', import.meta.url));
    const { stdout, stderr } = await promisify(execFile)(
      'bash',
      ['-c', `set -o pipefail; "${process.execPath}" "${launcher}" sql daily_orders | head -n 1`],
      { cwd: directory, env: { ...process.env, DATABASE_URL: url } },
    );
    expect(stdout).toMatch(/^-- Rollup daily_orders [^\n]*\n$/);
    expect(stderr).toBe('');
  });

  test('what commander refuses has the form of all failures, and exit code 2', async () => {
    const ended = await errata(directory, url, 'run', '--boud', 'x', '--json');
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toBe(
      "unknown option '--boud'\n  detail: (Did you mean --bound?)\n  hint:   run `errata run --help`\n",
    );
    expect(JSON.parse(ended.stdout).error).toMatchObject({ message: "unknown option '--boud'", exitCode: 2 });
  });

  test.each([
    [['run', 'weekly_orders'], 'there is no rollup "weekly_orders"'],
    [['run', '--bound', 'tomorrow'], '--bound "tomorrow" is not a date or an instant'],
    [['run', '--max-windows', '0'], '--max-windows "0" is no number of windows'],
    [['run', '--baseline'], 'a baseline needs a person and a reason'],
  ])('%j', async (args, message) => {
    const ended = await errata(directory, url, ...args);
    expect(ended.stderr.startsWith(message)).toBe(true);
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('help lists every verb and the exit codes', async () => {
    const ended = await errata(directory, undefined, '--help');
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    for (const { name, help } of verbs) {
      expect(ended.stdout).toContain(`\n  ${name}`);
      expect(help).toContain('Exit codes:\n  0  ');
    }
    expect(ended.stdout).toContain('  4  nothing done: another run holds the rollup\n');
  });
});
