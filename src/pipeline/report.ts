/** What one run found and did, as data; the command line and `--json` print the same. Counts are exact, amounts text. */
import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, query } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { hideSecrets } from '../output/secrets.ts';
import { type Contradiction, readContradictions } from '../report/contradictions.ts';
import { readDrops } from '../report/drops.ts';
import type { RunContext, Sealing } from './context.ts';
import type { Verdict } from './diff.ts';
import type { RefusedEntries } from './refused.ts';
import type { Scan } from './scan.ts';
import type { Sealed } from './seal.ts';
import type { Stopwatch } from './stopwatch.ts';
import type { Passed } from './watermark.ts';

/** One keyed window that a run changes, proposes to change, or cannot. */
export interface Change {
  readonly window_start: string;
  readonly window_end: string;
  readonly local_date: string | null;
  readonly key: Readonly<Record<string, string | null>>;
  readonly verdict: Verdict;
  readonly causes: readonly string[];
  /** 0: the keyed window had no version. */
  readonly old_version: number;
  readonly is_void: boolean;
  readonly event_count: string;
  readonly old_event_count: string | null;
  /** Old and new value of each measure. */
  readonly measures: Readonly<Record<string, readonly [string | null, string | null]>>;
  /** New less old of each measure, absent and void counted as 0; null where the measure is no number. */
  readonly deltas: Readonly<Record<string, string | null>>;
  readonly why: string | null;
  /** Ids of the first five events behind it. */
  readonly events: readonly string[] | null;
  /** Of a proposal over sessions: those that it would replace; of one that would be void, the session that has its rows. */
  readonly replaces?: readonly SessionSpan[] | null;
  readonly replaced_by?: SessionSpan | null;
}

export interface SessionSpan {
  readonly window_start: string;
  readonly window_end: string;
}

/** A keyed window of which a measure cannot be computed: it stays in the queue, and each run tries it again. */
export interface FailingWindow {
  readonly window_start: string;
  readonly window_end: string;
  readonly key: Readonly<Record<string, string | null>>;
  /** Its version 1 is still to be written. */
  readonly is_unsealed: boolean;
  readonly error: string;
  readonly tries: number;
  readonly failed_run_id: string;
  readonly since: string;
  readonly age_seconds: string;
}

export interface RunReport {
  readonly rollup: string;
  readonly runId: string;
  readonly bound: string;
  readonly stamp: string;
  readonly watermark: string | null;
  readonly counts: Readonly<Record<string, number | string>>;
  readonly changes: readonly Change[];
  /** Where what this run found contradicts the settings. */
  readonly contradictions: readonly Contradiction[];
  /** Keyed windows of which a measure cannot be computed, those that wait longest; at most 100 (R19). */
  readonly failing: readonly FailingWindow[];
  readonly gone: readonly string[];
  readonly stageMilliseconds: Readonly<Record<string, number>>;
  /** Something in this run awaits a person: exit code 3. */
  readonly needsAttention: boolean;
}

interface Found {
  readonly scanned: Scan;
  readonly passed: Passed;
  readonly refused: RefusedEntries | undefined;
  readonly sealing: Sealing;
  readonly lateEvents: number;
  readonly sealed: Sealed;
  readonly touched: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  readonly stamp: string;
  readonly watch: Stopwatch;
}

/** The largest part of the windows that a report names, the latest first. */
export const changesShown = 1000;
export const failingShown = 100;

