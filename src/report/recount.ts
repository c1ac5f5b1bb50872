/** One keyed window counted anew from bronze, for the sum check. Bronze may be gone: then the reason comes back. */
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { attempt } from './attempt.ts';
import type { KeyedWindow } from './keyed-window.ts';
import type { Recount } from './sum-check.ts';

/** @param examinedTo rows ingested later are left out; null: no run has examined any */
export async function recountWindow(
  transaction: ControlTransaction,
  rollup: Rollup,
  only: KeyedWindow,
  examinedTo: string | null,
): Promise<{ recount?: Recount | undefined; error: string | null }> {
  const { result, error } = await attempt(transaction, async () => {
    await execute(transaction, prepare('pipeline/begin/released.sql', bindingsOf(rollup)));
    const isSession = rollup.settings.window.kind === 'session';
    const file = isSession ? 'report/session_recount.sql' : 'report/recount.sql';
    const { rows } = await execute<{ recount: Recount }>(transaction, prepare(file, bindingsOf(rollup)), {
      window_start: only.window_start,
      window_end: only.window_end,
      key: JSON.stringify(only.key),
      is_every_row: rollup.settings.bronze.identity === 'unique_rows',
      // which rows a session holds is recorded as they are examined
      ...(isSession ? {} : { examined_to: examinedTo ?? '-infinity' }),
    });
    return rows[0]?.recount;
  });
  return { recount: result, error };
}
