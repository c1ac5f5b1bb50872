/** Recompute: the measures of each touched keyed window, read whole from bronze (R7). */
import { execute, query } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { ingestedFrom } from './ingested-from.ts';
import { hasSessions, recomputeSessions } from './sessions.ts';

export async function recompute(run: RunContext): Promise<void> {
  await execute(run.transaction, run.statements.pipeline.exclude_from_recompute);
  await query(run.transaction, 'analyze pg_temp.errata_excluded, pg_temp.errata_copied');
  if (hasSessions(run.rollup)) await recomputeSessions(run);
  else {
    const [span] = await query<{ from: string | null; to: string | null }>(
      run.transaction,
      'select min(t.window_start)::text as "from", max(t.window_end)::text as "to" from pg_temp.errata_touched as t',
    );
    await execute(run.transaction, run.statements.pipeline.recompute, {
      ingested_from: await ingestedFrom(run, span),
      bound: run.bound,
    });
  }
  await query(run.transaction, 'analyze pg_temp.errata_result');
}
