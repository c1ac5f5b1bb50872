/**
 * Several runs of one rollup in one invocation, each with its own commit: a long history is cut by ingestion time, a long
 * queue by a number of windows (R19). Where to cut changes no answer (R17), and what is committed stays: an invocation
 * that is ended goes on, the next time, where it was.
 */
import { bindingsOf } from '../catalog/bindings.ts';
import { microseconds } from '../catalog/describe.ts';
import { relationsOf } from '../catalog/relations.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { Duration } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';
import { changesShown, type RunReport } from './report.ts';
import { runRollup, type SpineOptions } from './run.ts';

export interface PartsOptions extends SpineOptions {
  /** Of ingestion time: each run goes so much further than the one before. */
  readonly step?: Duration | undefined;
  /** With `maxWindows`: as long as the queue holds windows that a run would take. */
  readonly untilDone?: boolean | undefined;
  /** Called after each commit. */
  readonly onRun?: ((report: RunReport, progress: Progress) => void) | undefined;
  /** Asked between two runs. */
  readonly signal?: AbortSignal | undefined;
}

export interface Progress {
  /** Counts from 1. */
  readonly runs: number;
  /** Where the last run will end; null where no step is set. */
  readonly target: string | null;
  /** Keyed windows that wait for the next run. */
  readonly left: number;
}

/** @returns what all runs did, and how the last one left it. @throws what a run throws; those before it stay committed. */
export async function runInParts(
  control: Control,
  rollup: Rollup,
  options: PartsOptions = {},
): Promise<RunReport> {
  const { step, untilDone, onRun, signal, ...each } = options;
  const reports: RunReport[] = [];
  const cuts = step ? await cutsOf(control, rollup, step, each.bound) : undefined;
  const bounds = cuts ? cuts.bounds : [each.bound];
  for (const bound of bounds) {
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      signal?.throwIfAborted();
      const report = await runRollup(control, rollup, { ...each, bound });
      reports.push(report);
      const left = await leftFor(control, rollup);
      onRun?.(report, { runs: reports.length, target: cuts?.target ?? null, left });
      // What a run has taken without an answer, such as a proposal that stands, is no reason for a further one.
      if (!untilDone || left === 0 || left >= before) break;
      before = left;
    }
  }
  return reports.length === 1 ? (reports[0] as RunReport) : together(reports);
}

/** The bounds of the runs: from the frontier, or bronze's first ingestion, to the bound asked for, or now. */
async function cutsOf(
  control: Control,
  rollup: Rollup,
  step: Duration,
  asked: string | undefined,
): Promise<{ bounds: (string | undefined)[]; target: string }> {
  return await inTransaction(control, 'read committed', async (transaction) => {
    const [span] = await query<{ target: string; bounds: string[] }>(
      transaction,
      `select s.target::text as target,
         array(
           select least(g.at, s.target)::text
           from generate_series(s.start + $2::interval, s.target + $2::interval, $2::interval) as g (at)
           where g.at < s.target + $2::interval
         ) as bounds
       from (
         select
           coalesce($3::timestamptz, statement_timestamp()) as target,
           coalesce(
             r.frontier,
             (
               select min(b.errata_ingested_at)
               from ${relationsOf(rollup).source}() as b
               where isfinite(b.errata_ingested_at)
             )
           ) as start
         from ${quoteName(rollup.schema)}.rollup as r
         where r.rollup_id = $1
       ) as s`,
      [rollup.id, microseconds(step), asked ?? null],
    );
    const bounds = span?.bounds ?? [];
    return { bounds: bounds.length > 0 ? bounds : [asked], target: span?.target ?? '' };
  });
}

/** How many keyed windows wait for nothing but a run. */
async function leftFor(control: Control, rollup: Rollup): Promise<number> {
  return await inTransaction(control, 'read committed', async (transaction) => {
    const [reach] = await query<{ sealed_until: string | null; complete_from: string; at: string }>(
      transaction,
      `select r.sealed_until::text as sealed_until, r.complete_from::text as complete_from, statement_timestamp()::text as at
       from ${quoteName(rollup.schema)}.rollup as r where r.rollup_id = $1`,
      [rollup.id],
    );
    const { rows } = await execute<{ waits_for: string; keyed_windows: string }>(
      transaction,
      prepare('report/queue.sql', bindingsOf(rollup)),
      {
        sealed_until: reach?.sealed_until ?? null,
        complete_from: reach?.complete_from ?? null,
        at: reach?.at ?? null,
      },
    );
    return rows
      .filter(({ waits_for: waitsFor }) => waitsFor === 'run')
      .reduce((sum, { keyed_windows: windows }) => sum + Number(windows), 0);
  });
}

/** Of each run what it did; the others of these counts say how it left things. */
const doneByEach = [
  'rows_examined',
  'late_firing',
  'side_output',
  'stragglers',
  'quarantined',
  'conflicts',
  'windows_sealed',
  'windows_touched',
  'windows_corrected',
  'windows_proposed',
  'events_pending',
];

function together(reports: readonly RunReport[]): RunReport {
  const last = reports.at(-1) as RunReport;
  const sum = (name: string) => reports.reduce((total, { counts }) => total + Number(counts[name] ?? 0), 0);
  return {
    ...last,
    counts: {
      runs: reports.length,
      ...last.counts,
      ...Object.fromEntries(doneByEach.map((name) => [name, sum(name)])),
    },
    changes: reports.flatMap(({ changes }) => changes).slice(-changesShown),
    needsAttention: last.needsAttention || sum('events_pending') > 0 || sum('windows_proposed') > 0,
  };
}
