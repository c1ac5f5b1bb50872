/** The ingestion partitions of bronze, and from when on bronze is complete (R15). */
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { Rollup } from './rollup.ts';

export interface Partition {
  readonly relation_id: string;
  /** Schema and name, quoted where they need it. */
  readonly relation: string;
  readonly kind: string;
  /** As in `FOR VALUES FROM (…) TO (…)`; null for a table without partitions. */
  readonly bounds: string | null;
  /** What every row of it satisfies, as SQL over bronze's columns. */
  readonly constraint_text: string;
  /** Its upper bound of ingested_at lies at or before the frontier: rows of now do not land in it any more. */
  readonly is_past: boolean;
  /** A transaction that has not ended holds a lock for writing on it. */
  readonly is_being_written: boolean;
  /** Differs, seconds later at the latest, when something was written to it. */
  readonly activity: string;
}

const statement = prepare('catalog/partitions.sql', {});

/** In the order of their names; one for a table or a view without partitions. */
export async function listPartitions(
  transaction: ControlTransaction,
  rollup: Rollup,
  frontier: string | null = null,
): Promise<Partition[]> {
  const { ingestedAt } = rollup.times;
  const { rows } = await execute<Partition>(transaction, statement, {
    relation_id: rollup.relationId,
    ingested_at: ingestedAt.type.endsWith('with time zone') ? ingestedAt.name : null,
    frontier,
  });
  return rows;
}

/**
 * The lower bound of the earliest ingestion partition, as an instant of text; undefined where there are no range
 * partitions or the earliest has no lower end.
 */
export function earliestBound(partitions: readonly Partition[]): string | undefined {
  const bounds = partitions.flatMap(({ bounds: text }) => {
    const from = /^FOR VALUES FROM \('([^']+)'/.exec(text ?? '')?.[1];
    return from ? [from] : [];
  });
  if (
    bounds.length === 0 ||
    partitions.some(({ bounds: text }) => text?.startsWith('FOR VALUES FROM (MINVALUE'))
  )
    return undefined;
  return bounds.sort()[0];
}
