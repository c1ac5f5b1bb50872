/** `errata check`: everything that does not fit, over all rollups at once, and what a first run would cost. */
import { describeRollup, type Fault } from '../catalog/describe.ts';
import { selectRollups } from '../catalog/open.ts';
import { checkBronze } from '../check/bronze.ts';
import { checkContradictions } from '../check/contradictions.ts';
import { checkDefinition } from '../check/definition.ts';
import { Findings } from '../check/findings.ts';
import { type FirstRun, firstRunText } from '../check/first-run.ts';
import { checkOverrides } from '../check/overrides.ts';
import { checkPrivileges } from '../check/privileges.ts';
import { checkRoles, lookAsJob } from '../check/roles.ts';
import { checkStreamTables } from '../check/stream-tables.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import { missingMigrations } from '../db/migrator.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { counted } from '../output/amount.ts';
import { databaseFailure } from '../output/database-failure.ts';

interface Checked {
  readonly rollup: string;
  readonly line: number;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
  /** Undefined where faults leave nothing to estimate. */
  readonly firstRun: FirstRun | undefined;
}

export const check: Verb = {
  name: 'check',
  summary: 'say everything that does not fit, and what a first run would cost; nothing is written',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: [],
  help: `${exitCodeHelp([0, 1, 2], {
    0: 'everything fits; warnings may have been printed',
    2: 'something does not fit, or the settings cannot be read',
  })}

Rows and windows of the first run are estimates from the catalogue; a large table is never read.

Example:
  errata check && errata migrate`,

  async execute(context, names) {
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const { control, serverVersion } = await context.open();
    const checked: Checked[] = [];
    for (const rollup of chosen) {
      checked.push(
        await inTransaction(control, 'read committed', (transaction) =>
          checkRollup(transaction, settings, rollup),
        ),
      );
    }
    const lacking = await missingMigrations(control, settings.schema);
    const { roles } = settings;
    const ofRoles = roles
      ? await inTransaction(control, 'read committed', (transaction) =>
          checkRoles(transaction, settings, roles),
        )
      : undefined;
    const all = [...checked, ...(ofRoles ? [ofRoles] : [])];
    const faults = all.flatMap((one) => one.faults).length;
    const warnings = all.flatMap((one) => one.warnings).length;
    const exitCode = faults > 0 ? 2 : 0;
    return {
      exitCode,
      text: [
        ...(lacking.length > 0
          ? [`the control tables are of an earlier version of Errata: they lack ${lacking.join(', ')}`]
          : []),
        ...checked.map((one) => checkedText(one, settings.file)),
        ...(ofRoles && ofRoles.faults.length + ofRoles.warnings.length > 0
          ? [checkedText({ rollup: 'roles', firstRun: undefined, ...ofRoles }, settings.file)]
          : []),
        ...(serverVersion >= 190_000
          ? [
              `PostgreSQL ${Math.floor(serverVersion / 10_000)} is newer than what Errata was tested with (15 to 18).`,
            ]
          : []),
        faults > 0
          ? `${counted(faults, 'fault')}, ${counted(warnings, 'warning')}: mend the faults and run \`errata check\` again`
          : `everything fits${warnings > 0 ? `, with ${counted(warnings, 'warning')}` : ''}: run \`errata migrate\``,
      ].join('\n'),
      data: {
        exitCode,
        serverVersion,
        missingMigrations: lacking,
        ...(ofRoles ? { roles: ofRoles } : {}),
        rollups: checked.map(({ firstRun, ...rest }) => ({ ...rest, firstRun: firstRun ?? null })),
      },
    };
  },
};

async function checkRollup(
  transaction: ControlTransaction,
  declared: Settings,
  settings: RollupSettings,
): Promise<Checked> {
  const { schema } = declared;
  const findings = new Findings(settings);
  await lookAsJob(transaction, declared);
  const mayProbe = await checkPrivileges(transaction, schema, settings, findings);
  await checkStreamTables(transaction, settings, findings);
  const { rollup, faults } = await describeRollup(transaction, schema, settings);
  // Without temporary views every expression is refused for the one reason that is said already.
  findings.faults.push(...faults.filter(({ fact }) => mayProbe || !fact.includes('temporary tables')));
  let firstRun: FirstRun | undefined;
  if (rollup && faults.length === 0) {
    await checkDefinition(transaction, rollup, findings);
    await checkOverrides(transaction, rollup, findings);
    await checkContradictions(transaction, rollup, findings);
    try {
      firstRun = await checkBronze(transaction, rollup, findings);
    } catch (error) {
      throw databaseFailure(error, { rollup: settings.name }) ?? error;
    }
  }
  const { faults: all, warnings } = findings;
  return { rollup: settings.name, line: settings.position.line, faults: all, warnings, firstRun };
}

function checkedText({ rollup, line, faults, warnings, firstRun }: Checked, file: string): string {
  const said = (kind: string, { line: at, place, fact, hint }: Fault) =>
    `  ${kind} ${file}:${at}  ${place}: ${fact}\n           ${hint.replaceAll('\n', '\n           ')}`;
  return [
    `${rollup} (${file}:${line})`,
    ...faults.map((fault) => said('fault   ', fault)),
    ...warnings.map((warning) => said('warning ', warning)),
    ...(firstRun ? [`  a first run reads ${firstRunText(firstRun)}`] : []),
  ].join('\n');
}
