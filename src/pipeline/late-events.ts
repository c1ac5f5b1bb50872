/** Late events: what landed late, straggled or is quarantined is kept by name, and the policy says who publishes it (R10). */
import { execute, query } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';
import { findLateIds } from './copies.ts';
import { setRowsAside, withoutFailing } from './failing.ts';
import { releasedCauses } from './released-causes.ts';
import type { Scan } from './scan.ts';
import { hasSessions, moveSessions } from './sessions.ts';

/** @returns how many late events are new. */
export async function keepLateEvents(run: RunContext, sealing: Sealing, scanned: Scan): Promise<number> {
  const { pipeline, failing } = run.statements;
  const values = {
    run_id: run.runId,
    released_causes: releasedCauses[run.rollup.settings.publish.policy],
    baseline: run.verb === 'baseline',
    complete_from: run.completeFrom,
    sealed_until: sealing.until,
    since: run.bound,
    knows_ids: !hasSessions(run.rollup),
  };
  const { count } = await withoutFailing(
    run,
    (isWithout) =>
      execute(run.transaction, isWithout ? failing.without.late_events : pipeline.late_events, values),
    () => setRowsAside(run),
  );
  if (count > 0 && scanned.idSpans) {
    // of sessions nothing is known yet of ids in others
    if (hasSessions(run.rollup)) {
      await findLateIds(run, { from: '-infinity', to: 'infinity' }, scanned);
      await query(run.transaction, 'analyze pg_temp.errata_same_id');
    }
    await execute(run.transaction, run.statements.pipeline.elsewhere, {
      bound: run.bound,
      run_id: run.runId,
    });
  }
  if (hasSessions(run.rollup)) await moveSessions(run, sealing.until);
  return count;
}
