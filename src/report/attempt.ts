import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';

/** Runs what may fail because of bronze, which may be gone; a failure leaves the transaction usable. */
export async function attempt<Result>(
  transaction: ControlTransaction,
  work: () => Promise<Result>,
): Promise<{ readonly result?: Result; readonly error: string | null }> {
  await query(transaction, 'savepoint errata_attempt');
  try {
    const result = await work();
    await query(transaction, 'release savepoint errata_attempt');
    return { result, error: null };
  } catch (error) {
    await query(transaction, 'rollback to savepoint errata_attempt');
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
