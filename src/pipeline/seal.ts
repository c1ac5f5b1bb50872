/** Seal: version 1 of the windows that the watermark has passed, by whoever seals (R8). */
import { execute, query } from '../db/statement.ts';
import { UnreadRows } from './begin.ts';
import type { RunContext, Sealing } from './context.ts';
import { setWindowsAside, withoutFailing } from './failing.ts';
import { measureSealing, type SealingSpan } from './partials.ts';
import { planned } from './planned.ts';
import { hashed, recompute } from './recompute.ts';
import { askForUnsealedSessions, hasSessions, sealSessions } from './sessions.ts';

export interface Sealed {
  /** Versions 1 that this run wrote or adopted; none where the stream inserts its own. */
  readonly versions: number;
  /** Sessions whose version 1 waits for rows that bronze does not hold. */
  readonly waiting: number;
  /** Keyed windows whose version 1, of the stream, is what their rows give. */
  readonly agreed: number;
}

const nothing: Sealed = { versions: 0, waiting: 0, agreed: 0 };

export async function seal(run: RunContext, sealing: Sealing, stamp: string): Promise<Sealed> {
  const { by } = run.rollup.settings.seal;
  const { pipeline } = run.statements;
  const span = {
    sealing_from: sealing.from,
    sealing_to: sealing.to,
    events_to: sealing.eventsTo,
    ingested_from: sealing.ingestedFrom,
    bound: run.bound,
  };
  // Beside the windows of a person's word, and what the watermark passes in this run, nothing is written.
  if (run.isAsked && sealing.from === sealing.to) return nothing;
  if (hasSessions(run.rollup) && by === 'errata') {
    if (sealing.until === null) return nothing;
    const { sealed, waiting } = await sealSessions(run, sealing.until, stamp);
    return { ...nothing, versions: sealed, waiting };
  }
  if (by === 'errata') {
    const again = await sealAgain(run, stamp);
    if (sealing.from === sealing.to) return { ...nothing, versions: again };
    await execute(run.transaction, pipeline.exclude_from_seal, {
      sealing_from: sealing.from,
      sealing_to: sealing.to,
      baseline: run.verb === 'baseline',
    });
    await query(run.transaction, 'analyze pg_temp.errata_excluded, pg_temp.errata_copied');
    const values = { ...span, ...publicationOf(run, stamp) };
    const { count } = await withoutFailing(
      run,
      (isWithout) =>
        execute(run.transaction, isWithout ? run.statements.failing.without.seal : pipeline.seal, values),
      () => setWindowsAside(run, 'seal', values, true),
    );
    await query(run.transaction, 'truncate pg_temp.errata_excluded, pg_temp.errata_copied');
    return { ...nothing, versions: again + count };
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
  if (hasSessions(run.rollup)) {
    if (sealing.until !== null) await askForUnsealedSessions(run, sealing.until);
    return { ...nothing, versions: adopted };
  }
  const agreed = sealing.from === sealing.to ? 0 : await compareShipped(run, span);
  return { ...nothing, versions: adopted, agreed };
}

/** @returns of how many keyed windows that the watermark passed the stream's version 1 is what their rows give. */
async function compareShipped(run: RunContext, span: SealingSpan): Promise<number> {
  const { transaction, statements, rollup } = run;
  const { pipeline, failing } = statements;
  let isMeasured = true;
  await withoutFailing(
    run,
    (isWithout) =>
      planned(transaction, hashed, async () => {
        if (isWithout) await execute(transaction, failing.without.sealing_result, span);
        else if (statements.partials && !rollup.overrides) await measureSealing(run, span);
        else await execute(transaction, pipeline.sealing_result, span);
      }),
    async () => {
      // Which of them fail is found where they are recomputed.
      isMeasured = false;
      return 1;
    },
  );
  await query(transaction, 'analyze pg_temp.errata_sealing_result');
  const { sealing_to: _, ...values } = span;
  await execute(transaction, pipeline.unsealed, values);
  // A person's word is about other windows, and a run that is limited takes the longest waiting first (R19).
  if (!isMeasured || run.isAsked || run.maxWindows !== null) return 0;
  return (await planned(transaction, hashed, () => execute(transaction, pipeline.agreed))).count;
}

function publicationOf(run: RunContext, stamp: string) {
  return {
    run_id: run.runId,
    stamp,
    actor: run.actor,
    reason: run.reason,
    definition_fingerprint: run.fingerprint,
  };
}

/** Version 1 of keyed windows that failed when the watermark passed them (R19). @returns how many were written. */
async function sealAgain(run: RunContext, stamp: string): Promise<number> {
  const { transaction, statements } = run;
  const { pipeline } = statements;
  const { count } = await execute(transaction, pipeline.unsealed_again, {
    rollup_id: run.rollup.id,
    max_windows: run.maxWindows,
  });
  if (count === 0) return 0;
  await query(transaction, 'analyze pg_temp.errata_touched');
  await recompute(run, true);
  const [left] = await query<{ windows: string }>(
    transaction,
    'select count(*) as windows from pg_temp.errata_touched',
  );
  let sealed = 0;
  if (left?.windows !== '0') {
    // A row that no scan has read may have landed late, and version 1 would count it.
    if (!run.readAll) throw new UnreadRows();
    sealed = (await execute(transaction, pipeline.seal_again, publicationOf(run, stamp))).count;
  }
  await query(
    transaction,
    'truncate pg_temp.errata_touched, pg_temp.errata_excluded, pg_temp.errata_copied, pg_temp.errata_result',
  );
  return sealed;
}
