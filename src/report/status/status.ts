/** Where a rollup stands, as data. Instants, counts and seconds are text; bronze is asked last, and may be gone. */
import { bindingsOf } from '../../catalog/bindings.ts';
import { definitionOf, fingerprintOf } from '../../catalog/definition.ts';
import { describeRollup } from '../../catalog/describe.ts';
import type { RollupSettings, Settings } from '../../config/settings.ts';
import type { Control, RunVerb } from '../../db/control.ts';
import type { Bindings } from '../../db/sql.ts';
import { execute, prepare, query } from '../../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../../db/transaction.ts';
import { type Act, standingPause } from '../../publication/acts.ts';
import { type Drops, readDrops } from '../drops.ts';
import { publishedRollup } from '../published-rollup.ts';

export interface LastRun {
  readonly run_id: string;
  readonly verb: RunVerb;
  readonly outcome: 'done' | 'attention' | 'failed';
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly age_seconds: string | null;
  readonly bound: string | null;
  readonly stamp: string | null;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly counts: Readonly<Record<string, string | number>>;
  readonly failure: {
    readonly message: string;
    readonly code: string | null;
    readonly detail: string | null;
  } | null;
}

export interface Queued {
  readonly waits_for: 'run' | 'seal' | 'failing' | 'blocked';
  /** Of those that fail the error. */
  readonly reason: string | null;
  /** Of those that fail: by so many runs in succession. */
  readonly tries: number;
  readonly keyed_windows: string;
  readonly first_window_start: string;
  readonly last_window_start: string;
  readonly since: string;
  readonly age_seconds: string;
}

export interface WaitingEvents {
  readonly state: 'pending' | 'held';
  /** Somebody has released them already: they wait for a run. */
  readonly released: boolean;
  /** They are in an open proposal: they wait for a person. */
  readonly is_proposed: boolean;
  readonly events: string;
  readonly windows: string;
  readonly first_window_start: string;
  readonly measures: Readonly<Record<string, string | null>>;
}

interface Standing {
  readonly frontier: string | null;
  /** Negative where the bound lay in the future. */
  readonly frontier_lag_seconds: string | null;
  readonly sealed_until: string | null;
  readonly watermark_lag_seconds: string | null;
  readonly settled_until: string;
  readonly complete_from: string;
  readonly complete_from_source: 'setting' | 'partition' | 'first_ingestion' | 'empty';
  readonly gone: readonly string[];
  readonly open_proposals: string;
  readonly late_seals: string;
  readonly quarantined: string;
  /** Entries of the stream's refused rows whose row is not in bronze, and since when the first waits. */
  readonly refused_waiting: string;
  readonly refused_waiting_since: string | null;
  /** Entries that came after their row had been judged: it stays what it was (R6). */
  readonly refused_judged_otherwise: string;
}

/** As the last run left it. */
export interface SourcePartition {
  /** NULL: the rows or entries that name none. */
  readonly source_partition: string | null;
  readonly watermark: string | null;
  /** Its last row, or under `recorded` its last entry. */
  readonly last_activity: string | null;
  readonly age_seconds: string | null;
  /**
   * `silent`: declared, and nothing came yet; `expected`: declared from a later instant on; `unknown`: all that came of it
   * came too late to tell.
   */
  readonly state: 'active' | 'idle' | 'marked idle' | 'silent' | 'expected' | 'unknown';
  readonly declared_since: string | null;
  /** Entries of its log below an earlier one, and behind the frontier: they moved nothing. */
  readonly went_back: string;
  readonly came_behind: string;
  /** Rows that the stream says it dropped; null where its log does not count them. */
  readonly dropped: string | null;
}

/** Notices that nobody has received yet. */
export interface Undelivered {
  readonly undelivered: string;
  readonly oldest_age_seconds: string | null;
  /** Of the one that was tried most often. */
  readonly attempts: number;
  readonly last_error: string | null;
}

/** Of `errata serve`. */
export interface ScheduleStatus {
  readonly cron: string;
  readonly time_zone: string;
  /** The last due moment that a run has answered; null: none yet. */
  readonly due_at: string | null;
  /** Moments that this run answered too, since nothing ran when they were due. */
  readonly missed: string | null;
  readonly run_id: string | null;
  /** In succession; null: the last scheduled run did not fail. */
  readonly failures: number | null;
  readonly failed_at: string | null;
  readonly next_attempt_at: string | null;
  readonly error: string | null;
}

