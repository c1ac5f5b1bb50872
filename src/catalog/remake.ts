/**
 * Makes the definitions of a rollup, over those of an earlier one where they stand already, without losing what users have
 * built on its views or were given on them.
 *
 * `create or replace` keeps all of that, and refuses two things. A view whose columns stand in another order, as where a measure
 * was added among them: it is made with its columns as they stand and the new ones after them. And other columns that a
 * function gives: it must be dropped, with our own views on it emptied for the while. Only what users have on such a function,
 * or on a view that loses a column, stands in the way, and is named before anything is changed. Rejected: to drop the views
 * whenever the definition differs, as anybody with a view on them then could not even change a policy.
 */
import type { TableName } from '../config/settings.ts';
import { joinSql, quoteName, quoteTable, type Sql, trustedSql } from '../db/identifiers.ts';
import { execute, prepare, query, type Statement } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { namesOf, relationsOf } from './relations.ts';
import type { Rollup } from './rollup.ts';
import { statementsOf } from './statements.ts';

interface Dependent {
  readonly kind: string;
  readonly identity: string;
  /** Null for what has none of its own, as a trigger. */
  readonly owner: string | null;
  readonly is_ours: boolean;
  readonly schema: string | null;
  readonly name: string | null;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly collation_name: string | null;
  readonly collation_schema: string | null;
}

interface Overload {
  readonly signature: string;
  readonly name: string;
  readonly schema: string;
  /** Another one once it has been replaced. */
  readonly row_version: string;
}

/** What stands in the way of which of our relations and functions. */
type Standing = readonly { readonly on: Sql; readonly dependent: Dependent }[];

const invalidView = '42P16';
const invalidFunction = '42P13';

/** @throws Failure, exit code 2, that names everything of the users that stands in the way. */
export async function makeDefinitions(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const before = await overloadsOf(transaction, rollup);
  const standing: Standing[number][] = [];
  const grants: Sql[] = [];
  for (const statement of statementsOf(rollup).definitions) {
    await query(transaction, 'savepoint errata_definition');
    try {
      await execute(transaction, statement);
    } catch (error) {
      await query(transaction, 'rollback to savepoint errata_definition');
      const { code } = error as { code?: string };
      if (code === invalidView)
        standing.push(...(await replaceView(transaction, rollup, statement, grants, error)));
      else if (code === invalidFunction)
        standing.push(...(await replaceFunctions(transaction, rollup, statement, grants)));
      // Without what could not be made, others fail too.
      else if (standing.length === 0) throw error;
    }
    await query(transaction, 'release savepoint errata_definition');
  }
  if (standing.length > 0) throw refusal(rollup, standing);
  // Of other parameters a function is another one, and the one before would be left.
  for (const { signature, row_version: version } of await overloadsOf(transaction, rollup)) {
    if (before.some((known) => known.signature === signature && known.row_version === version))
      await query(transaction, `drop function ${signature}`);
  }
  for (const grant of grants) await query(transaction, grant);
}

async function replaceView(
  transaction: ControlTransaction,
  rollup: Rollup,
  statement: Statement,
  grants: Sql[],
  refused: unknown,
): Promise<Standing> {
  const names = relationsOf(rollup);
  const made = (name: Relation) => `create or replace view ${names[name]}`;
  const relation = viewNames.find((name) => statement.sql.includes(`${made(name)} `));
  if (!relation) throw refused;
  const create = made(relation);
  const [, options = '', body = ''] =
    /^((?: with \([^)]*\))? as\n)([\s\S]*)$/.exec(
      statement.sql.slice(statement.sql.indexOf(create) + create.length),
    ) ?? [];
  if (body === '') throw refused;
  const view = names[relation];
  const before = await columnsOf(transaction, view);
  await query(transaction, `create temp view errata_shape as\n${body}`);
  const after = await columnsOf(transaction, 'pg_temp.errata_shape');
  await query(transaction, 'rollback to savepoint errata_definition');

  const isKept = (column: Column) => after.some((other) => columnSql(other) === columnSql(column));
  if (before.every(isKept)) {
    const added = after.filter((column) => !before.some(({ name }) => name === column.name));
    const columns = [...before, ...added].map(({ name }) => trustedSql(`v.${quoteName(name)}`));
    await query(transaction, `${create}${options}select ${joinSql(columns, ', ')} from (\n${body}\n) as v`);
    return [];
  }
  const place = namesOf(rollup)[relation];
  const dependents = await dependentsOf(transaction, rollup, 'relation', place, true);
  const users = dependents.filter((dependent) => !dependent.is_ours);
  if (users.length > 0) return users.map((dependent) => ({ on: view, dependent }));
  // In this order none stands on another any more; the files that make ours follow this one.
  for (const { schema, name } of [...dependents, place]) {
    const dropped = { schema: schema as string, name: name as string };
    grants.push(...(await grantsOn(transaction, 'relation', dropped)));
    await query(transaction, `drop view ${quoteTable(dropped)}`);
  }
  await execute(transaction, statement);
  return [];
}

