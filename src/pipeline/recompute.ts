/** Recompute: the measures of each touched keyed window, read whole from bronze (R7). */
import { execute, query } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { setWindowsAside, withoutFailing } from './failing.ts';
import { ingestedFrom } from './ingested-from.ts';
import { hasSessions, recomputeSessions } from './sessions.ts';

/** Those of which a measure cannot be computed leave `pg_temp.errata_touched` (R19). @param isUnsealed for version 1 */
export async function recompute(run: RunContext, isUnsealed = false): Promise<void> {
  const { transaction, statements } = run;
  await execute(transaction, statements.pipeline.exclude_from_recompute);
  await query(transaction, 'analyze pg_temp.errata_excluded, pg_temp.errata_copied');
  if (hasSessions(run.rollup)) await recomputeSessions(run);
  else {
    const [span] = await query<{ from: string | null; to: string | null }>(
      transaction,
      'select min(t.window_start)::text as "from", max(t.window_end)::text as "to" from pg_temp.errata_touched as t',
    );
    const values = { ingested_from: await ingestedFrom(run, span), bound: run.bound };
    await withoutFailing(
      run,
      () => execute(transaction, statements.pipeline.recompute, values),
      () => setWindowsAside(run, 'recompute', values, isUnsealed),
    );
  }
  if (!isUnsealed) await execute(transaction, statements.pipeline.computed);
  await query(transaction, 'analyze pg_temp.errata_result');
}
