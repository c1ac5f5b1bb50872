/** Recompute: the measures of each touched keyed window, read whole from bronze (R7). */
import { execute, query } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { hasSessions, recomputeSessions } from './sessions.ts';
import { skewOf } from './watermark.ts';

export async function recompute(run: RunContext): Promise<void> {
  const [floor] = await query<{ ingested_from: string | null }>(
    run.transaction,
    'select min(t.window_start) - $1::interval as ingested_from from pg_temp.errata_touched as t',
    [skewOf(run.rollup)],
  );
  await execute(run.transaction, run.statements.pipeline.exclude_from_recompute);
  await query(run.transaction, 'analyze pg_temp.errata_excluded, pg_temp.errata_copied');
  if (hasSessions(run.rollup)) await recomputeSessions(run);
  else {
    await execute(run.transaction, run.statements.pipeline.recompute, {
      ingested_from: floor?.ingested_from ?? null,
      bound: run.bound,
    });
  }
  await query(run.transaction, 'analyze pg_temp.errata_result');
}
