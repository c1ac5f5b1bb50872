/** Notify: who listens, and the outbox, learn which keyed windows this run changed, in the same commit. */
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';

export async function notify(run: RunContext, stamp: string): Promise<void> {
  const { name, notices } = run.rollup.settings;
  await execute(run.transaction, run.statements.pipeline.notify, {
    run_id: run.runId,
    stamp,
    rollup: name,
    has_webhook: notices !== undefined,
  });
}
