/** Further rows with an event id already seen in their window (R5). */
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { KeyedWindow } from './keyed-window.ts';

export interface Copy {
  readonly event_id: string;
  readonly key: KeyedWindow['key'];
  readonly ingested_at: string;
  /** How many equal rows, as text. */
  readonly copies: string;
  /** It differs in key or measured columns from the row that counts. */
  readonly is_conflict: boolean;
}

/** In the order of ingestion. */
export async function readCopies(
  transaction: ControlTransaction,
  rollup: Rollup,
  filter: { readonly only?: KeyedWindow; readonly atMost?: number } = {},
): Promise<Copy[]> {
  const { only, atMost } = filter;
  const { rows } = await execute<Copy>(transaction, prepare('report/copies.sql', bindingsOf(rollup)), {
    window_start: only?.window_start ?? null,
    window_end: only?.window_end ?? null,
    key: only ? JSON.stringify(only.key) : null,
    at_most: atMost ?? null,
  });
  return rows;
}
