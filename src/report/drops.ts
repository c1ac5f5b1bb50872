/** Rows that the stream's log says it dropped, beside those that the side output shows (R2, `recorded`). */
import type { Rollup } from '../catalog/rollup.ts';
import { execute, type Statement } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';

export interface Drops {
  /** Null: the log does not count them. */
  readonly dropped: string | null;
  /** Null where none was dropped. */
  readonly shown: string | null;
  /** More was dropped than the side output shows. */
  readonly is_short: boolean;
}

export async function readDrops(
  transaction: ControlTransaction,
  statement: Statement,
  { id, settings: { watermark } }: Rollup,
): Promise<Drops> {
  const counts = watermark.log === undefined || watermark.log.dropped !== undefined;
  if (watermark.strategy !== 'recorded' || !counts) return { dropped: null, shown: null, is_short: false };
  const { rows } = await execute<Omit<Drops, 'is_short'>>(transaction, statement, { rollup_id: id });
  const { dropped = null, shown = null } = rows[0] ?? {};
  return { dropped, shown, is_short: BigInt(dropped ?? 0) > BigInt(shown ?? 0) };
}
