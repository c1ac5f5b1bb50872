import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { serverEnvironment } from './account.ts';
import { readPostmaster, removeCluster } from './cluster.ts';
import { halt } from './process.ts';

/** What a guard must know of its server; `temporary` says that the directory `home` is removed in the end. */
export interface Charge {
  readonly account: { readonly ids: { readonly uid: number; readonly gid: number } | undefined };
  readonly binaries: { readonly pgCtl: string };
  readonly home: string;
  readonly data: string;
  readonly temporary: boolean;
}

export interface Guard {
  /** Tells the guard the process number of the server, as soon as there is one. */
  watch(pid: number): void;
  /** Has the server stopped, and removed if it is temporary; resolves when that is done. */
  dismiss(): Promise<void>;
  /** Sends the guard away: the server on the data directory has turned out to be another process's. */
  release(): void;
  /** Asks the guard to leave the server running this much longer once our process has ended. */
  linger(seconds: number): void;
}

/**
 * Stops the server that a charge describes and removes it if it is temporary. On a kept data directory another process
 * may have started a server since; only the one with our process number is ours to stop.
 */
export async function discharge(charge: Charge, pid: number | undefined): Promise<void> {
  const running = readPostmaster(charge);
  if (charge.temporary) {
    await halt(charge, 'immediate');
    removeCluster(charge.home);
  } else if (running !== undefined && running.pid === pid) {
    await halt(charge, 'fast');
  }
}

/**
 * Starts the guard: a process in a session of its own that holds the other end of a pipe to us. It needs to be there
 * before the server is, so that there is no moment at which our death would leave the server behind.
 */
export function startGuard(charge: Charge): Guard {
  const program = new URL(import.meta.url.endsWith('.ts') ? 'guard.ts' : 'guard.js', import.meta.url);
  const guard = spawn(process.execPath, [fileURLToPath(program), JSON.stringify(charge)], {
    cwd: process.platform === 'win32' ? undefined : '/',
    env: serverEnvironment(),
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Neither the guard nor the pipe may keep our process from ending; a guard that is gone is noticed on dismissal.
  guard.unref();
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  let watched: number | undefined;
  return {
    watch: (pid) => {
      watched = pid;
      guard.stdin.write(`pid ${pid}\n`);
    },
    dismiss: () => dismiss(guard, charge, watched),
    release: () => {
      guard.stdin.end('leave\n');
    },
    linger: (seconds) => {
      guard.stdin.write(`linger ${seconds}\n`);
    },
  };
}

async function dismiss(guard: ChildProcess, charge: Charge, pid: number | undefined): Promise<void> {
  if (guard.pid !== undefined && guard.exitCode === null && guard.signalCode === null) {
    guard.ref();
    const ended = once(guard, 'exit');
    guard.stdin?.end('done\n');
    await ended;
  }
  // Whatever became of the guard, the server is gone when this returns, or the reason is thrown.
  await discharge(charge, pid);
}
