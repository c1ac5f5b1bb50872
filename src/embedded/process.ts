import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '../failure.ts';
import { runAs, spawnOptions } from './account.ts';
import { type Cluster, readPostmaster, type Settings } from './cluster.ts';

const startSeconds = 60;

/** Loopback and TCP only: a socket's path may be too long, and its directory closed to the server's account. */
const fixed: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** A server that does not answer the call for its data directory: another one is already running there. */
export class Occupied extends Error {}

/** A port that is free on the loopback interface now; `wanted` itself where that is free, 0 for any. */
async function freePort(wanted: number): Promise<number> {
  const probe = createServer();
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen(port, '127.0.0.1', () => {
        const address = probe.address();
        probe.close(() => (address && typeof address === 'object' ? resolve(address.port) : reject()));
      });
    });
  return wanted ? listen(wanted).catch(() => freePort(0)) : listen(0);
}

/**
 * Starts the server in a session of its own, where no Ctrl-C of the terminal reaches it, and waits until it answers.
 * Returns its port, `wanted` if that is free (0: any). `onSpawn` is told its process number before it does anything.
 * @throws Occupied if a server is running or starting on the data directory; Failure with the end of the log
 *   if it does not start.
 */
export async function launch(
  cluster: Cluster,
  settings: Settings,
  wanted: number,
  onSpawn: (pid: number) => void,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(attempt === 1 ? wanted : 0);
    const log = await attemptLaunch(cluster, { ...settings, ...fixed, port: String(port) }, onSpawn);
    if (log === undefined) return port;
    if (/lock file "postmaster.pid" (already exists|is empty)/.test(log)) throw new Occupied();
    // Between our look and the server's, somebody else may have taken the port.
    if (attempt < 5 && /could not bind|could not create any TCP\/IP sockets/.test(log)) continue;
    throw new Failure('the embedded PostgreSQL did not start', { detail: log });
  }
}

/** Undefined once the server is ready, else the end of its log. */
async function attemptLaunch(
  cluster: Cluster,
  settings: Settings,
  onSpawn: (pid: number) => void,
): Promise<string | undefined> {
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Of two that start the same kept server at once only the one that succeeds leaves its log.
  const draft = join(cluster.home, `server.log.${process.pid}`);
  const log = openSync(draft, 'w', 0o600);
  const child = spawn(cluster.binaries.postgres, ['-D', cluster.data, ...args], {
    ...spawnOptions(cluster.account),
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let ended = false;
  child.on('error', () => {
    ended = true;
  });
  child.on('exit', () => {
    ended = true;
  });
  child.unref();
  if (child.pid !== undefined) onSpawn(child.pid);
  const deadline = performance.now() + startSeconds * 1000;
  while (!ended && performance.now() < deadline) {
    const found = readPostmaster(cluster);
    if (found?.pid === child.pid && found?.ready) {
      renameSync(draft, join(cluster.home, 'server.log'));
      return undefined;
    }
    await pause(5);
  }
  child.kill('SIGQUIT');
  const tail = readFileSync(draft, 'utf8').trim().split('\n').slice(-15).join('\n');
  rmSync(draft);
  return tail || `${cluster.binaries.postgres} did not become ready in ${startSeconds} seconds`;
}

/**
 * Stops the server on a data directory, if one runs there. `fast` ends its sessions and writes a checkpoint;
 * `immediate` does not write anything, for data that are thrown away.
 * @throws Failure if it still runs afterwards.
 */
export async function halt(
  cluster: Pick<Cluster, 'account' | 'data'> & { readonly binaries: { readonly pgCtl: string } },
  mode: 'fast' | 'immediate',
): Promise<void> {
  if (!readPostmaster(cluster)) return;
  const args = ['stop', '--pgdata', cluster.data, '--mode', mode, '--timeout', '60'];
  const { code, output } = await runAs(cluster.account, cluster.binaries.pgCtl, args);
  // A server that was killed leaves its pid file behind; pg_ctl then finds no process of that number.
  if (code === 0 || !readPostmaster(cluster) || /No such process/.test(output)) return;
  throw new Failure('the embedded PostgreSQL could not be stopped', { detail: output });
}
