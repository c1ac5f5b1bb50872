/** Late events and proposals in the states that they had at an instant, for every report of it (R11). */
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { trustedSql } from '../db/identifiers.ts';
import type { Bindings } from '../db/sql.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';

/** Of the windows that start from `from` on and before `to`; instants are text. */
export interface SpanOfStarts {
  readonly from: string;
  readonly to: string;
}

/**
 * Lays them out as work tables, which last until the transaction ends.
 * @returns the rollup's bindings with the work tables in place of its own: what reads by these reads what was known then
 */
export async function layOutThen(
  transaction: ControlTransaction,
  rollup: Rollup,
  stamp: string,
  span?: SpanOfStarts,
): Promise<Bindings> {
  const published = bindingsOf(rollup);
  const values = { stamp, span_start: span?.from ?? null, span_end: span?.to ?? null };
  await execute(transaction, prepare('report/then/event.sql', published), values);
  await execute(transaction, prepare('report/then/proposal.sql', published), {
    ...values,
    rollup_id: rollup.id,
  });
  await execute(transaction, prepare('report/then/ready.sql', published));
  return {
    ...published,
    late_event: trustedSql('pg_temp.errata_stated_event'),
    proposal: trustedSql('pg_temp.errata_stated_proposal'),
  };
}
