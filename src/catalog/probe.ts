/** Asks the database about one SQL expression over bronze, by a temporary view that is rolled back. */

import type { TableName } from '../config/settings.ts';
import { quoteTable } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';

export interface Probe {
  readonly result_type: string;
  /** Bronze columns, by name. */
  readonly columns: readonly string[] | null;
  readonly is_aggregate: boolean;
  /** Its value depends on the order of rows, that is on the plan (R13). */
  readonly sums_floats: boolean;
  readonly volatile_functions: readonly string[] | null;
  /** The aggregate's name where the expression is nothing but one call without DISTINCT; decides additivity (R14). */
  readonly whole_aggregate: string | null;
  readonly is_count_of_rows: boolean | null;
}

const statement = prepare('catalog/probe.sql', {});

/** A probe, or the database's own words on why the expression cannot be evaluated over this table. */
export async function probeExpression(
  transaction: ControlTransaction,
  table: TableName,
  expression: string,
): Promise<Probe | { refused: string }> {
  await query(transaction, 'savepoint errata_probe');
  try {
    await query(
      transaction,
      `create temp view errata_probe as select (${expression}\n) as errata_value from ${quoteTable(table)}`,
    );
    const [view] = await query<{ id: string }>(
      transaction,
      `select 'pg_temp.errata_probe'::regclass::oid::text as id`,
    );
    const { rows } = await execute<Probe>(transaction, statement, { view: view?.id ?? null });
    return rows[0] as Probe;
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  } finally {
    await query(transaction, 'rollback to savepoint errata_probe');
  }
}
