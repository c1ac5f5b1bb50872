import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Failure } from '../failure.ts';
import { type Cluster, lastSettings, readPostmaster, recallPassword, type Settings } from './cluster.ts';

/** A server that answers under this port and password. */
export interface Running {
  readonly port: number;
  readonly password: string;
  readonly settings: Settings;
}

/** The server that runs on this data directory and answers; undefined if there is none. */
export async function findRunning(cluster: Cluster): Promise<Running | undefined> {
  const postmaster = readPostmaster(cluster);
  if (!postmaster?.ready) return undefined;
  const running = {
    port: postmaster.port,
    password: recallPassword(cluster),
    settings: lastSettings(cluster),
  };
  return (await answers(cluster, running)) ? running : undefined;
}

// A pid file may outlive its server, and its port may belong to somebody else by now; the server itself knows.
async function answers(cluster: Cluster, { port, password }: Running): Promise<boolean> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 5000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query("select pg_catalog.current_setting('data_directory') as directory");
    return rows[0]?.directory === cluster.data;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Waits until the server that another process is just starting on this data directory answers.
 * @throws Failure if it does not within half a minute.
 */
export async function awaitOther(cluster: Cluster): Promise<Running> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    const running = await findRunning(cluster);
    if (running) return running;
    await pause(100);
  }
  throw new Failure('an embedded PostgreSQL runs on this data directory, but does not answer', {
    detail: `${cluster.data} is held by process ${readPostmaster(cluster)?.pid ?? 'unknown'}`,
    hint: `end that process if it is PostgreSQL, else remove ${join(cluster.data, 'postmaster.pid')}; then try again`,
  });
}

/** @throws Failure if the running server was started with other settings than these. */
export function checkSettings(running: Running, wanted: Settings, name: string): void {
  const differing = Object.entries(wanted).filter(([setting, value]) => running.settings[setting] !== value);
  if (differing.length === 0) return;
  throw new Failure(`the embedded PostgreSQL "${name}" is running with other settings`, {
    detail: differing
      .map(([setting, value]) => `${setting} is ${running.settings[setting] ?? 'not set'}, wanted ${value}`)
      .join('\n'),
    hint: 'stop it first; the next start gives it the new settings',
  });
}
