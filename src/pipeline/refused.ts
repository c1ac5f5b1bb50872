/** Refused: what the stream's own table of refused rows says, and which rows of bronze it speaks of (R2, `external`). */
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';
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
  if (run.frontier === null) return;
  const { transaction, statements, rollup, runId, bound } = run;
  const about = { rollup_id: rollup.id, run_id: runId };
  const { rows } = await execute<Span>(transaction, statements.pipeline.refused_span, {
    ...about,
    skew: skewOf(rollup),
  });
  const [span] = rows;
  if (!span || span.entries === 0) return;
  const { count } = await execute(transaction, statements.pipeline.refused_rows, {
    ...about,
    bound,
    events_from: span.events_from,
    events_to: span.events_to,
    ingested_from: span.ingested_from,
  });
  if (count === 0) return;
  await execute(transaction, statements.pipeline.refused_judged, {
    ...about,
    sealed_before: run.sealedBefore,
    since: bound,
  });
}

interface Span {
  readonly entries: number;
  readonly events_from: string | null;
  readonly events_to: string | null;
  readonly ingested_from: string | null;
}

/** Once the late events are kept. @returns undefined where the rollup names no table of refused rows. */
export async function answerRefused(run: RunContext): Promise<RefusedEntries | undefined> {
  if (run.rollup.settings.watermark.refused === undefined) return undefined;
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
