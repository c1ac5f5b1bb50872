/** Seal: version 1 of the windows that the watermark has passed, by whoever seals (R8). */
import { execute, query } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';

/** @returns how many versions 1 this run wrote or adopted; none where the stream inserts its own. */
export async function seal(run: RunContext, sealing: Sealing, stamp: string): Promise<number> {
  const { by } = run.rollup.settings.seal;
  const { pipeline } = run.statements;
  const span = {
    sealing_from: sealing.from,
    sealing_to: sealing.to,
    events_to: sealing.eventsTo,
    ingested_from: sealing.ingestedFrom,
    bound: run.bound,
  };
  if (by === 'errata') {
    if (sealing.from === sealing.to) return 0;
    await execute(run.transaction, pipeline.exclude_from_seal, {
      sealing_from: sealing.from,
      sealing_to: sealing.to,
      baseline: run.verb === 'baseline',
    });
    await query(run.transaction, 'analyze pg_temp.errata_excluded, pg_temp.errata_copied');
    const { count } = await execute(run.transaction, pipeline.seal, {
      ...span,
      run_id: run.runId,
      stamp,
      actor: run.actor,
      reason: run.reason,
      definition_fingerprint: run.fingerprint,
    });
    await query(run.transaction, 'truncate pg_temp.errata_excluded, pg_temp.errata_copied');
    return count;
  }
  let adopted = 0;
  if (by === 'table' && sealing.until !== null) {
    adopted = (
      await execute(run.transaction, pipeline.adopt, {
        sealed_until: sealing.until,
        run_id: run.runId,
        stamp,
        definition_fingerprint: run.fingerprint,
      })
    ).count;
  }
  if (sealing.from !== sealing.to) await execute(run.transaction, pipeline.unsealed, span);
  return adopted;
}
