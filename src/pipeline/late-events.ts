/** Late events: what landed late, straggled or is quarantined is kept by name, and the policy says who publishes it (R10). */
import type { PublishSettings } from '../config/settings.ts';
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';

/** Causes that a policy publishes by itself; the rest awaits a person. */
export const releasedCauses: Readonly<Record<PublishSettings['policy'], readonly string[]>> = {
  auto: ['late_firing', 'straggler', 'refused'],
  grace: ['late_firing', 'straggler'],
  review: [],
};

/** @returns how many late events are new. */
export async function keepLateEvents(run: RunContext): Promise<number> {
  const { count } = await execute(run.transaction, run.statements.pipeline.late_events, {
    run_id: run.runId,
    released_causes: releasedCauses[run.rollup.settings.publish.policy],
    baseline: run.verb === 'baseline',
    complete_from: run.completeFrom,
  });
  return count;
}
