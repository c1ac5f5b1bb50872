/**
 * The user's table of delays and latenesses by key or source partition (R2, R3): what the catalogue says of it, and
 * whether each key stands in it once. What it says is read anew by every run.
 */
import type { OverrideSettings, RollupSettings } from '../config/settings.ts';
import { quoteTable } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { bindingsOf } from './bindings.ts';
import { type AddFault, nameText } from './describe.ts';
import type { Column, Overrides, Rollup } from './rollup.ts';

interface OverrideColumn {
  readonly kind: string;
  readonly is_readable: boolean;
  readonly is_reachable: boolean;
  readonly column_name: string;
  readonly column_type: string;
  readonly base_type: string;
  readonly type_id: string;
  readonly is_column_readable: boolean;
}

const relationStatement = prepare('catalog/relation.sql', {});
const place = 'watermark.overrides';

/** @param keys the key columns of the rollup with their types in bronze. @returns undefined where there are no overrides. */
export async function describeOverrides(
  transaction: ControlTransaction,
  settings: RollupSettings,
  keys: readonly Column[],
  fault: AddFault,
): Promise<Overrides | undefined> {
  const { overrides } = settings.watermark;
  if (overrides === undefined) return undefined;
  const { rows } = await execute<OverrideColumn>(transaction, relationStatement, { ...overrides.table });
  const text = nameText(overrides.table);
  const [first] = rows;
  if (!first || !['r', 'p', 'v', 'm', 'f'].includes(first.kind)) {
    fault(`${place}.table`, `there is no table or view ${text}`, 'create it, or correct the name');
    return undefined;
  }
  if (!first.is_reachable || !rows.every((row) => row.is_readable || row.is_column_readable)) {
    fault(
      `${place}.table`,
      `${text} cannot be read by the connected role`,
      `grant usage on its schema and select on ${quoteTable(overrides.table)} to it`,
    );
    return undefined;
  }
  const find = (path: string, name: string): OverrideColumn | undefined => {
    const found = rows.find((row) => row.column_name === name);
    if (!found)
      fault(
        path,
        `${text} has no column "${name}"`,
        `it has: ${rows.map((row) => row.column_name).join(', ')}`,
      );
    return found;
  };
  for (const [member, name] of [
    ['delay', overrides.delay],
    ['allowed_lateness', overrides.allowedLateness],
  ] as const) {
    const found = name === undefined ? undefined : find(`${place}.${member}`, name);
    if (found && found.base_type !== 'interval')
      fault(
        `${place}.${member}`,
        `column "${name}" has type ${found.column_type}, which is no interval`,
        'name a column of type interval',
      );
  }
  for (const { name, column } of overrides.by) {
    const found = find(`${place}.by`, column);
    const key = keys.find((one) => one.name === name);
    if (found && key && !(await fits(transaction, found.type_id, key.type)))
      fault(
        `${place}.by`,
        `column "${column}" has type ${found.column_type}, and the key "${name}" has type ${key.type}`,
        'give it the type of the key',
      );
  }
  return overridesOf(overrides, keys);
}

function overridesOf({ by, delay, allowedLateness }: OverrideSettings, keys: readonly Column[]): Overrides {
  const isByKey = by.some(({ name }) => name !== 'source_partition');
  return {
    by: by.map(({ name }) => ({ name, type: keys.find((key) => key.name === name)?.type ?? 'text' })),
    isByKey,
    hasDelay: delay !== undefined,
    hasLateness: allowedLateness !== undefined,
  };
}

/** Whether a value of the one type becomes one of the other without being asked to, as varchar becomes text. */
async function fits(transaction: ControlTransaction, typeId: string, keyType: string): Promise<boolean> {
  const [row] = await query<{ fits: boolean }>(
    transaction,
    `select k.id = $1::oid or exists (
       select from pg_catalog.pg_cast as c where c.castsource = $1::oid and c.casttarget = k.id and c.castcontext = 'i'
     ) as fits
     from (
       select coalesce(nullif(t.typbasetype, 0), t.oid) as id from pg_catalog.pg_type as t where t.oid = $2::regtype
     ) as k`,
    [typeId, keyType],
  );
  return row?.fits ?? false;
}

/** What in the table cannot be followed: keys that stand in it twice, and spans that are none. Each as a sentence. */
export async function overrideFaults(transaction: ControlTransaction, rollup: Rollup): Promise<string[]> {
  if (!rollup.overrides) return [];
  const { rows } = await execute<{ said: string }>(
    transaction,
    prepare('pipeline/overrides/override_faults.sql', bindingsOf(rollup)),
  );
  return rows.map(({ said }) => said);
}
