/** From which ingestion on bronze has to be read for a span of windows (R4, R20). */
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { skewOf } from './watermark.ts';

/** Null where it cannot be known, or the span is empty; and whether a person let rows of the span out of quarantine. */
export interface IngestedFrom {
  readonly ingested_from: string | null;
  readonly has_released: boolean;
}

export async function ingestedFrom(
  { transaction, statements, rollup }: RunContext,
  span: { readonly from: string | null; readonly to: string | null } | undefined,
): Promise<IngestedFrom> {
  const { rows } = await execute<IngestedFrom>(transaction, statements.pipeline.ingested_from, {
    events_from: span?.from ?? null,
    events_to: span?.to ?? null,
    skew: skewOf(rollup),
  });
  return rows[0] as IngestedFrom;
}
