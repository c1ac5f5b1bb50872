/** What `check` finds the connected role may not do where Errata makes and writes its relations. */
import { formatTableName } from '../config/name.ts';
import type { RollupSettings } from '../config/settings.ts';
import { quoteName, quoteTable } from '../db/identifiers.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { Findings } from './findings.ts';

interface Privileges {
  readonly role: string;
  readonly database: string;
  readonly may_use_temporary: boolean;
  readonly may_create_schema: boolean;
  readonly has_gold_schema: boolean;
  readonly may_create_in_gold: boolean | null;
  readonly has_control_schema: boolean;
  readonly may_create_in_control: boolean | null;
  readonly has_ledger: boolean;
  readonly owns_ledger: boolean | null;
  readonly others_may_insert: boolean | null;
  readonly counts_activity: boolean;
}

const statement = prepare('check/privileges.sql', {});

/** @returns whether expressions can be probed, which takes a temporary view. */
export async function checkPrivileges(
  transaction: ControlTransaction,
  schema: string,
  settings: RollupSettings,
  findings: Findings,
): Promise<boolean> {
  const { gold, seal } = settings;
  const { rows } = await execute<Privileges>(transaction, statement, {
    gold_schema: gold.schema,
    gold_name: gold.name,
    control_schema: schema,
  });
  const found = rows[0] as Privileges;
  const [role, database] = [quoteName(found.role), quoteName(found.database)];
  if (!found.may_use_temporary)
    findings.fault(
      'bronze',
      `the role ${found.role} may not make temporary tables, which every run needs`,
      `grant temporary on database ${database} to ${role}`,
    );
  for (const [name, isThere, mayCreate] of [
    [schema, found.has_control_schema, found.may_create_in_control],
    [gold.schema, found.has_gold_schema, found.may_create_in_gold],
  ] as const) {
    if (isThere && !mayCreate)
      findings.fault(
        'gold',
        `the role ${found.role} may not create relations in schema "${name}"`,
        `grant usage, create on schema ${quoteName(name)} to ${role}`,
      );
    if (!isThere && !found.may_create_schema)
      findings.fault(
        'gold',
        `schema "${name}" is not there, and the role ${found.role} may not create it`,
        `create schema ${quoteName(name)} authorization ${role}`,
      );
  }
  if (found.has_ledger && !found.owns_ledger)
    findings.warn(
      'gold',
      `the role ${found.role} does not own ${formatTableName(gold)}, so it cannot migrate it`,
      'run `errata migrate` as its owner',
    );
  if (seal.by === 'stream' && found.has_ledger && !found.others_may_insert)
    findings.warn(
      'seal',
      `no role but its owner may insert into ${formatTableName(gold)}, and the stream seals`,
      `grant usage on schema ${quoteName(gold.schema)}, and insert on ${quoteTable(gold)}, to the stream’s role`,
    );
  if (!found.counts_activity)
    findings.warn(
      'bronze',
      'track_counts is off, so a run cannot tell cheaply where rows were added',
      'set track_counts = on',
    );
  return found.may_use_temporary;
}
