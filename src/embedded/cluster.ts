/**
 * One data directory and the server that runs on it.
 *
 *     <state directory>/<label>/          ours
 *       data/                             the server account's: PostgreSQL's data directory
 *       data/errata.password              made with it and renamed with it; mode 0600
 *       server.log
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import { type Account, runAs } from './account.ts';
import type { Binaries } from './binaries.ts';

/** Everything by which a server is made, started, found and stopped. */
export interface Cluster {
  readonly account: Pick<Account, 'ids'>;
  readonly binaries: Binaries;
  readonly home: string;
  readonly data: string;
}

export type Settings = Readonly<Record<string, string>>;

/** What a server's own `postmaster.pid` says. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

export function clusterAt(home: string, account: Pick<Account, 'ids'>, binaries: Binaries): Cluster {
  return { account, binaries, home, data: join(home, 'data') };
}

/**
 * Makes the data directory unless it is there: UTF-8, sorted by code point, a random password for everyone.
 * It is made beside its place and renamed, so a data directory that exists is whole.
 * @throws Failure if initdb fails.
 */
export async function initialise(cluster: Cluster, temporary: boolean): Promise<void> {
  if (existsSync(cluster.data)) return;
  const draft = join(cluster.home, `data.${process.pid}`);
  const secret = `${draft}.password`;
  const password = randomBytes(18).toString('base64url');
  try {
    for (const directory of [cluster.home, draft]) mkdirSync(directory, { recursive: true, mode: 0o755 });
    // A temporary directory starts closed to all but us; the server's account has to get through to its data.
    chmodSync(cluster.home, 0o755);
    writeFileSync(secret, password, { mode: 0o600 });
    const { ids } = cluster.account;
    if (ids) for (const path of [draft, secret]) chownSync(path, ids.uid, ids.gid);
    const options = [
      '--pgdata',
      draft,
      '--username',
      'postgres',
      '--pwfile',
      secret,
      '--auth',
      'scram-sha-256',
    ];
    options.push('--encoding', 'UTF8', '--no-instructions', ...localeOptions(cluster.binaries.major));
    if (temporary) options.push('--no-sync');
    const { code, output } = await runAs(cluster.account, cluster.binaries.initdb, options);
    if (code !== 0) throw cannotMake(cluster, output);
    renameSync(secret, join(draft, 'errata.password'));
    renameSync(draft, cluster.data);
  } catch (error) {
    // Another process may have been faster with the same kept server; what it made serves.
    if (!(existsSync(cluster.data) && isOccupied(error))) throw error;
  } finally {
    rmSync(secret, { force: true });
    rmSync(draft, { recursive: true, force: true });
  }
}

function cannotMake({ account, home }: Cluster, output: string): Failure {
  return new Failure('the embedded PostgreSQL could not make its data directory', {
    detail: output.split('\n').slice(-3).join('\n'),
    hint: account.ids
      ? `account number ${account.ids.uid}, which runs it, must be let into ${home}`
      : undefined,
  });
}

function isOccupied(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'EPERM';
}

// The builtin provider came with 17; before it, the C library's locale of the same name.
function localeOptions(major: number): string[] {
  if (major < 17) return ['--locale', 'C.UTF-8'];
  return ['--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'];
}

/** @throws Failure if the password of the data directory cannot be read. */
export function recallPassword(cluster: Cluster): string {
  const file = join(cluster.data, 'errata.password');
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Failure('the embedded PostgreSQL has lost the password of its data directory', {
      detail: `${file} cannot be read`,
      hint: `remove ${cluster.home}; the data in it goes with it`,
      cause,
    });
  }
}

/**
 * The settings with which the server was started last, from the copy of its command line that it keeps; its port is
 * among them. Empty before the first start.
 */
export function lastSettings(cluster: Cluster): Settings {
  const file = join(cluster.data, 'postmaster.opts');
  if (!existsSync(file)) return {};
  const pairs = readFileSync(file, 'utf8').matchAll(/"-c" "([^="]+)=([^"]*)"/g);
  return Object.fromEntries([...pairs].map(([, name, value]) => [name, value]));
}

/** What `postmaster.pid` says; undefined without one. A server that was killed leaves its own behind. */
export function readPostmaster(cluster: Pick<Cluster, 'data'>): Postmaster | undefined {
  try {
    const lines = readFileSync(join(cluster.data, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
  } catch {
    return undefined;
  }
}

/** Removes the data directory and all that belongs to it. The server must be stopped. */
export function removeCluster(home: string): void {
  rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
