/** The planner's view of reading bronze: what `check` estimates with, since it reads no large table. */
import type { Rollup } from '../catalog/rollup.ts';
import { quoteTable, type Sql } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';

export interface PlannedRead {
  readonly rows: number;
  /** Bytes of one row, of the columns that are read. */
  readonly width: number;
}

/** Of these columns of bronze; `end` may hold a `group by`, whose rows are the groups. */
export async function plannedRead(
  transaction: ControlTransaction,
  columns: readonly Sql[],
  rollup: Rollup,
  end = '',
): Promise<PlannedRead> {
  const [row] = await query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number; 'Plan Width': number } }] }>(
    transaction,
    `explain (format json) select ${columns.join(', ')} from ${quoteTable(rollup.settings.bronze.table)} as b ${end}`,
  );
  const plan = row?.['QUERY PLAN'][0].Plan;
  return { rows: plan?.['Plan Rows'] ?? 0, width: plan?.['Plan Width'] ?? 0 };
}
