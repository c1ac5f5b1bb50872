/**
 * The README, carried out: its commands and statements run from top to bottom on a database of this test, and what it
 * shows below them is compared with what they print. ERRATA_WRITE_README=1 writes what they print into it instead.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { playDemo } from '../../src/report/demo/demo.ts';
import { demoText } from '../../src/report/demo/text.ts';
import { workDirectory } from '../commands/command.ts';
import { openTestDatabase } from '../support/database.ts';
import { compare } from './compare.ts';
import { psqlText } from './psql-text.ts';

const file = fileURLToPath(new URL('../../README.md', import.meta.url));
const launcher = fileURLToPath(new URL('../../bin/errata.mjs', import.meta.url));

test('what the demo shows', { timeout: 120_000 }, async () => {
  const { pool } = await openTestDatabase();
  const text = demoText(await playDemo(pool, () => {}), 'an embedded PostgreSQL 18.4');
  const firstHalf = text.slice(0, text.indexOf('\nGIT ')).trimEnd();
  await compare(file, async (kind) => (kind === 'text demo' ? `${firstHalf}\n` : undefined));
});

test('what each command and statement shows, and its exit code', { timeout: 300_000 }, async () => {
  const { url, pool } = await openTestDatabase();
  const directory = workDirectory();
  const needPerson: string[] = [];
  let shown = '';
  await compare(
    file,
    async (kind, text) => {
      if (kind === 'sql') shown = await queried(pool, text);
      if (kind === 'yaml') edit(join(directory, 'errata.yaml'), text);
      if (kind === 'sh') {
        const { exitCode, stdout } = await shell(text, directory, url);
        expect([text, [0, 3].includes(exitCode)]).toEqual([text, true]);
        if (exitCode === 3) needPerson.push(text.trim());
        shown = stdout;
      }
      return kind === 'text' ? shown : undefined;
    },
    masked,
  );
  // From the refused order until it is published; to explain is no complaint.
  expect(needPerson).toEqual([
    'errata plan --bound 2025-03-06T00:00:00Z',
    'errata run --bound 2025-03-06T00:00:00Z',
    'errata status',
  ]);
});

/** Without what differs from one time to the next: this day's instants, how long ago, the role, and widths. */
function masked(text: string): string {
  return text
    .replaceAll(/\b(?!2025-)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(Z|\+00)/g, 'INSTANT')
    .replaceAll(/(\d+ (second|minute|hour|day)s? ?)+(ago|behind)/g, 'TIME $3')
    .replaceAll(/database role [^),]+/g, 'database role NAME')
    .replaceAll(/ {2,}/g, '  ');
}

function shell(
  script: string,
  cwd: string,
  url: string,
): Promise<{ readonly exitCode: number; readonly stdout: string }> {
  const command = `errata() { "${process.execPath}" "${launcher}" "$@"; }\n${script}`;
  const inherited = Object.entries(process.env).filter(([name]) => !/^(PG|ERRATA_CONFIG)/.test(name));
  const env = { ...Object.fromEntries(inherited), DATABASE_URL: url };
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { cwd, env }, (error, stdout, stderr) => {
      const exitCode = error?.code ?? 0;
      if (typeof exitCode !== 'number') return reject(error);
      if (exitCode === 1 || exitCode === 2) process.stderr.write(stderr);
      resolve({ exitCode, stdout });
    });
  });
}

/** One line replaces the line of that key; several are a further rollup. */
function edit(path: string, yaml: string): void {
  const text = readFileSync(path, 'utf8');
  const [line = '', ...more] = yaml.trimEnd().split('\n');
  const key = line.slice(0, line.indexOf(':') + 1);
  const edited =
    more.length === 0
      ? text.replace(new RegExp(`^${key}.*$`, 'm'), line)
      : text.replace('# The periods', `${yaml}\n# The periods`);
  expect(edited).not.toBe(text);
  writeFileSync(path, edited);
}

async function queried(pool: pg.Pool, sql: string): Promise<string> {
  if (sql.includes('create role')) return await triedAsReader(pool, sql);
  const result = await pool.query(sql);
  if (sql.startsWith('insert into gold.')) expect((await pool.query(sql)).rowCount).toBe(0);
  return psqlText(result);
}

/** Roles belong to the whole server, so this one is rolled back. It reads what it was granted, and not the ledger. */
async function triedAsReader(pool: pg.Pool, sql: string): Promise<string> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(sql);
    await client.query('set local role bi');
    for (const [view] of sql.replaceAll(/function gold\.\w+/g, '').matchAll(/gold\.\w+/g))
      await client.query(`select from ${view}`);
    for (const [, known] of sql.matchAll(/function (gold\.\w+)/g))
      await client.query(`select from ${known}('2025-01-01')`);
    await expect(client.query('select from gold.daily_orders')).rejects.toThrow('permission denied');
  } finally {
    await client.query('rollback');
    client.release();
  }
  return '';
}
