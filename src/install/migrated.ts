/** What `migrate` says of one rollup: its ledger, and from when its bronze is complete and why (R15). */
import type { Rollup } from '../catalog/rollup.ts';
import { formatTableName } from '../config/name.ts';
import type { ControlTransaction } from '../db/transaction.ts';

type Source = 'setting' | 'partition' | 'first_ingestion' | 'empty';

export interface MigratedRollup {
  readonly rollup: string;
  readonly gold: string;
  /** An instant, in UTC; `-infinity` while bronze is empty. */
  readonly completeFrom: string;
  readonly completeFromSource: Source;
}

export async function migratedRollup(
  transaction: ControlTransaction,
  rollup: Rollup,
): Promise<MigratedRollup> {
  const row = await transaction
    .selectFrom('rollup')
    .select(['complete_from', 'complete_from_source'])
    .where('rollup_id', '=', rollup.id)
    .executeTakeFirstOrThrow();
  return {
    rollup: rollup.settings.name,
    gold: formatTableName(rollup.settings.gold),
    completeFrom: row.complete_from,
    completeFromSource: row.complete_from_source,
  };
}

const reasons: Readonly<Record<Exclude<Source, 'empty'>, string>> = {
  setting: 'as bronze.complete_from says',
  partition: 'the lower bound of the earliest ingestion partition',
  first_ingestion: 'the start of the day of the earliest ingestion',
};

/** `daily_orders: gold.daily_orders is ready; bronze is complete from 2026-10-01 00:00:00+00 (…)` */
export function completeText({
  rollup,
  gold,
  completeFrom,
  completeFromSource: source,
}: MigratedRollup): string {
  const complete =
    source === 'empty'
      ? 'bronze is empty, and counts as complete from its first row on'
      : `bronze is complete from ${completeFrom} (${reasons[source]}); windows that start earlier are never recomputed`;
  return `${rollup}: ${gold} is ready; ${complete}`;
}
