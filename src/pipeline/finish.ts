/** Finish: move the frontier and settle what is known, in the commit that publishes (R6, R11). */
import { execute } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';

/** The instant of publication; stamps of one rollup follow the order of its commits. */
export async function takeStamp(run: RunContext): Promise<string> {
  const { rows } = await execute<{ stamp: string }>(run.transaction, run.statements.pipeline.stamp, {
    rollup_id: run.rollup.id,
  });
  return rows[0]?.stamp as string;
}

export async function finish(
  run: RunContext,
  sealing: Sealing,
  stamp: string,
  outcome: 'done' | 'attention',
  counts: Readonly<Record<string, number | string>>,
  stageMilliseconds: Readonly<Record<string, number>>,
): Promise<void> {
  const { overrides } = run.statements;
  if (overrides)
    await execute(run.transaction, overrides.remember_overrides, { sealed_until: sealing.until });
  await execute(run.transaction, run.statements.pipeline.tell_stamp, { stamp });
  await execute(run.transaction, run.statements.pipeline.finish, {
    rollup_id: run.rollup.id,
    run_id: run.runId,
    bound: run.bound,
    sealed_until: sealing.until,
    stamp,
    outcome,
    counts: JSON.stringify(counts),
    stage_milliseconds: JSON.stringify(stageMilliseconds),
  });
  await execute(run.transaction, run.statements.pipeline.total, {
    rollup_id: run.rollup.id,
    counts: JSON.stringify(counts),
  });
}
