/** Late events: what landed late, straggled or is quarantined is kept by name, and the policy says who publishes it (R10). */
import { execute } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';
import { lookUpIds } from './copies.ts';
import { setRowsAside, withoutFailing } from './failing.ts';
import { releasedCauses } from './released-causes.ts';
import { hasSessions, moveSessions } from './sessions.ts';

/** @returns how many late events are new. */
export async function keepLateEvents(run: RunContext, sealing: Sealing): Promise<number> {
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
  if (count > 0 && (await hasIdIndex(run)))
    await lookUpIds(run.transaction, run.statements.pipeline.elsewhere, {
      bound: run.bound,
      run_id: run.runId,
    });
  if (hasSessions(run.rollup)) await moveSessions(run, sealing.until);
  return count;
}

/** Only then is it cheap to ask bronze for an id in other windows (R5). */
async function hasIdIndex({ transaction, rollup, statements }: RunContext): Promise<boolean> {
  const [id, ...more] = rollup.ids;
  if (!id || more.length > 0 || !rollup.hasRowAge) return false;
  const { rows } = await execute<{ has_index: boolean }>(transaction, statements.pipeline.id_index, {
    relation_id: rollup.relationId,
    column: id.name,
  });
  return rows[0]?.has_index ?? false;
}