async function replaceFunctions(
  transaction: ControlTransaction,
  rollup: Rollup,
  statement: Statement,
  grants: Sql[],
): Promise<Standing> {
  const made = (await overloadsOf(transaction, rollup)).filter(({ schema, name }) =>
    statement.sql.includes(`create or replace function ${quoteTable({ schema, name })} (`),
  );
  const standing: Standing[number][] = [];
  const emptied = new Map<string, TableName>();
  for (const { schema, name } of made) {
    for (const dependent of await dependentsOf(transaction, rollup, 'function', { schema, name }, false)) {
      const place = { schema: dependent.schema as string, name: dependent.name as string };
      if (dependent.is_ours) emptied.set(quoteTable(place), place);
      else standing.push({ on: quoteTable({ schema, name }), dependent });
    }
  }
  if (standing.length > 0) return standing;
  for (const view of emptied.values()) await emptyView(transaction, view);
  for (const { schema, name, signature } of made) {
    grants.push(...(await grantsOn(transaction, 'function', { schema, name })));
    await query(transaction, `drop function ${signature}`);
  }
  await execute(transaction, statement);
  return [];
}

/** A view of the same columns and no rows, until its own file makes it anew: what stands on it stays. */
async function emptyView(transaction: ControlTransaction, place: TableName): Promise<void> {
  const view = quoteTable(place);
  const columns = (await columnsOf(transaction, view)).map(columnSql);
  await query(transaction, `create or replace view ${view} as select ${joinSql(columns, ', ')} where false`);
}

/** Before a table of ours is dropped that the definitions make anew, or no longer name. */
export async function emptyViewsOn(
  transaction: ControlTransaction,
  rollup: Rollup,
  table: TableName,
): Promise<void> {
  for (const dependent of await dependentsOf(transaction, rollup, 'relation', table, false)) {
    const { kind, is_ours: isOurs, schema, name } = dependent;
    if (isOurs && kind === 'view')
      await emptyView(transaction, { schema: schema as string, name: name as string });
  }
}

function refusal({ settings }: Rollup, standing: Standing): Failure {
  const lines = new Map<string, string>();
  for (const { on, dependent } of standing) {
    const { kind, identity, owner } = dependent;
    const thing = `${kind} ${identity}`;
    if (!lines.has(thing))
      lines.set(thing, `${thing}${owner === null ? '' : ` of ${owner}`}, on ${on.replaceAll('"', '')}`);
  }
  return new Failure(`what others have made stands in the way of rollup "${settings.name}"`, {
    detail: [...lines.values()].join('\n'),
    hint: 'drop it, run `errata migrate`, and make it again; nothing was changed',
    exitCode: 2,
  });
}

type Relation = keyof ReturnType<typeof namesOf>;

const viewNames: readonly Relation[] = [
  'sealed',
  'latest',
  'live',
  'history',
  'journal',
  'side_output',
  'reconciliation',
];

/** Every function that is named after the rollup, under whatever parameters. */
async function overloadsOf(transaction: ControlTransaction, rollup: Rollup): Promise<Overload[]> {
  const places = Object.values(namesOf(rollup));
  return await query<Overload>(
    transaction,
    `select p.oid::regprocedure::text as signature, p.proname as name, n.nspname as schema, p.xmin::text as row_version
     from unnest($1::text[], $2::text[]) as o (schema, name)
     join pg_catalog.pg_namespace as n on n.nspname = o.schema
     join pg_catalog.pg_proc as p on p.pronamespace = n.oid and p.proname = o.name
     order by p.oid`,
    [places.map(({ schema }) => schema), places.map(({ name }) => name)],
  );
}

async function columnsOf(transaction: ControlTransaction, relation: string): Promise<Column[]> {
  return (await execute<Column>(transaction, prepare('catalog/shape.sql', {}), { relation })).rows;
}

/** NULL under the name, type and collation of a column. */
function columnSql({ name, type, collation_name: collation, collation_schema: schema }: Column): Sql {
  const collate =
    collation === null ? '' : ` collate ${quoteTable({ schema: schema as string, name: collation })}`;
  return trustedSql(`null::${type}${collate} as ${quoteName(name)}`);
}

async function dependentsOf(
  transaction: ControlTransaction,
  rollup: Rollup,
  kind: 'relation' | 'function',
  { schema, name }: TableName,
  throughOurs: boolean,
): Promise<Dependent[]> {
  const ours = Object.values(namesOf(rollup));
  const { rows } = await execute<Dependent>(transaction, prepare('catalog/dependents.sql', {}), {
    kind,
    schema,
    name,
    our_schemas: ours.map((place) => place.schema),
    our_names: ours.map((place) => place.name),
    through_ours: String(throughOurs),
  });
  return rows;
}

/** The grants that give back what a thing takes with it when it is dropped. */
async function grantsOn(
  transaction: ControlTransaction,
  kind: 'relation' | 'function',
  place: TableName,
): Promise<Sql[]> {
  const { rows } = await execute<{
    role_name: string | null;
    privilege: string;
    is_grantable: boolean;
    column_name: string | null;
  }>(transaction, prepare('catalog/held_rights.sql', {}), { kind, ...place });
  return rows.map(({ role_name: role, privilege, is_grantable: isGrantable, column_name: column }) =>
    trustedSql(
      `grant ${privilege}${column === null ? '' : ` (${quoteName(column)})`} on ${kind === 'function' ? 'function ' : ''}${quoteTable(place)}
       to ${role === null ? 'public' : quoteName(role)}${isGrantable ? ' with grant option' : ''}`,
    ),
  );
}
