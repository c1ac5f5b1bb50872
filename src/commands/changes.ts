/** `errata changes`: which published numbers changed since an instant, a run or a mark; from what, to what, and why. */
import { selectRollups } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { readInstant } from '../config/instant.ts';
import { quoteName } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { amount, counted, difference } from '../output/amount.ts';
import { table } from '../output/table.ts';
import { windowText } from '../output/window-text.ts';
import { type ChangedWindow, readChangesSince } from '../report/changes-since.ts';
import { instantText } from '../report/instant-text.ts';
import { knownAt } from '../report/known-at.ts';
import { publishedRollup } from '../report/published-rollup.ts';

interface Flags {
  readonly since?: string;
  readonly until?: string;
  readonly run?: string;
  readonly limit?: string;
}

export const changes: Verb<Flags> = {
  name: 'changes',
  summary: 'list the published numbers that changed since an instant, a run or a mark, and why',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; left out: all' }],
  options: [
    {
      flags: '--since <WORD>',
      description: 'an instant, the number of a run (what came after it), or a mark',
    },
    { flags: '--until <WORD>', description: 'and before this instant, run or mark came to its end' },
    { flags: '--run <N>', description: 'what this run changed' },
    { flags: '--limit <N>', description: 'at most so many keyed windows a rollup; 1000 unless told' },
  ],
  help: `${exitCodeHelp([0, 1, 2])}

A number changed where a correction was appended to what had been published, or where the first number of a keyed window
came as a correction. <gold>_changes('WORD') is the same for SQL; the views <gold>_history and <gold>_journal hold each
step of it.

Examples:
  errata changes --since '2026-10 close'
  errata changes --since 'September, mailed' --until 'October, mailed'
  errata changes daily_orders --run 12 --json`,

  async execute(context, names, flags) {
    const limit = flags.limit ?? '1000';
    if (!/^[1-9]\d{0,8}$/.test(limit))
      throw new Failure(`--limit ${JSON.stringify(limit)} is not a number of keyed windows`, {
        hint: 'write a whole number from 1 on',
        exitCode: 2,
      });
    if ((flags.since === undefined) === (flags.run === undefined))
      throw new Failure('say since when: --since WORD or --run N, one of them', {
        hint: "`errata status` shows the last run; --since takes an instant, a run's number or a mark",
        exitCode: 2,
      });
    if (flags.run !== undefined && flags.until !== undefined)
      throw new Failure('--run and --until contradict each other', {
        hint: 'leave one of them out',
        exitCode: 2,
      });
    if (flags.run !== undefined && !isNumber(flags.run))
      throw new Failure(`--run ${JSON.stringify(flags.run)} is not the number of a run`, { exitCode: 2 });
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const { control } = await context.open();
    return await inTransaction(control, 'repeatable read', async (transaction) => {
      const found: {
        rollup: string;
        since: string;
        until: string | null;
        windows: readonly ChangedWindow[];
        has_more: boolean;
      }[] = [];
      const lines: string[] = [];
      const since =
        flags.since === undefined
          ? '-infinity'
          : await instantOf(transaction, settings.schema, flags.since, '--since');
      const until =
        flags.until === undefined
          ? null
          : await instantOf(transaction, settings.schema, flags.until, '--until');
      if (flags.run !== undefined) await stampOf(transaction, settings.schema, flags.run);
      for (const one of chosen) {
        const rollup = await publishedRollup(transaction, settings, one);
        if (until !== null) await knownAt(transaction, rollup, { at: until });
        const windows = await readChangesSince(transaction, rollup, {
          since,
          until,
          runId: flags.run ?? null,
          atMost: Number(limit) + 1,
        });
        const shown = windows.slice(0, Number(limit));
        const hasMore = windows.length > shown.length;
        found.push({ rollup: one.name, since, until, windows: shown, has_more: hasMore });
        const when =
          flags.run === undefined
            ? `since ${instantText(since)}${until === null ? '' : ` and until ${instantText(until)}`}`
            : `by run ${flags.run}`;
        lines.push(
          `${one.name}: ${shown.length === 0 ? 'nothing' : counted(shown.length, 'keyed window')} changed ${when}`,
          ...windowLines(shown, rollup).map((line) => `  ${line}`),
          ...(hasMore ? [`  and more; --limit ${Number(limit) * 10} shows more of them`] : []),
        );
      }
      return { exitCode: 0, text: lines.join('\n'), data: found };
    });
  },
};

function windowLines(windows: readonly ChangedWindow[], { keys, measures }: Rollup): string[] {
  if (windows.length === 0) return [];
  return table(
    [
      { title: 'window' },
      ...keys.map(({ name: title }) => ({ title })),
      { title: 'version', isNumber: true },
      { title: 'measure' },
      ...['old', 'new', 'delta'].map((title) => ({ title, isNumber: true })),
      { title: 'causes' },
    ],
    windows.flatMap((window) =>
      measures.map(({ name }, index) => [
        ...(index === 0
          ? [
              windowText(window),
              ...keys.map((key) => window.key[key.name] ?? 'NULL'),
              String(window.new_version),
            ]
          : ['', ...keys.map(() => ''), '']),
        name,
        window.old_version === null ? '–' : amount(window.measures[name]?.[0]),
        window.is_void ? 'void' : amount(window.measures[name]?.[1]),
        difference(window.deltas[name]),
        index === 0 ? (window.causes ?? []).join(', ') : '',
      ]),
    ),
  );
}

const isNumber = (word: string) => /^[1-9]\d{0,17}$/.test(word);

/** The instant that a mark, a run or an instant means. @throws Failure, exit code 2. */
async function instantOf(
  transaction: ControlTransaction,
  schema: string,
  word: string,
  option: string,
): Promise<string> {
  const [mark] = await query<{ stamp: string }>(
    transaction,
    `select m.stamp::text as stamp from ${quoteName(schema)}.mark as m where m.name = $1`,
    [word],
  );
  if (mark) return mark.stamp;
  if (isNumber(word)) return await stampOf(transaction, schema, word);
  const reading = readInstant(word);
  if ('wrong' in reading)
    throw new Failure(`${option} ${JSON.stringify(word)} is no mark, no run and no instant`, {
      hint: 'write an instant such as 2026-11-01T00:00Z, or the number of a run',
      exitCode: 2,
    });
  const [row] = await query<{ instant: string }>(transaction, 'select $1::timestamptz::text as instant', [
    word,
  ]);
  return (row as { instant: string }).instant;
}

/** @throws Failure, exit code 2, if there is no such run, or it did not publish. */
async function stampOf(transaction: ControlTransaction, schema: string, runId: string): Promise<string> {
  const [run] = await query<{ stamp: string | null }>(
    transaction,
    `select r.stamp::text as stamp from ${quoteName(schema)}.run as r where r.run_id = $1`,
    [runId],
  );
  if (run?.stamp) return run.stamp;
  throw new Failure(run ? `run ${runId} did not come to its end` : `there is no run ${runId}`, {
    hint: '`errata status` shows the last run of each rollup',
    exitCode: 2,
  });
}
