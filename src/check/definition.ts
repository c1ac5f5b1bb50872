/** Whether a rollup is in the database under the same definition, could be changed to it, or could be made. */
import { type Definition, definitionOf, isMigrated, refuseOtherMeaning } from '../catalog/definition.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { formatTableName } from '../config/name.ts';
import { quoteName } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import type { Findings } from './findings.ts';

export async function checkDefinition(
  transaction: ControlTransaction,
  rollup: Rollup,
  findings: Findings,
): Promise<void> {
  const { settings, schema } = rollup;
  const known = await knownDefinition(transaction, schema, settings.name);
  const now = definitionOf(rollup);
  if (known === undefined) {
    const [taken] = await query(
      transaction,
      'select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2',
      [settings.gold.schema, settings.gold.name],
    );
    if (taken)
      findings.fault(
        'gold',
        `${formatTableName(settings.gold)} exists already and was not made by Errata`,
        'name a gold table that does not exist; to take over the totals of this one, use seal: { from: … }',
      );
    return;
  }
  try {
    refuseOtherMeaning(settings.name, known.definition, now);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return findings.fault('', `${error.message}: ${error.detail}`, error.hint ?? '');
  }
  if (!isMigrated(known, now))
    findings.warn('', 'it has changed since it was migrated', 'run `errata migrate`');
}

async function knownDefinition(
  transaction: ControlTransaction,
  schema: string,
  name: string,
): Promise<{ fingerprint: string; definition: Definition } | undefined> {
  const [table] = await query<{ readable: boolean | null }>(
    transaction,
    "select has_table_privilege(to_regclass($1), 'select') as readable",
    [`${quoteName(schema)}.rollup`],
  );
  if (!table?.readable) return undefined;
  const [row] = await query<{ fingerprint: string; definition: Definition }>(
    transaction,
    `select d.fingerprint, d.definition
     from ${quoteName(schema)}.rollup as r
     join ${quoteName(schema)}.definition as d on d.fingerprint = r.definition_fingerprint
     where r.name = $1`,
    [name],
  );
  return row;
}
