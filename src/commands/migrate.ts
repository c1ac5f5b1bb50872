/** `errata migrate`: the control tables, then the relations of every rollup. All or nothing, and safe to repeat. */
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import type { Settings } from '../config/settings.ts';
import { quoteText, type Sql } from '../db/identifiers.ts';
import { migrateAll, rehearse } from '../install/install.ts';
import { completeText } from '../install/migrated.ts';
import type { Change } from '../install/recorded.ts';

export const migrate: Verb<{ dryRun?: boolean }> = {
  name: 'migrate',
  summary: 'make the control tables and the relations of every rollup, or bring them up to date',
  arguments: [],
  options: [{ flags: '--dry-run', description: 'print the SQL and write nothing' }],
  help: `${exitCodeHelp([0, 1, 2], { 2: 'wrong usage or configuration; nothing was made' })}

Safe to repeat, and for several at once: each waits for the one before. The dry run does everything and rolls it
back, so what would be refused is refused. Where the settings name roles, it makes everything as \`roles.job\` and grants
what \`errata grants\` prints.

Example:
  errata migrate --dry-run > what-will-run.sql && errata migrate`,

  async execute(context, _names, { dryRun }) {
    const settings = context.settings();
    const { control } = await context.open();
    if (dryRun) {
      const changes = await rehearse(control, settings);
      return { exitCode: 0, text: sqlText(changes), data: { dryRun: true, statements: changes } };
    }
    const { migrations, rollups, ungranted } = await migrateAll(control, settings);
    const made =
      migrations.length > 0 ? `made ${migrations.join(', ')}` : 'the control tables are up to date';
    return {
      exitCode: 0,
      text: [
        `${settings.schema}: ${made}`,
        ...rollups.map(completeText),
        ...rolesText(settings, ungranted),
      ].join('\n'),
      data: { migrations, rollups, ...(settings.roles ? { ungranted } : {}) },
    };
  },
};

function rolesText({ roles }: Settings, ungranted: readonly Sql[]): string[] {
  if (!roles) return [];
  if (ungranted.length === 0) return ['roles: each holds the rights that `errata grants` prints'];
  return ['roles: the owner of the schema has to grant', ...ungranted.map((sql) => `  ${sql};`)];
}

/** A script that psql can read; values of parameters are written out where a statement has some. */
function sqlText(changes: readonly Change[]): string {
  const statements = changes.map(({ sql, parameters }) => {
    const text = sql.trim().replace(/;$/, '');
    if (parameters.length === 0) return `${text};`;
    // a name may hold what looks like a parameter
    return `${text.replaceAll(/"(?:[^"]|"")*"|\$(\d+)/g, (whole, position: string | undefined) =>
      position === undefined ? whole : valueText(parameters[Number(position) - 1]),
    )};`;
  });
  const head = '-- What `errata migrate` would run, in one transaction; nothing was written.';
  return [head, ...statements].join('\n\n');
}

function valueText(value: unknown): string {
  return value === null || value === undefined ? 'null' : quoteText(String(value)).trim();
}
