/**
 * One run of one rollup, in a process of its own, so that its memory can be told: `node bench/run.ts SETTINGS ROLLUP BOUND`.
 * Prints one line of JSON: milliseconds of the run and of each stage, kilobytes of memory at most, what it did.
 */
import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { createErrata, readSettings } from '../src/index.ts';

const [settingsFile = '', rollup = '', bound = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL });
const errata = createErrata({ pool, settings: readSettings(settingsFile, process.env) });
// The connection is there before the clock starts, as it is in `serve` and beside the other jobs.
await pool.query('select 1');
const started = performance.now();
const [result] = await errata.run({ rollups: [rollup], bound });
const milliseconds = performance.now() - started;
await pool.end();
if (!result || result.failure) throw result?.failure ?? new Error('no rollup ran');
const { counts, stageMilliseconds } = result.report;
console.log(
  JSON.stringify({
    milliseconds,
    stages: stageMilliseconds,
    kilobytes: peakKilobytes(),
    counts,
  }),
);

/** Linux counts into `maxRSS` what the process that started this one held; its own peak stands by itself. */
function peakKilobytes(): number {
  if (!existsSync('/proc/self/status')) return process.resourceUsage().maxRSS;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
}
