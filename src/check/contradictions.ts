/** What the runs so far have found of the stream that contradicts the settings (R2, R3). */
import { bindingsOf } from '../catalog/bindings.ts';
import { relationsOf } from '../catalog/relations.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { quoteName } from '../db/identifiers.ts';
import { prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { readContradictions } from '../report/contradictions.ts';
import type { Findings } from './findings.ts';

export async function checkContradictions(
  transaction: ControlTransaction,
  rollup: Rollup,
  findings: Findings,
): Promise<void> {
  const id = await migratedId(transaction, rollup);
  if (id === undefined) return;
  const known = { ...rollup, id };
  const statement = prepare('report/contradictions.sql', bindingsOf(known));
  for (const { setting, text } of await readContradictions(transaction, statement, known, null))
    findings.warn(setting, text, 'write what is set in the stream');
}

/** Undefined before the rollup is migrated, or where the connected role may not look. */
async function migratedId(transaction: ControlTransaction, rollup: Rollup): Promise<number | undefined> {
  const { schema, settings } = rollup;
  const tables = ['refused_entry', 'source_partition', 'ingestion_partition', 'run', 'rollup'];
  const [found] = await query<{ readable: boolean }>(
    transaction,
    "select bool_and(coalesce(has_table_privilege(to_regclass(t.name), 'select'), false)) as readable from unnest($1::text[]) as t (name)",
    [[...tables.map((table) => `${quoteName(schema)}.${quoteName(table)}`), relationsOf(rollup).late_event]],
  );
  if (!found?.readable) return undefined;
  const [row] = await query<{ id: number }>(
    transaction,
    `select r.rollup_id as id from ${quoteName(schema)}.rollup as r where r.name = $1`,
    [settings.name],
  );
  return row?.id;
}
