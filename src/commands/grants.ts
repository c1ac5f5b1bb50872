/** `errata grants`: the roles of the settings and their rights as SQL, for whoever grants at this site. Nothing is run. */
import { grantSql, rightsOf } from '../catalog/rights.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import type { RoleSettings, Settings } from '../config/settings.ts';
import type { Sql } from '../db/identifiers.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import {
  createRoleSql,
  jobsNeeds,
  missingRoles,
  namedRoles,
  preparations,
  readRights,
  readRoles,
} from '../install/roles.ts';

export const grants: Verb = {
  name: 'grants',
  summary: 'print the SQL that makes the roles of the settings and gives them their rights; nothing is run',
  arguments: [],
  options: [],
  help: `${exitCodeHelp([0, 1, 2])}

First what somebody with more rights runs before \`errata migrate\`, as far as it is missing; then what \`errata migrate\`
grants by itself, each time, to relations that it has made anew. SECURITY.md says what each role is for.

Example:
  errata grants > roles.sql`,

  async execute(context) {
    const settings = context.settings();
    const { roles } = settings;
    if (!roles)
      throw new Failure(`${settings.file} names no roles`, {
        detail: 'without them whoever runs `errata migrate` owns what it makes, and nothing is granted',
        hint: 'write roles: { job: errata_job, stream: errata_stream, reader: errata_reader, auditor: errata_auditor }',
        exitCode: 2,
      });
    const { control } = await context.open();
    const { before, granted } = await inTransaction(control, 'read committed', async (transaction) => ({
      before: await beforeMigrate(transaction, settings, roles),
      granted: await readRights(transaction, settings),
    }));
    const rights = rightsOf(settings.schema, roles, settings.rollups).map(grantSql);
    return {
      exitCode: 0,
      text: [
        '-- Before `errata migrate`, by a role that may: what is missing.',
        ...(before.length === 0 ? ['-- Nothing.'] : before.map((sql) => `${sql};`)),
        '',
        '-- What `errata migrate` grants by itself where it is missing.',
        ...rights.map((sql) => `${sql};`),
      ].join('\n'),
      data: {
        before,
        rights: granted.map(({ right, isThere, isHeld }) => ({
          ...right,
          isThere,
          isHeld,
          sql: grantSql(right),
        })),
      },
    };
  },
};

/** In an order in which each can be run: a role before what is granted to it. */
async function beforeMigrate(
  transaction: ControlTransaction,
  settings: Settings,
  roles: RoleSettings,
): Promise<Sql[]> {
  const found = await readRoles(transaction, roles);
  const missing = missingRoles(roles, found);
  const create = namedRoles(roles)
    .filter(({ part }) => missing.some(({ place }) => place === `roles.${part}`))
    .map(({ role }) => createRoleSql(role));
  const { job } = roles;
  if (job === undefined) return create;
  return [
    ...create,
    ...(await jobsNeeds(transaction, settings, job)),
    ...(await preparations(transaction, settings, job)),
  ];
}
