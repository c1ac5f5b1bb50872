/** Asks the database about one SQL expression over bronze, by a temporary view that is rolled back. */

import type { TableName } from '../config/settings.ts';
import { quoteTable } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';

export interface Probe {
  readonly result_type: string;
  readonly result_type_id: string;
  /** Bronze columns, by name. */
  readonly columns: readonly string[] | null;
  readonly is_aggregate: boolean;
  /** Its value depends on the order of rows, that is on the plan (R13). */
  readonly sums_floats: boolean;
  readonly volatile_functions: readonly string[] | null;
  readonly has_subquery: boolean;
  /** The clock, the role, the session's settings or its transaction: anything that another run would see otherwise. */
  readonly reads_clock: boolean;
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

interface TypeRow {
  readonly type_id: string;
  readonly is_array: boolean;
  readonly is_composite: boolean;
  readonly is_comparable: boolean;
  readonly is_extension: boolean;
}

const typesStatement = prepare('catalog/types.sql', {});

async function typeRow(transaction: ControlTransaction, id: string): Promise<TypeRow | undefined> {
  const { rows } = await execute<TypeRow>(transaction, typesStatement, { types: [id] });
  return rows[0];
}

/** Why values of a type cannot be a key, in words that follow its name; undefined where they can. */
export async function whyNoKey(transaction: ControlTransaction, typeId: string): Promise<string | undefined> {
  const type = await typeRow(transaction, typeId);
  if (!type) return undefined;
  if (type.is_array) return 'is an array: no key and an empty one would be one key';
  if (type.is_composite) return 'is a row: one of NULLs would be no key';
  if (type.is_extension) return 'comes from an extension, whose equality a run does not see';
  if (!type.is_comparable) return 'has no order (no default operator class for btree)';
  return undefined;
}

/** Whether two values of a type can be told apart. */
export async function canBeCompared(transaction: ControlTransaction, typeId: string): Promise<boolean> {
  return (await typeRow(transaction, typeId))?.is_comparable ?? true;
}
