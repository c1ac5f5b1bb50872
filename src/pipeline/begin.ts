/** Begin: take the rollup, fix the bound before anything is read, and lay out the work tables (R6, R18). */
import { microseconds } from '../catalog/describe.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupStatements } from '../catalog/statements.ts';
import { quoteName, quoteTable } from '../db/identifiers.ts';
import { execute, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { PausedRollup, pausedText, rollupLock, standingPause } from '../publication/acts.ts';
import type { RunContext, Snapshot } from './context.ts';
import { readOverrides } from './overrides.ts';

export interface RunOptions {
  readonly verb?: RunContext['verb'];
  /** An instant; the database's clock at the run's snapshot unless given. Never before the frontier. */
  readonly bound?: string | undefined;
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
  readonly readAll?: boolean;
  readonly maxWindows?: number | undefined;
  /** Only keyed windows that `before` puts into pg_temp.errata_asked are recomputed. */
  readonly isAsked?: boolean | undefined;
  /** The bound is the frontier: a person's word is about what has been examined, and nothing else is. */
  readonly atFrontier?: boolean | undefined;
  /** Nothing will be published: a paused rollup may be planned. */
  readonly isPlan?: boolean | undefined;
}

/** Another run committed between our snapshot and our lock: what we see is old, and the run starts again. */
export class StaleSnapshot extends Error {}

/** Bronze holds rows that no scan of this run has read: their partition's counters had not arrived yet. */
export class UnreadRows extends Error {}

/** @throws Failure with exit code 4 if another run holds the rollup; StaleSnapshot if the run must start again. */
export async function begin(
  transaction: ControlTransaction,
  rollup: Rollup,
  statements: RollupStatements,
  options: RunOptions,
): Promise<RunContext> {
  const schema = quoteName(rollup.schema);
  await holdBronze(transaction, rollup);
  // A lock of the transaction: it holds behind a transaction pooler, and a killed run leaves none.
  const [lock] = await query<{ taken: boolean }>(
    transaction,
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as taken',
    [rollupLock(rollup.schema, rollup.id)],
  );
  if (!lock?.taken) {
    throw new Failure(`another run holds rollup "${rollup.settings.name}"`, {
      hint: 'nothing was done; the next run takes over what is left',
      exitCode: 4,
    });
  }
  const row = await holdRollup(transaction, schema, rollup.id);
  if (!options.isPlan) await refusePaused(transaction, rollup);
  if (options.verb === 'baseline') refuseBaseline(rollup, row);
  if (options.atFrontier && row.frontier === null) throw nothingExamined(rollup);
  const asked = options.bound ?? (options.atFrontier ? (row.frontier as string) : undefined);
  const bound = await fixBound(transaction, rollup, statements, row.frontier, asked);
  const { rows } = await execute<
    Snapshot & { run_id: string; same_cluster: boolean; same_database: boolean }
  >(transaction, statements.pipeline.begin, {
    rollup_id: rollup.id,
    verb: options.verb ?? 'run',
    actor: options.actor ?? null,
    reason: options.reason ?? null,
    bound,
  });
  const [run] = rows;
  await execute(transaction, statements.pipeline.work);
  await execute(transaction, statements.pipeline.released);
  await readOverrides(transaction, rollup, statements);
  return {
    transaction,
    rollup,
    statements,
    runId: run?.run_id as string,
    verb: options.verb ?? 'run',
    bound,
    frontier: row.frontier,
    sealedBefore: row.sealed_until,
    completeFrom: row.complete_from,
    isCompleteFromKnown: row.complete_from_source !== 'empty',
    fingerprint: row.definition_fingerprint,
    actor: options.actor ?? null,
    reason: options.reason ?? null,
    readAll: options.readAll ?? false,
    maxWindows: options.maxWindows ?? null,
    isAsked: options.isAsked ?? false,
    snapshot: run as Snapshot,
    sameCluster: run?.same_cluster ?? true,
    sameDatabase: run?.same_database ?? true,
  };
}

/**
 * Before the snapshot, which a lock does not take: a partition that left after it would still be listed, read as empty,
 * and remembered as read (R15, R16).
 */
export async function holdBronze(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  if (!rollup.isLockable) return;
  await query(
    transaction,
    `lock table only ${quoteTable(rollup.settings.bronze.table)} in access share mode`,
  );
}

/** @throws PausedRollup */
async function refusePaused(
  transaction: ControlTransaction,
  { settings, schema, id }: Rollup,
): Promise<void> {
  const pause = await standingPause(transaction, schema, id);
  if (!pause) return;
  throw new PausedRollup(`rollup "${settings.name}" is paused`, {
    detail: pausedText(pause),
    hint: `\`errata resume ${settings.name}\` lets it run again; nothing was done`,
    exitCode: 2,
  });
}

interface RollupRow {
  readonly frontier: string | null;
  readonly sealed_until: string | null;
  readonly complete_from: string;
  readonly complete_from_source: string;
  readonly definition_fingerprint: string;
}

async function holdRollup(transaction: ControlTransaction, schema: string, id: number): Promise<RollupRow> {
  try {
    const [row] = await query<RollupRow>(
      transaction,
      `select r.frontier, r.sealed_until, r.complete_from, r.complete_from_source, r.definition_fingerprint
       from ${schema}.rollup as r where r.rollup_id = $1 for no key update`,
      [id],
    );
    return row as RollupRow;
  } catch (error) {
    if ((error as { code?: string }).code === '40001') throw new StaleSnapshot();
    throw error;
  }
}

function nothingExamined({ settings }: Rollup): Failure {
  return new Failure(`rollup "${settings.name}" has no run yet, and nothing published`, {
    hint: `\`errata run ${settings.name}\` makes the first`,
    exitCode: 2,
  });
}

/** A baseline seals a history that Errata has not touched yet (R8). */
function refuseBaseline({ settings }: Rollup, row: RollupRow): void {
  if (settings.seal.by !== 'errata') {
    throw new Failure(`rollup "${settings.name}" is not sealed by Errata, so it takes no baseline`, {
      hint: 'leave --baseline out: version 1 is what the stream shipped',
      exitCode: 2,
    });
  }
  if (row.frontier === null) return;
  throw new Failure(`rollup "${settings.name}" has runs already, so it takes no baseline`, {
    detail: `its frontier is ${row.frontier}`,
    hint: 'a baseline can only be the first run',
    exitCode: 2,
  });
}

/** Under `recorded` a run does not pass what the log has reached, unless it has waited `hold` for it (R6). */
async function fixBound(
  transaction: ControlTransaction,
  rollup: Rollup,
  statements: RollupStatements,
  frontier: string | null,
  asked: string | undefined,
): Promise<string> {
  const [row] = await query<{ bound: string; is_behind: boolean }>(
    transaction,
    `select b.bound::text as bound, coalesce(b.bound < $2::timestamptz, false) as is_behind
     from (select coalesce($1::timestamptz, greatest(statement_timestamp(), $2::timestamptz)) as bound) as b`,
    [asked ?? null, frontier],
  );
  if (row?.is_behind) {
    throw new Failure('the bound lies before what earlier runs have examined', {
      detail: `bound ${row.bound}, frontier ${frontier} of rollup "${rollup.settings.name}"`,
      hint: 'leave the bound out, or name a later one',
      exitCode: 2,
    });
  }
  const { strategy, hold, idleAfter, sourcePartitions = [] } = rollup.settings.watermark;
  const bound = row?.bound as string;
  if (strategy !== 'recorded' || hold.microseconds === 0n) return bound;
  const { rows } = await execute<{ bound: string }>(transaction, statements.pipeline.hold, {
    rollup_id: rollup.id,
    asked: bound,
    hold: microseconds(hold),
    idle_after: idleAfter ? microseconds(idleAfter) : null,
    frontier,
    declared: sourcePartitions.map(({ name }) => name),
  });
  return rows[0]?.bound as string;
}
