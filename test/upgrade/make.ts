/**
 * Makes databases as earlier code left them: `node bin/node.mjs test/upgrade/make.ts [0001 …]`, none: those that are missing.
 * Needs the git history, TEST_DATABASE_URL and the pg_dump of PostgreSQL 15 in ERRATA_TEST_POSTGRES_BIN, so that 15 can load
 * what it writes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { bronze, type State, settingsAt, states, steps } from './history.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const server = process.env.TEST_DATABASE_URL;
const programs = process.env.ERRATA_TEST_POSTGRES_BIN;
if (!server || !programs) throw new Error('set TEST_DATABASE_URL and ERRATA_TEST_POSTGRES_BIN');

const fileOf = ({ migration }: State) => join(root, 'test', 'upgrade', 'states', `${migration}.sql.gz`);
const asked = process.argv.slice(2);
for (const state of states)
  if (asked.length > 0 ? asked.includes(state.migration) : !existsSync(fileOf(state))) await make(state);

async function make(state: State): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'errata-state-'));
  const checkout = join(directory, 'checkout');
  const database = `errata_state_${state.migration}`;
  const url = new URL(server as string);
  url.pathname = `/${database}`;
  git('worktree', 'add', '--detach', checkout, state.commit);
  try {
    // Dependencies changed by additions only.
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
    const migrations = new Set(readdirSync(join(checkout, 'migrations')).map((file) => file.slice(0, 4)));
    await query(server as string, `drop database if exists ${database} with (force)`);
    await query(server as string, `create database ${database} template template0 encoding 'UTF8'`);
    await query(url.href, bronze);
    const settings = settingsAt(migrations);
    const lacking = ['visits', 'told'].filter((rollup) => !settings.includes(`gold.${rollup}`));
    writeFileSync(join(directory, 'errata.yaml'), settings);
    const verbs = new Set(readdirSync(join(checkout, 'src', 'commands')).map((file) => file.slice(0, -3)));
    for (const step of steps) {
      if ('sql' in step) {
        if (step.needs === undefined || migrations.has(step.needs)) await query(url.href, step.sql);
      } else if (verbs.has(step[0]) && !lacking.some((rollup) => step[1] === rollup))
        told(state, directory, url.href, step);
    }
    writeFileSync(fileOf(state), gzipSync(dumpOf(url.href), { level: 9 }));
  } finally {
    git('worktree', 'remove', '--force', checkout);
    rmSync(directory, { recursive: true, force: true });
    if (!process.env.ERRATA_STATES_KEEP)
      await query(server as string, `drop database if exists ${database} with (force)`);
  }
}

/** 3: it is done, and something waits for a person. */
function told(state: State, directory: string, url: string, words: readonly string[]): void {
  const ended = spawnSync(process.execPath, [join(directory, 'checkout', 'bin', 'errata.mjs'), ...words], {
    cwd: directory,
    env: { ...process.env, DATABASE_URL: url },
    encoding: 'utf8',
  });
  console.log(`${state.migration} ${words.join(' ')}: ${ended.status}`);
  if (ended.status !== 0 && ended.status !== 3) throw new Error(ended.stderr + ended.stdout);
}

/** Without what says nothing of the database: comments of the dump, and the words that only psql understands. */
function dumpOf(url: string): string {
  const dump = execFileSync(
    join(programs as string, 'pg_dump'),
    ['--no-owner', '--inserts', '--rows-per-insert=200', url],
    { encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  return dump.replaceAll(/^(--.*|\\(un)?restrict .*)\n/gm, '').replaceAll(/\n{3,}/g, '\n\n');
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function git(...words: string[]): void {
  execFileSync('git', words, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
