/** The real history of late data in `test/cases/git`: its rows, its settings and the right answers. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { expect } from 'vitest';
import type { TestErrata } from '../support/errata.ts';

const directory = new URL('./git/', import.meta.url);
// The one copy of the rows serves the example too.
const events = new URL('../../examples/git/events.csv.gz', import.meta.url);

export const parameterSets = {
  '7d': { delay: '7 days', lateness: '0', skew: 'none' },
  '1d_grace_2d': { delay: '1 day', lateness: '2 days', skew: '3 hours' },
} as const;

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

/** Fills `staging.changes` with the whole history and makes an empty `bronze.changes` of the same columns. */
export async function loadGitHistory(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`
      create schema staging;
      create schema bronze;
      create table staging.changes (
        event_id text, folder text, event_time timestamptz, ingested_at timestamptz,
        files integer, insertions integer, deletions integer
      );
      create table bronze.changes (like staging.changes);
      create index on bronze.changes (folder, event_time)`);
    const into = client.query(copyFrom('copy staging.changes from stdin with (format csv, header)'));
    await pipeline(Readable.from([readFileSync(events)]), createGunzip(), into);
  } finally {
    client.release();
  }
}

/** Lands the part of the history that was ingested in `(after, upTo]`; null: no limit. */
export async function land(errata: TestErrata, after: string | null, upTo: string | null): Promise<void> {
  await errata.rows(
    `insert into bronze.changes select * from staging.changes
     where ($1::timestamptz is null or ingested_at > $1) and ($2::timestamptz is null or ingested_at <= $2)`,
    [after, upTo],
  );
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

/** Every keyed window and every late event as three independent programs computed them. */
export async function expectGitHistory(
  errata: TestErrata,
  name: keyof typeof parameterSets,
  policy: 'auto' | 'grace',
): Promise<void> {
  const landings = policy === 'auto' ? ['open', 'late_firing', 'side_output'] : ['open', 'late_firing'];
  const expected = { sealed: [] as string[], latest: [] as string[] };
  for (const row of readGitCsv(`expected_${name}_keyed_windows`)) {
    if (row.is_sealed !== 't') continue;
    const sums = (names: readonly string[]) =>
      ['rows', 'files', 'insertions', 'deletions'].map((measure) =>
        names.reduce((sum, landing) => sum + Number(row[`${landing}_${measure}`]), 0),
      );
    const line = (values: number[]) => [row.window_start, row.folder, ...values].join(',');
    if (row.open_rows !== '0') expected.sealed.push(line(sums(['open'])));
    if (sums(landings)[0] !== 0) expected.latest.push(line(sums(landings)));
  }
  const published = (relation: string, rest = '') =>
    errata.rows<{ line: string }>(
      `select concat_ws(',', to_char(window_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), folder, changes, files, insertions, deletions) as line
       from gold.daily_changes_${relation} ${rest} order by window_start, folder collate "C"`,
    );
  const lines = (rows: { line: string }[]) => rows.map((row) => row.line);
  expect(lines(await published('sealed'))).toEqual(expected.sealed.sort(byWindowAndFolder));
  expect(lines(await published('latest'))).toEqual(expected.latest.sort(byWindowAndFolder));

  const late = await errata.rows<{ line: string }>(
    `select concat_ws(',', event_id, landing, to_char(watermark at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
       to_char(window_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), folder) as line
     from gold.daily_changes_late_event where landing in ('late_firing', 'side_output') order by event_id collate "C"`,
  );
  expect(lines(late)).toEqual(
    readGitCsv(`expected_${name}_late_events`).map((row) =>
      [row.event_id, row.landing, row.watermark, row.window_start, row.folder].join(','),
    ),
  );
}

function byWindowAndFolder(a: string, b: string): number {
  const [at = '', af = ''] = a.split(',');
  const [bt = '', bf = ''] = b.split(',');
  return at < bt ? -1 : at > bt ? 1 : Buffer.compare(Buffer.from(af), Buffer.from(bf));
}

/** The rows of an expected file, by the names of its header. */
export function readGitCsv(stem: string): Record<string, string>[] {
  const text = gunzipSync(readFileSync(new URL(`${stem}.csv.gz`, directory))).toString('utf8');
  const [header = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(header.map((name, place) => [name, row[place] ?? ''])));
}

export function readGitTotals(name: string): GitTotals {
  return JSON.parse(readFileSync(new URL(`expected_${name}.json`, directory), 'utf8'));
}
