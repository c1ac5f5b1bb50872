/** A sweep of a test's rollup, in short. */
import { inTransaction } from '../../src/db/transaction.ts';
import {
  type ReconcileOptions,
  type Reconciliation,
  reconcile,
} from '../../src/report/reconcile/reconcile.ts';
import type { TestErrata } from './errata.ts';

export async function reconciled(
  errata: TestErrata,
  span: { from?: string; to?: string } = {},
  options: ReconcileOptions = {},
): Promise<Reconciliation> {
  return await inTransaction(errata.control, 'repeatable read', (transaction) =>
    reconcile(transaction, errata.rollup, { from: span.from ?? null, to: span.to ?? null }, options),
  );
}

/** `10-29 'EU' v1 unexplained: difference | pending, …`, one line a keyed window that is not identical. */
export function windowLines({ windows }: Reconciliation): string[] {
  return windows.map(
    ({ window_start: start, key, version, status, explained_by: explained, unexplained }) =>
      `${start.slice(5, 10)} ${Object.values(key).join(' ')} v${version} ${status}: ${unexplained.join(', ')}|${explained.join(', ')}`,
  );
}

/** `kind id @ 10-29 EU`, one line an event. */
export function eventLines({ events }: Reconciliation): string[] {
  return events.map(
    ({ kind, event_id: id, window_start: start, key }) =>
      `${kind} ${id} @ ${start.slice(5, 10)} ${Object.values(key).join(' ')}`,
  );
}
