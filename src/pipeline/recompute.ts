/** Recompute: the measures of each touched keyed window, read whole from bronze (R7). */
import { execute, query } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { setWindowsAside, withoutFailing } from './failing.ts';
import { ingestedFrom } from './ingested-from.ts';
import { planned } from './planned.ts';
import { hasSessions, recomputeSessions } from './sessions.ts';

/**
 * The planner takes the rows of the touched windows for a few hundred where they are millions: it would sort them in files
 * to group them, and keep those of each keyed window in memory in case they were asked for again, which they never are.
 */
const forGroups = { enable_sort: 'off', enable_memoize: 'off' };

/** Those of which a measure cannot be computed leave `pg_temp.errata_touched` (R19). @param isUnsealed for version 1 */
export async function recompute(run: RunContext, isUnsealed = false): Promise<void> {
  const { transaction, statements } = run;
  const { pipeline } = statements;
  await execute(transaction, pipeline.exclude_from_recompute);
  await query(transaction, 'analyze pg_temp.errata_excluded, pg_temp.errata_copied');
  if (hasSessions(run.rollup)) await recomputeSessions(run);
  else {
    const [span] = await query<{ from: string | null; to: string | null }>(
      transaction,
      'select min(t.window_start)::text as "from", max(t.window_end)::text as "to" from pg_temp.errata_touched as t',
    );
    await execute(transaction, pipeline.left_out);
    const whole = (await execute(transaction, pipeline.whole)).count;
    // Without statistics the planner takes the work table for a thousand windows and may read all of bronze for three.
    await query(transaction, 'analyze pg_temp.errata_touched');
    const values = { ingested_from: await ingestedFrom(run, span), bound: run.bound };
    await withoutFailing(
      run,
      () => planned(transaction, forGroups, () => execute(transaction, pipeline.recompute, values)),
      () => setWindowsAside(run, 'recompute', values, isUnsealed),
    );
    if (whole > 0) await execute(transaction, pipeline.whole_results);
  }
  if (!isUnsealed) await execute(transaction, pipeline.computed);
  await query(transaction, 'analyze pg_temp.errata_result');
}