export async function reportOf(run: RunContext, found: Found): Promise<RunReport> {
  const { transaction, statements } = run;
  const { rows: landings } = await execute<{
    landing: string;
    state: string | null;
    released: boolean;
    events: string;
  }>(transaction, statements.report.landings, { run_id: run.runId });
  const { rows: changes } = await execute<Change>(transaction, statements.report.changes, {
    at_most: changesShown,
    released_only: true,
  });
  const landed = (landing: string) =>
    landings.filter((row) => row.landing === landing).reduce((sum, row) => sum + Number(row.events), 0);
  const newlyPending = landings
    .filter((row) => row.state === 'pending' && !row.released)
    .reduce((sum, row) => sum + Number(row.events), 0);
  const blocked =
    found.verdicts.wait +
    found.verdicts.missing +
    found.verdicts.unexamined +
    found.sealed.waiting +
    (await countIncomplete(run));
  const contradictions = await readContradictions(
    transaction,
    statements.report.contradictions,
    run.rollup,
    run.runId,
  );
  const failing = await readFailing(run);
  const waiting = await countWaiting(run);
  const drops = await readDrops(transaction, statements.report.drops, run.rollup);
  return {
    rollup: run.rollup.settings.name,
    runId: run.runId,
    bound: run.bound,
    stamp: found.stamp,
    watermark: found.sealing.until,
    counts: {
      rows_examined: Number(found.scanned.examined),
      late_firing: landed('late_firing'),
      side_output: landed('side_output'),
      stragglers: landed('open'),
      quarantined: landed('quarantined'),
      conflicts: landed('conflict'),
      windows_sealed: found.sealed.versions,
      windows_touched: found.touched,
      windows_corrected: found.verdicts.change + found.verdicts.emission,
      windows_proposed: found.verdicts.propose,
      ...(found.verdicts.held > 0 ? { windows_held: found.verdicts.held } : {}),
      windows_blocked: blocked,
      ...(failing.windows > 0 ? { windows_failing: failing.windows } : {}),
      ...(failing.rows > 0 ? { contributions_failing: failing.rows } : {}),
      sealing_blocked: found.sealing.blockedBy === null ? 0 : 1,
      events_pending: newlyPending,
      ...(waiting > 0 ? { proposals_waiting: waiting } : {}),
      ...(found.passed.wentBack > 0 ? { log_went_back: found.passed.wentBack } : {}),
      ...(found.passed.cameBehind > 0 ? { log_came_behind: found.passed.cameBehind } : {}),
      ...(drops.is_short
        ? { stream_dropped: Number(drops.dropped), stream_dropped_shown: Number(drops.shown) }
        : {}),
      ...(found.passed.ahead > 0 ? { stream_ahead: found.passed.ahead } : {}),
      ...(found.refused
        ? {
            refused_waiting: found.refused.waiting,
            // compared only: what it differs in is a contradiction
            ...(run.rollup.settings.watermark.strategy === 'external'
              ? { refused_judged_otherwise: found.refused.judgedOtherwise }
              : {}),
          }
        : {}),
      ...(contradictions.length > 0 ? { contradictions: contradictions.length } : {}),
    },
    changes,
    contradictions,
    failing: failing.named,
    gone: found.scanned.gone,
    stageMilliseconds: found.watch.milliseconds,
    needsAttention:
      newlyPending > 0 ||
      blocked > 0 ||
      failing.windows > 0 ||
      failing.rows > 0 ||
      found.sealing.blockedBy !== null ||
      found.verdicts.propose > 0 ||
      found.verdicts.held > 0 ||
      waiting > 0,
  };
}

/** What stands in the queue with an error, and how many rows of this run have no contribution of their own. */
async function readFailing(
  run: RunContext,
): Promise<{ named: readonly FailingWindow[]; windows: number; rows: number }> {
  const { rows } = await execute<FailingWindow & { in_all: string }>(
    run.transaction,
    run.statements.report.failing,
    { at_most: failingShown, at: run.bound },
  );
  const [unmeasured] = await query<{ rows: string }>(
    run.transaction,
    'select count(*) as rows from pg_temp.errata_failing_row',
  );
  return {
    named: rows.map(({ in_all: _, ...window }) => window),
    windows: Number(rows[0]?.in_all ?? 0),
    rows: Number(unmeasured?.rows ?? 0),
  };
}

/** Open proposals that this run has not looked at. */
async function countWaiting(run: RunContext): Promise<number> {
  const { rows } = await execute<{ proposals: string }>(run.transaction, run.statements.waitingProposals, {
    rollup_id: run.rollup.id,
  });
  return Number(rows[0]?.proposals ?? 0);
}

/** Keyed windows in the queue that start before bronze is complete (R15). */
async function countIncomplete(run: RunContext): Promise<number> {
  const [row] = await query<{ blocked_windows: string }>(
    run.transaction,
    `select (w.blocked)::text as blocked_windows from (select count(*) as blocked from ${run.statements.touched} as q where q.window_start < $1::timestamptz) as w`,
    [run.completeFrom],
  );
  return Number(row?.blocked_windows ?? 0);
}

/** Keeps the error of a run that failed, in a transaction of its own; the run itself left nothing. */
export async function noteFailure(
  control: Control,
  rollup: Rollup,
  verb: RunContext['verb'],
  error: unknown,
): Promise<void> {
  // Wrong usage, a held rollup and what cannot be done for a person are no runs.
  if (error instanceof Failure && error.exitCode !== 1) return;
  const { detail } = error as { detail?: string };
  const failure = {
    message: hideSecrets(error instanceof Error ? error.message : String(error)),
    code: (error as { code?: string }).code ?? null,
    detail: detail === undefined ? null : hideSecrets(detail),
  };
  try {
    await inTransaction(control, 'read committed', (transaction) =>
      query(
        transaction,
        `with total as (
           insert into ${quoteName(rollup.schema)}.run_total as t (rollup_id, name, total)
           values ($1, 'failed_runs', 1)
           on conflict (rollup_id, name) do update set total = t.total + 1
         )
         insert into ${quoteName(rollup.schema)}.run (rollup_id, verb, outcome, started_at, finished_at, failure)
         values ($1, $2, 'failed', clock_timestamp(), clock_timestamp(), $3::jsonb)`,
        [rollup.id, verb, JSON.stringify(failure)],
      ),
    );
  } catch {
    // The database that failed the run may not take a note of it either; the error itself is thrown on.
  }
}
