/** Refused: what the stream's own table of refused rows says, and which rows of bronze it speaks of (R2, `external`). */
import { execute } from '../db/statement.ts';
import type { Reading, RunContext } from './context.ts';
import { parametersOf } from './scan.ts';
import { answerCopies, hasSessions } from './sessions.ts';
import { skewOf } from './watermark.ts';

export interface RefusedEntries {
  /** Entries whose row is not in bronze yet. */
  readonly waiting: number;
  /** Entries that this run answered and whose row stays what it was judged before they were written (R6). */
  readonly judgedOtherwise: number;
}

/** @returns how many entries no run had seen. */
export async function readRefused(run: RunContext): Promise<number> {
  if (run.rollup.settings.watermark.refused === undefined) return 0;
  const { count } = await execute(run.transaction, run.statements.pipeline.refused, {
    rollup_id: run.rollup.id,
    run_id: run.runId,
  });
  return count;
}

/**
 * Rows of earlier runs that new entries name. Entries known before wait for rows that are new to bronze, and classify
 * finds those.
 */
export async function recallRefused(run: RunContext): Promise<void> {
  const { transaction, statements, rollup, runId, bound } = run;
  const about = { rollup_id: rollup.id, run_id: runId };
  const span = await spanOfNew(run);
  if (span === undefined) return;
  const { count } = await execute(transaction, statements.pipeline.refused_rows, { ...about, ...span });
  if (count === 0) return;
  await execute(transaction, statements.pipeline.refused_judged, {
    ...about,
    sealed_before: run.sealedBefore,
    since: bound,
  });
}

/** Where to look in bronze for rows of earlier runs. @returns undefined where there is nothing to look for. */
async function spanOfNew(run: RunContext): Promise<Where | undefined> {
  if (run.frontier === null) return undefined;
  const { rows } = await execute<Span>(run.transaction, run.statements.pipeline.refused_span, {
    rollup_id: run.rollup.id,
    run_id: run.runId,
    skew: skewOf(run.rollup),
  });
  const { entries = 0, ...where } = rows[0] ?? {};
  return entries === 0 ? undefined : { ...(where as Omit<Span, 'entries'>), bound: run.bound };
}

type Where = Omit<Span, 'entries'> & { readonly bound: string };

/** Under another strategy the entries decide nothing: what their rows were judged is noted, to be compared. */
async function compareRefused(run: RunContext, readings: readonly Reading[]): Promise<void> {
  const about = { rollup_id: run.rollup.id, run_id: run.runId };
  for (const reading of readings) {
    if (reading.summary.oldest_ingested_at === null) continue;
    const seen = run.statements.withConstraint('refused_seen', reading.partition.constraint_text);
    await execute(run.transaction, seen, { ...parametersOf(run, reading), ...about });
  }
  const span = await spanOfNew(run);
  if (span !== undefined)
    await execute(run.transaction, run.statements.pipeline.refused_seen_before, { ...about, ...span });
}

interface Span {
  readonly entries: number;
  readonly events_from: string | null;
  readonly events_to: string | null;
  readonly ingested_from: string | null;
}

/** Once the late events are kept. @returns undefined where the rollup names no table of refused rows. */
export async function answerRefused(
  run: RunContext,
  readings: readonly Reading[],
): Promise<RefusedEntries | undefined> {
  const { refused, strategy } = run.rollup.settings.watermark;
  if (refused === undefined) return undefined;
  if (strategy !== 'external') await compareRefused(run, readings);
  else if (hasSessions(run.rollup)) await answerCopies(run);
  const { rows } = await execute<{ waiting: string; judged_otherwise: string }>(
    run.transaction,
    run.statements.pipeline.refused_found,
    { rollup_id: run.rollup.id, run_id: run.runId },
  );
  return {
    waiting: Number(rows[0]?.waiting ?? 0),
    judgedOtherwise: Number(rows[0]?.judged_otherwise ?? 0),
  };
}
