/** Late events: what landed late, straggled or is quarantined is kept by name, and the policy says who publishes it (R10). */
import { execute } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';
import { releasedCauses } from './released-causes.ts';
import { hasSessions, moveSessions } from './sessions.ts';

/** @returns how many late events are new. */
export async function keepLateEvents(run: RunContext, sealing: Sealing): Promise<number> {
  const { count } = await execute(run.transaction, run.statements.pipeline.late_events, {
    run_id: run.runId,
    released_causes: releasedCauses[run.rollup.settings.publish.policy],
    baseline: run.verb === 'baseline',
    complete_from: run.completeFrom,
    since: run.bound,
    knows_ids: !hasSessions(run.rollup),
  });
  if (hasSessions(run.rollup)) await moveSessions(run, sealing.until);
  return count;
}
