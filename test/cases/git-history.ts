/** The real history of late data in `test/cases/git`: its rows, its settings and the right answers. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const directory = new URL('./git/', import.meta.url);

export interface GitTotals {
  readonly rows: number;
  readonly quarantined: number;
  readonly version_1: number;
  readonly corrected_under_auto: number;
  readonly corrected_under_grace: number;
  readonly sealed_total: readonly number[];
  readonly latest_total_auto: readonly number[];
  readonly latest_total_grace: readonly number[];
  readonly final_watermark: string;
}

export async function loadGitHistory(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`
      create schema if not exists bronze;
      create table bronze.changes (
        event_id text, folder text, event_time timestamptz, ingested_at timestamptz,
        files integer, insertions integer, deletions integer
      )`);
    const into = client.query(copyFrom('copy bronze.changes from stdin with (format csv, header)'));
    await pipeline(Readable.from([readFileSync(new URL('events.csv.gz', directory))]), createGunzip(), into);
    await client.query('create index on bronze.changes (folder, event_time); analyze bronze.changes');
  } finally {
    client.release();
  }
}

export function gitYaml(parameters: {
  delay: string;
  lateness: string;
  skew: string;
  policy: string;
}): string {
  return `
rollups:
  daily_changes:
    gold: gold.daily_changes
    bronze:
      table: bronze.changes
      event_id: event_id
      event_time: event_time
      ingested_at: ingested_at
      complete_from: 0001-01-01
    window: { tumbling: 1 day }
    key: [folder]
    measures:
      changes: count(*)
      files: sum(files)
      insertions: sum(insertions)
      deletions: sum(deletions)
    watermark: { strategy: bounded, delay: ${parameters.delay}, max_future_skew: ${parameters.skew} }
    allowed_lateness: ${parameters.lateness}
    seal: { by: errata }
    publish: { policy: ${parameters.policy} }
`;
}

/** Lines of an expected file, header first, without the line end of the last. */
export function readGitCsv(stem: string): string[] {
  return gunzipSync(readFileSync(new URL(`${stem}.csv.gz`, directory)))
    .toString('utf8')
    .trimEnd()
    .split('\n');
}

export function readGitTotals(name: string): GitTotals {
  return JSON.parse(readFileSync(new URL(`expected_${name}.json`, directory), 'utf8'));
}
