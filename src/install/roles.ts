/** The roles of the settings: what must be there before `migrate` makes anything, and what it grants afterwards. */

import type { Fault } from '../catalog/describe.ts';
import { grantSql, ownedNames, type Right, rightsOf } from '../catalog/rights.ts';
import type { RoleSettings, Settings } from '../config/settings.ts';
import { quoteName, quoteTable, type Sql, trustedSql } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { counted } from '../output/amount.ts';

export interface RoleRow {
  readonly role: string;
  readonly is_superuser: boolean;
  readonly passes_row_security: boolean;
  /** By membership, of whatever depth: it may act as the job. */
  readonly is_member_of_job: boolean;
  /** The connected role may act as it. */
  readonly is_ours: boolean;
  readonly is_current: boolean;
}

const parts = ['job', 'stream', 'reader', 'auditor'] as const;

export function namedRoles(roles: RoleSettings): { part: (typeof parts)[number]; role: string }[] {
  return parts.flatMap((part) => {
    const role = roles[part];
    return role === undefined ? [] : [{ part, role }];
  });
}

export async function readRoles(transaction: ControlTransaction, roles: RoleSettings): Promise<RoleRow[]> {
  const { rows } = await execute<RoleRow>(transaction, prepare('catalog/roles.sql', {}), {
    roles: namedRoles(roles).map(({ role }) => role),
    job: roles.job ?? null,
  });
  return rows;
}

/** Roles that the settings name and the server does not have. Errata makes none: they belong to the whole server. */
export function missingRoles(roles: RoleSettings, found: readonly RoleRow[]): Fault[] {
  return namedRoles(roles)
    .filter(({ role }) => !found.some((row) => row.role === role))
    .map(({ part, role }) => ({
      place: `roles.${part}`,
      line: roles.position.line,
      fact: `there is no role ${role}`,
      hint: createRoleSql(role),
    }));
}

export function createRoleSql(role: string): Sql {
  return trustedSql(`create role ${quoteName(role)} nologin`);
}

/**
 * From here on the transaction acts as the job's role, so that all it makes is that role's: views and functions run with
 * the rights of their owner, and measure expressions in them too. Who connects as another role makes the schemas first and
 * hands over what an earlier `migrate` made.
 * @throws Failure, exit code 2, if the connected role may not act as it.
 */
export async function actAsJob(
  transaction: ControlTransaction,
  settings: Settings,
  found: readonly RoleRow[],
): Promise<void> {
  const job = settings.roles?.job;
  const row = found.find(({ role }) => role === job);
  if (job === undefined || row === undefined) return;
  if (row.is_current) {
    const left = (await preparations(transaction, settings, job)).filter((sql) => sql.startsWith('alter '));
    if (left.length === 0) return;
    throw new Failure(`${job} does not own all that Errata has made`, {
      detail: `an earlier \`errata migrate\` made ${counted(left.length, 'relation or function', 'relations and functions')} as another role`,
      hint: `migrate once as a superuser, who hands it over, or run what \`errata grants\` prints first: ${left[0]}, …`,
      exitCode: 2,
    });
  }
  if (!row.is_ours) {
    const [{ role } = { role: '' }] = await query<{ role: string }>(
      transaction,
      'select current_user::text as role',
    );
    throw new Failure(`the role ${role} may not act as ${job}`, {
      detail: `roles.job (${settings.file}:${settings.roles?.position.line}) owns what Errata makes`,
      hint: `connect as ${job}, or grant ${quoteName(job)} to ${quoteName(role)}`,
      exitCode: 2,
    });
  }
  for (const statement of await preparations(transaction, settings, job)) await query(transaction, statement);
  await query(transaction, actAs(job));
}

/** Ends with the transaction. */
export function actAs(role: string): Sql {
  return trustedSql(`set local role ${quoteName(role)}`);
}

