/** `errata sql ROLLUP`: prints exactly what runs, for whoever has to explain it, or to EXPLAIN it. */
import { describedRollup, openRollup, selectRollups } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { type PipelineFile, statementsOf } from '../catalog/statements.ts';
import type { Context } from '../cli/context.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import type { Statement } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';

export const sql: Verb = {
  name: 'sql',
  summary: 'print every definition and statement of a rollup, as it is sent',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [],
  help: `${exitCodeHelp([0, 1, 2])}

Values are parameters ($1, $2, …); the head of each statement says what they are.

Example:
  errata sql daily_orders | less`,

  async execute(context, [name = '']) {
    const [rollup, isMigrated] = await found(context, name);
    const statements = statementsRun(rollup);
    const head = isMigrated
      ? `-- Rollup ${name}, number ${rollup.id} in schema "${rollup.schema}".`
      : `-- Rollup ${name} is not migrated in this form: 0 stands for the number that \`errata migrate\` gives it.`;
    const texts = statements.map(
      ({ path, sql: text }) => `-- sql/${path}\n${text.trim().replace(/;$/, '')};`,
    );
    return {
      exitCode: 0,
      text: [
        head,
        '-- scan, classify, quarantine and what keeps partials run once for each ingestion partition, with its constraint in place of "true".',
        ...texts.map((text) => `\n${text}`),
      ].join('\n'),
      data: { rollup: name, isMigrated, statements },
    };
  },
};

/** Of a rollup over sessions, what the stages do for sessions stands in place of what they do for windows of a grid. */
function statementsRun(rollup: Rollup): Statement[] {
  const {
    definitions,
    pipeline,
    sessions,
    watermarkDelays,
    overrides,
    partials,
    report,
    release,
    releaseQuarantined,
    amend,
    lookUp,
  } = statementsOf(rollup);
  const stages = Object.entries(pipeline).flatMap(([file, statement]) =>
    file === 'recompute'
      ? [[file, statement] as const, [file, lookUp] as const]
      : [[file, statement] as const],
  );
  const isSession = rollup.settings.window.kind === 'session';
  return [
    ...definitions,
    ...stages.filter(([file]) => !isSession || !gridFiles.has(file)).map(([, statement]) => statement),
    ...(isSession ? Object.values(sessions) : []),
    ...(watermarkDelays ? [watermarkDelays] : []),
    ...Object.values(overrides ?? {}),
    ...Object.values(partials ?? {}),
    release,
    releaseQuarantined,
    amend,
    ...Object.values(report),
  ];
}

const gridFiles = new Set<string>([
  'classify',
  'copies_none',
  'copies_sealing',
  'copies_ids',
  'copies_late',
  'copies',
  'exclude_from_seal',
  'seal',
  'sealing_result',
  'unsealed',
  'agreed',
  'amend_ids',
  'amend_rows',
  'amend_clear',
  'amend_copies',
  'amend_states',
  'left_out',
  'whole',
  'look_up',
  'recompute',
  'whole_results',
] satisfies PipelineFile[]);

/** As the database knows it; else as it would be. */
async function found(context: Context, name: string): Promise<[Rollup, boolean]> {
  const settings = context.settings();
  const [chosen] = selectRollups(settings, [name]);
  if (!chosen) throw new Failure(`there is no rollup "${name}"`, { exitCode: 2 });
  const { control } = await context.open();
  try {
    return [await openRollup(control, settings, chosen), true];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const described = await inTransaction(control, 'read committed', (transaction) =>
      describedRollup(transaction, settings, chosen),
    );
    return [described, false];
  }
}
