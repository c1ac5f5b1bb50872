/** From which ingestion on bronze has to be read for a span of windows (R4, R20). */
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { skewOf } from './watermark.ts';

/** @returns null where it cannot be known, or the span is empty. */
export async function ingestedFrom(
  { transaction, statements, rollup }: RunContext,
  span: { readonly from: string | null; readonly to: string | null } | undefined,
): Promise<string | null> {
  const { rows } = await execute<{ ingested_from: string | null }>(
    transaction,
    statements.pipeline.ingested_from,
    { events_from: span?.from ?? null, events_to: span?.to ?? null, skew: skewOf(rollup) },
  );
  return rows[0]?.ingested_from ?? null;
}