/** What is left to do for the job's role before it can make its relations itself; empty: nothing. */
export async function preparations(
  transaction: ControlTransaction,
  settings: Settings,
  job: string,
): Promise<Sql[]> {
  const { schema, rollups } = settings;
  const schemas = [...new Set([schema, ...rollups.map(({ gold }) => gold.schema)])];
  const { rows: places } = await execute<{ schema: string; is_there: boolean; may_create: boolean }>(
    transaction,
    prepare('catalog/schemas.sql', {}),
    { schemas, role: job },
  );
  const owned = ownedNames(schema, rollups);
  const { rows: others } = await execute<{ kind: string; schema: string; name: string }>(
    transaction,
    prepare('catalog/not_owned.sql', {}),
    {
      job,
      kinds: owned.map(({ kind }) => kind),
      schemas: owned.map(({ table }) => table.schema),
      names: owned.map(({ table }) => table.name),
    },
  );
  return [
    ...places
      .filter((place) => !place.is_there)
      .map((place) => trustedSql(`create schema ${quoteName(place.schema)} authorization ${quoteName(job)}`)),
    ...places
      .filter((place) => place.is_there && !place.may_create)
      .map((place) =>
        trustedSql(`grant usage, create on schema ${quoteName(place.schema)} to ${quoteName(job)}`),
      ),
    ...others.map(({ kind, ...table }) =>
      trustedSql(`alter ${kind} ${quoteTable(table)} owner to ${quoteName(job)}`),
    ),
  ];
}

/** What the job's role lacks of what is not Errata's: temporary tables, bronze, and what else of the user's a rollup reads. */
export async function jobsNeeds(
  transaction: ControlTransaction,
  settings: Settings,
  job: string,
): Promise<Sql[]> {
  const tables = settings.rollups.flatMap(({ bronze, watermark, seal }) => [
    bronze.table,
    ...(watermark.log ? [watermark.log.table] : []),
    ...(watermark.refused ? [watermark.refused.table] : []),
    ...(watermark.overrides ? [watermark.overrides.table] : []),
    ...(seal.by === 'table' ? [seal.table] : []),
  ]);
  const tracked = settings.rollups.flatMap(({ bronze }) => (bronze.trackChanges ? [bronze.table] : []));
  const { rows } = await execute<{
    kind: string;
    schema: string;
    name: string;
    database: string;
    privilege: string;
  }>(transaction, prepare('catalog/job_needs.sql', {}), {
    job,
    schemas: [...tables, ...tracked].map(({ schema }) => schema),
    names: [...tables, ...tracked].map(({ name }) => name),
    privileges: [...tables.map(() => 'select'), ...tracked.map(() => 'trigger')],
  });
  const to = `to ${quoteName(job)}`;
  return rows.map(({ kind, schema, name, database, privilege }) => {
    if (kind === 'database') return trustedSql(`grant ${privilege} on database ${quoteName(database)} ${to}`);
    if (kind === 'schema') return trustedSql(`grant ${privilege} on schema ${quoteName(schema)} ${to}`);
    return trustedSql(`grant ${privilege} on ${quoteTable({ schema, name })} ${to}`);
  });
}

export interface RightRow {
  readonly right: Right;
  /** The role and what it is about are there. */
  readonly isThere: boolean;
  readonly isHeld: boolean;
  /** The role that the transaction acts as may grant it. */
  readonly mayBeGranted: boolean;
}

/** Every right that the settings give, and whether it is in force. */
export async function readRights(
  transaction: ControlTransaction,
  { schema, roles, rollups }: Pick<Settings, 'schema' | 'roles' | 'rollups'>,
): Promise<RightRow[]> {
  if (!roles) return [];
  const rights = rightsOf(schema, roles, rollups);
  const lines = rights.flatMap((right, place) =>
    (right.columns.length === 0 ? [''] : right.columns).map((column) => ({ ...right, place, column })),
  );
  const { rows } = await execute<{
    place: number;
    is_there: boolean;
    is_held: boolean;
    may_be_granted: boolean;
  }>(transaction, prepare('catalog/rights.sql', {}), {
    places: lines.map(({ place }) => String(place)),
    roles: lines.map(({ role }) => role),
    kinds: lines.map(({ kind }) => kind),
    schemas: lines.map((line) => line.schema),
    names: lines.map(({ name }) => name),
    columns: lines.map(({ column }) => column),
    privileges: lines.map(({ privilege }) => privilege),
  });
  return rows.map((row) => ({
    right: rights[row.place] as Right,
    isThere: row.is_there,
    isHeld: row.is_held,
    mayBeGranted: row.may_be_granted,
  }));
}

/** Grants what is missing. @returns the grants that another role has to make. */
export async function grantRights(
  transaction: ControlTransaction,
  settings: Pick<Settings, 'schema' | 'roles' | 'rollups'>,
): Promise<Sql[]> {
  const missing = (await readRights(transaction, settings)).filter(
    ({ isThere, isHeld }) => isThere && !isHeld,
  );
  for (const { right, mayBeGranted } of missing) if (mayBeGranted) await query(transaction, grantSql(right));
  return missing.filter(({ mayBeGranted }) => !mayBeGranted).map(({ right }) => grantSql(right));
}
