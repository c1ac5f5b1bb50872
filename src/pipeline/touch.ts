/** Touch: keyed windows whose published value may be wrong enter the queue, and this run takes what it can answer (R9, R15). */
import { execute, query } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';
import { hasSessions, regroupSessions, takeLinkedSessions, touchSessions } from './sessions.ts';

/** @returns how many keyed windows this run recomputes. */
export async function touch(run: RunContext, sealing: Sealing): Promise<number> {
  const { pipeline } = run.statements;
  if (hasSessions(run.rollup) && sealing.until !== null) await regroupSessions(run, sealing.until);
  await execute(run.transaction, pipeline.touch, { run_id: run.runId, since: run.bound });
  if (hasSessions(run.rollup)) await touchSessions(run, sealing.until);
  if (sealing.until === null) return 0;
  const within = {
    sealed_until: sealing.until,
    complete_from: run.completeFrom,
    rollup_id: run.rollup.id,
  };
  if (run.isAsked) await execute(run.transaction, pipeline.take_asked, within);
  else await execute(run.transaction, pipeline.take, { ...within, max_windows: run.maxWindows });
  if (hasSessions(run.rollup) && run.maxWindows !== null) await takeLinkedSessions(run, sealing.until);
  // Without statistics the planner takes the work table for a thousand windows and may read all of bronze for three.
  await query(run.transaction, 'analyze pg_temp.errata_touched');
  const [row] = await query<{ windows: string }>(
    run.transaction,
    `select count(*) as windows from pg_temp.errata_touched where target = 'counted'`,
  );
  return Number(row?.windows ?? 0);
}
