/** Publish: append the versions, settle the states of events and the queue; the commit that follows shows all at once (R11). */
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';

export interface Published {
  readonly corrections: number;
  readonly included: number;
  readonly proposals: number;
}

export async function publish(run: RunContext, stamp: string): Promise<Published> {
  const { pipeline } = run.statements;
  const { transaction, runId } = run;
  const corrections = await execute(transaction, pipeline.publish, {
    run_id: runId,
    stamp,
    actor: run.actor,
    reason: run.reason,
    definition_fingerprint: run.fingerprint,
    kind: run.verb === 'restate' ? 'restatement' : 'correction',
  });
  await execute(transaction, pipeline.forget);
  const included = await execute(transaction, pipeline.include, { run_id: runId });
  await execute(transaction, pipeline.hold_events, { run_id: runId });
  const proposals = await execute(transaction, pipeline.propose, {
    rollup_id: run.rollup.id,
    run_id: runId,
    proposed_at: stamp,
    verb: run.verb,
    actor: run.actor,
    reason: run.reason,
  });
  await execute(transaction, pipeline.settle, { complete_from: run.completeFrom, run_id: runId });
  return { corrections: corrections.count, included: included.count, proposals: proposals.count };
}
