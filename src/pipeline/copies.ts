/** Copies: further rows with an event id already seen in the window (R5), in the windows that this run seals or corrects. */
import { execute } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';
import { hasSessions, recordSessionCopies } from './sessions.ts';

/** @returns how many copies are recorded anew or counted again. */
export async function findCopies(run: RunContext, sealing: Sealing): Promise<number> {
  if (run.rollup.settings.bronze.identity === 'unique_rows') return 0;
  if (hasSessions(run.rollup)) return await recordSessionCopies(run);
  const { count } = await execute(run.transaction, run.statements.pipeline.copies, {
    sealing_from: sealing.from,
    sealing_to: sealing.to,
    events_to: sealing.eventsTo,
    ingested_from: sealing.ingestedFrom,
    bound: run.bound,
    transaction: run.snapshot.transaction,
    run_id: run.runId,
  });
  return count;
}
