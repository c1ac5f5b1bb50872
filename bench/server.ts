/** The server of the bench, embedded and thrown away at the end; and a run of Errata against it. */
import { execFile } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lean } from '../bin/find-node.mjs';
import { type EmbeddedServer, startEmbedded } from '../src/embedded/server.ts';

/** What PostgreSQL's own defaults are too small for, on a machine of some gigabytes; nothing that favours one job. */
const settings = {
  shared_buffers: '2GB',
  work_mem: '64MB',
  maintenance_work_mem: '512MB',
  effective_cache_size: '12GB',
  random_page_cost: '1.1',
  max_wal_size: '8GB',
};

/** Started; `BENCH_DATABASE_URL`, which the settings of the bench name, is its address. */
export async function startServer(): Promise<EmbeddedServer> {
  const server = await startEmbedded({ name: 'bench', keep: false, settings });
  process.env.BENCH_DATABASE_URL = server.url;
  return server;
}

export interface Done {
  readonly milliseconds: number;
  readonly stages: Readonly<Record<string, number>>;
  readonly kilobytes: number;
}

/** One run of one rollup, in a process of its own, as the command would start it. */
export async function runApart(settingsFile: string, rollup: string, bound: string): Promise<Done> {
  const file = fileURLToPath(new URL('run.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...lean,
    file,
    settingsFile,
    rollup,
    bound,
  ]);
  return JSON.parse(stdout) as Done;
}

/** What the figures hold for. */
export function machineText(server: EmbeddedServer): string {
  const set = Object.entries(settings).map((setting) => setting.join(' '));
  return `PostgreSQL ${server.version}, Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model}), ${Math.round(totalmem() / 2 ** 30)} GB; ${set.join(', ')}; fsync off`;
}

export function say(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

export async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  await work();
  say(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
