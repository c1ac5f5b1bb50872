/** What `check` finds about the roles of the settings: what they lack, and what they hold too much of. */
import type { Fault } from '../catalog/describe.ts';
import { grantSql, objectSql, ownedNames, rightsOf } from '../catalog/rights.ts';
import { formatTableName } from '../config/name.ts';
import type { RoleSettings, Settings } from '../config/settings.ts';
import { quoteName, quoteTable } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import {
  actAs,
  jobsNeeds,
  missingRoles,
  namedRoles,
  preparations,
  type RoleRow,
  readRights,
  readRoles,
} from '../install/roles.ts';

export interface RoleFindings {
  readonly line: number;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

export async function checkRoles(
  transaction: ControlTransaction,
  settings: Settings,
  roles: RoleSettings,
): Promise<RoleFindings> {
  const line = roles.position.line;
  const found = await readRoles(transaction, roles);
  const faults = missingRoles(roles, found);
  const warnings: Fault[] = [];
  const say = (list: Fault[], role: string, fact: string, hint: string) => {
    const part = namedRoles(roles).find((named) => named.role === role)?.part ?? 'job';
    list.push({ place: `roles.${part}`, line, fact, hint });
  };
  for (const row of found) attributes(row, roles, (fact, hint) => say(warnings, row.role, fact, hint));

  const job = found.find(({ role }) => role === roles.job);
  if (job) {
    for (const sql of await jobsNeeds(transaction, settings, job.role))
      say(faults, job.role, `the role ${job.role} lacks a right that every run needs`, sql);
    for (const sql of await preparations(transaction, settings, job.role))
      say(
        warnings,
        job.role,
        `\`errata migrate\` as ${job.role} needs more`,
        `${sql}; or migrate as a role that may`,
      );
  }
  for (const { right, isThere, isHeld } of await readRights(transaction, settings)) {
    if (!isThere || isHeld) continue;
    const what = objectSql(right.kind, right);
    say(
      warnings,
      right.role,
      `the role ${right.role} lacks ${right.privilege} on ${what}`,
      `${grantSql(right)}; \`errata migrate\` does so too`,
    );
  }
  for (const { role, privileges, ...table } of await excess(transaction, settings, roles))
    say(
      warnings,
      role,
      `the role ${role} holds ${privileges.join(', ')} on ${formatTableName(table)}, beyond what it needs`,
      `revoke ${privileges.join(', ')} on ${quoteTable(table)} from ${quoteName(role)}, or from PUBLIC or the role by which it has that`,
    );
  return { line, faults, warnings };
}

/** What no grant holds back. */
function attributes(row: RoleRow, roles: RoleSettings, say: (fact: string, hint: string) => void): void {
  const name = quoteName(row.role);
  if (row.is_superuser)
    say(
      `the role ${row.role} is a superuser${row.role === roles.job ? ', and measure expressions run with its rights' : ''}`,
      `alter role ${name} nosuperuser`,
    );
  if (row.is_member_of_job && !row.is_superuser && roles.job !== undefined)
    say(
      `the role ${row.role} is a member of ${roles.job}, so it may do all that the job may`,
      `revoke ${quoteName(roles.job)} from ${name}`,
    );
}

async function excess(
  transaction: ControlTransaction,
  settings: Settings,
  roles: RoleSettings,
): Promise<{ role: string; schema: string; name: string; privileges: string[] }[]> {
  const rights = rightsOf(settings.schema, roles, settings.rollups);
  const tables = ownedNames(settings.schema, settings.rollups).filter(({ kind }) => kind === 'table');
  const lines = namedRoles(roles)
    .filter(({ part }) => part !== 'job')
    .flatMap(({ role }) =>
      tables.map(({ table }) => ({
        role,
        ...table,
        right:
          rights.find(
            (one) =>
              one.kind === 'table' &&
              one.role === role &&
              one.schema === table.schema &&
              one.name === table.name &&
              one.columns.length === 0,
          )?.privilege ?? '',
      })),
    );
  const { rows } = await execute<{ role: string; schema: string; name: string; privileges: string[] }>(
    transaction,
    prepare('check/excess.sql', {}),
    {
      roles: lines.map(({ role }) => role),
      schemas: lines.map(({ schema }) => schema),
      names: lines.map(({ name }) => name),
      rights: lines.map(({ right }) => right),
      job: roles.job ?? null,
    },
  );
  return rows;
}

/** Rollups are looked at as the job's role, where the connected one may act as it: it is the job that has to read bronze. */
export async function lookAsJob(transaction: ControlTransaction, { roles }: Settings): Promise<void> {
  if (roles?.job === undefined) return;
  const found = await readRoles(transaction, roles);
  const job = found.find(({ role }) => role === roles.job);
  if (job?.is_ours && !job.is_current) await query(transaction, actAs(job.role));
}
