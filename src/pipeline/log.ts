/**
 * What the stream's log of watermarks says beside them: entries that appeared behind the frontier, where they move
 * nothing (R6), and how many rows the stream dropped.
 *
 *     ──────────────────────────┬─────────────────────────────┬──────────▶ `at`
 *      looked through once a day │ counted again by every run │ bound
 *                                └ one to two days before the frontier
 */
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';

interface KnownLog {
  readonly relations: readonly string[];
  /** Its entries bear the transaction that wrote them. */
  readonly has_row_age: boolean;
  /** It is time to look through all of it. */
  readonly is_due: boolean;
  readonly recounted_from: string | null;
  readonly known_relations: readonly string[] | null;
  readonly horizon_age: number | null;
  readonly seen: string | null;
  readonly next_from: string;
}

/** @returns how many entries came behind the frontier and were not reported before. */
export async function readLog(run: RunContext): Promise<number> {
  const { transaction, statements, rollup, frontier, bound } = run;
  const about = { rollup_id: rollup.id, frontier, bound };
  const known = await execute<KnownLog>(transaction, statements.pipeline.log_known, {
    ...about,
    transaction: run.snapshot.transaction,
    is_restored: !run.sameCluster || !run.sameDatabase,
  });
  const log = known.rows[0] as KnownLog;
  const read = await execute<CameBehind>(transaction, statements.pipeline.log_read, {
    ...about,
    from: log.recounted_from,
    next_from: log.next_from,
  });
  return Number(read.rows[0]?.came_behind ?? 0) + (log.is_due ? await lookThrough(run, log) : 0);
}

interface CameBehind {
  readonly came_behind: string;
}

async function lookThrough(run: RunContext, log: KnownLog): Promise<number> {
  const { rows } = await execute<CameBehind>(run.transaction, run.statements.pipeline.log_look, {
    rollup_id: run.rollup.id,
    recounted_from: log.horizon_age === null ? null : log.recounted_from,
    relations: log.relations,
    known_relations: log.known_relations,
    horizon_age: log.horizon_age,
    seen: log.seen,
    transaction: run.snapshot.transaction,
    horizon: run.snapshot.horizon,
    horizon_age_now: run.snapshot.horizon_age,
    next_from: log.next_from,
  });
  return Number(rows[0]?.came_behind ?? 0);
}
