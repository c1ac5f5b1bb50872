/** Late events and proposals in the states that they had at an instant, for every report of it (R11). */
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { trustedSql } from '../db/identifiers.ts';
import type { Bindings } from '../db/sql.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { KnownAt } from './known-at.ts';

/** Of the windows that start from `from` on and before `to`; instants are text. */
export interface SpanOfStarts {
  readonly from: string;
  readonly to: string;
}

/** An earlier instant, and what a report of it reads by: the bindings of `layOutThen`. */
export interface Then {
  readonly known: KnownAt;
  readonly bindings: Bindings;
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

/** As `layOutThen`, of one window alone. @returns undefined as of now */
export async function windowThen(
  transaction: ControlTransaction,
  rollup: Rollup,
  { window_start: from }: { readonly window_start: string },
  known: KnownAt | null,
): Promise<Then | undefined> {
  if (known === null) return undefined;
  const [row] = await query<{ to: string }>(
    transaction,
    `select ($1::timestamptz + interval '1 microsecond')::text as "to"`,
    [from],
  );
  return {
    known,
    bindings: await layOutThen(transaction, rollup, known.at, { from, to: row?.to as string }),
  };
}