export interface RollupStatus extends Standing {
  readonly rollup: string;
  /** The database's clock. */
  readonly at: string;
  readonly last_run: LastRun | null;
  readonly last_success: LastRun | null;
  readonly last_error: LastRun | null;
  /** The pause that stands: `run` passes the rollup over. */
  readonly paused: Act | null;
  /** Null where the settings have no schedule. */
  readonly schedule: ScheduleStatus | null;
  readonly queue: readonly Queued[];
  readonly waiting: readonly WaitingEvents[];
  /** Those with the least watermark first; empty where all rows are one. */
  readonly source_partitions: readonly SourcePartition[];
  readonly drops: Drops;
  readonly notices: Undelivered;
  /** What does not fit between the settings and bronze, if anything: a run would refuse to begin. */
  readonly faults: readonly string[];
  /** The settings have changed since they were migrated: a run would refuse to begin. */
  readonly is_changed: boolean;
}

/** @param at an instant; left out: the database's clock. @throws Failure, exit code 2, if it is not migrated. */
export async function readStatus(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  at?: string,
): Promise<RollupStatus> {
  return await inTransaction(control, 'repeatable read', async (transaction) => {
    const rollup = await publishedRollup(transaction, settings, chosen);
    const now = at ?? (await clock(transaction));
    const bindings = bindingsOf(rollup);
    const about = { rollup_id: rollup.id, at: now };
    const { rows } = await execute<Standing>(transaction, prepare('report/status.sql', bindings), about);
    const standing = rows[0] as Standing;
    const { rows: runs } = await execute<LastRun & { place: string }>(
      transaction,
      prepare('report/last_runs.sql', bindings),
      about,
    );
    const { rows: queue } = await execute<Queued>(transaction, prepare('report/queue.sql', bindings), {
      sealed_until: standing.sealed_until,
      complete_from: standing.complete_from,
      at: now,
    });
    const { rows: waiting } = await execute<WaitingEvents>(
      transaction,
      prepare('report/waiting_events.sql', bindings),
      { rollup_id: rollup.id },
    );
    const { rows: sourcePartitions } = await execute<SourcePartition>(
      transaction,
      prepare('report/source_partitions.sql', bindings),
      about,
    );
    const { rows: notices } = await execute<Undelivered>(
      transaction,
      prepare('report/undelivered.sql', bindings),
      { rollup: chosen.name, at: now },
    );
    return {
      rollup: chosen.name,
      at: now,
      ...standing,
      last_run: runAt(runs, 'last'),
      last_success: runAt(runs, 'success'),
      last_error: runAt(runs, 'failure'),
      paused: await standingPause(transaction, settings.schema, rollup.id),
      schedule: await scheduleOf(transaction, bindings, chosen, rollup.id),
      queue,
      waiting,
      source_partitions: sourcePartitions,
      drops: await readDrops(transaction, prepare('report/drops.sql', bindings), rollup),
      notices: notices[0] as Undelivered,
      ...(await fitOf(transaction, settings, chosen, rollup.id)),
    };
  });
}

async function scheduleOf(
  transaction: ControlTransaction,
  bindings: Bindings,
  { schedule }: RollupSettings,
  id: number,
): Promise<ScheduleStatus | null> {
  if (schedule === undefined) return null;
  const { rows } = await execute<Omit<ScheduleStatus, 'cron' | 'time_zone'>>(
    transaction,
    prepare('report/schedule.sql', bindings),
    { rollup_id: id },
  );
  return {
    cron: schedule.cron,
    time_zone: schedule.timeZone,
    ...(rows[0] as Omit<ScheduleStatus, 'cron' | 'time_zone'>),
  };
}

function runAt(runs: readonly (LastRun & { place: string })[], wanted: string): LastRun | null {
  const found = runs.find(({ place }) => place === wanted);
  if (!found) return null;
  const { place: _, ...run } = found;
  return run;
}

async function clock(transaction: ControlTransaction): Promise<string> {
  const [row] = await query<{ now: string }>(transaction, 'select clock_timestamp()::text as now');
  return row?.now as string;
}

/** What a run would refuse to begin for. It leaves no trace in the control tables, so it is looked for here. */
async function fitOf(
  transaction: ControlTransaction,
  settings: Settings,
  chosen: RollupSettings,
  id: number,
): Promise<Pick<RollupStatus, 'faults' | 'is_changed'>> {
  const { rollup, faults } = await describeRollup(transaction, settings.schema, chosen);
  const known = await transaction
    .selectFrom('rollup')
    .select('definition_fingerprint')
    .where('rollup_id', '=', id)
    .executeTakeFirst();
  return {
    faults: faults.map(({ place, fact }) => `${place}: ${fact}`),
    is_changed:
      faults.length === 0 &&
      rollup !== undefined &&
      known?.definition_fingerprint !== fingerprintOf(definitionOf(rollup)),
  };
}
