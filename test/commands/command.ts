/** Runs the real command, as a shell would: its exit code and both streams. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { onFileEnd } from '../support/file-end.ts';

const launcher = fileURLToPath(new URL('../../bin/errata.mjs', import.meta.url));
const sources = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly ended: Promise<Ended>;
  signal(name: NodeJS.Signals): void;
  /** Resolves once stderr holds this text. */
  said(text: string): Promise<void>;
  /** What it holds by now. */
  stderr(): string;
}

/** A directory with this `errata.yaml`, if any; gone when the test file ends. */
export function workDirectory(yaml?: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'errata-command-'));
  onFileEnd(async () => rmSync(directory, { recursive: true, force: true }));
  if (yaml !== undefined) writeFileSync(join(directory, 'errata.yaml'), yaml);
  return directory;
}

export function start(directory: string, url: string | undefined, ...args: string[]): Started {
  return startScript([launcher, ...args], directory, url);
}

/** Without the launcher, which would take SIGKILL and SIGSTOP for itself: they reach the process that works. */
export function startDirectly(directory: string, url: string, ...args: string[]): Started {
  return startScript([sources, ...args], directory, url);
}

/** With these variables in place of DATABASE_URL. */
export function startWith(
  variables: Readonly<Record<string, string>>,
  directory: string,
  ...args: string[]
): Started {
  return startScript([launcher, ...args], directory, undefined, variables);
}

function startScript(
  words: readonly string[],
  directory: string,
  url: string | undefined,
  variables: Readonly<Record<string, string>> = {},
): Started {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const environment = Object.fromEntries(
    Object.entries(inherited).filter(([name]) => !name.startsWith('PG')),
  );
  const child = spawn(process.execPath, words, {
    cwd: directory,
    env: { ...environment, ...(url === undefined ? {} : { DATABASE_URL: url }), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  const waiting: { text: string; resolve: () => void }[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const one of waiting) if (stderr.includes(one.text)) one.resolve();
  });
  return {
    ended: new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr }));
    }),
    signal: (name) => child.kill(name),
    said: (text) =>
      new Promise((resolve) => {
        waiting.push({ text, resolve });
        if (stderr.includes(text)) resolve();
      }),
    stderr: () => stderr,
  };
}

export function errata(directory: string, url: string | undefined, ...args: string[]): Promise<Ended> {
  return start(directory, url, ...args).ended;
}

/** How many rows each table outside the system's schemas holds, by name. */
export async function rowCounts(pool: pg.Pool): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; rows: string }>(`
    select format('%I.%I', n.nspname, c.relname) as name,
      (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I.%I', n.nspname, c.relname), false, true, '')))[1]::text as rows
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema)'
    order by 1`);
  return Object.fromEntries(rows.map((row) => [row.name, Number(row.rows)]));
}
