/** `errata statement`: a period as finance reads it and an auditor checks it, the same to the byte whenever it is asked for. */
import { resolve } from 'node:path';
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import type { RollupSettings } from '../config/settings.ts';
import { Failure } from '../failure.ts';
import { amount, counted } from '../output/amount.ts';
import { instantText } from '../report/instant-text.ts';
import { verifyStatement } from '../report/statement/verify.ts';
import { writeStatement } from '../report/statement/write.ts';

interface Flags {
  readonly period?: string;
  readonly out?: string;
  readonly at?: string;
  readonly mark?: string;
  readonly verify?: string;
}

export const statement: Verb<Flags> = {
  name: 'statement',
  summary: 'write the statement of a period, or verify one that was written',
  arguments: [{ name: '[ROLLUP]', description: 'a rollup of the settings; left out with --verify' }],
  options: [
    { flags: '--period <NAME>', description: 'the windows that start in it, as in 2026-10' },
    { flags: '--out <DIR>', description: 'a new or empty directory' },
    { flags: '--mark <NAME>', description: 'as it was known at this mark; left out: at the last close' },
    { flags: '--at <TIME>', description: 'as it was known at this instant or date' },
    {
      flags: '--verify <DIR>',
      description: 'compare a written statement with its manifest and the database',
    },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'written, there already, or verified',
    3: 'a file of it was edited, or the database tells it otherwise',
    4: 'nothing done: a sweep is being stored at this moment; try again',
  })}

It holds what was known at one instant, and nothing later: written again on another day it is the same to the byte.
statement.html is for reading and printing, statement.xlsx for finance, the CSV files are whole, and manifest.json and
SHA256SUMS let anybody check them without Errata: docs/statement.md says how.

Examples:
  errata statement daily_orders --period 2026-10 --out october
  errata statement daily_orders --period 2026-10 --mark 'October, mailed' --out october-mailed
  errata statement --verify october`,

  async execute(context, [name], flags) {
    const settings = context.settings();
    if (flags.verify !== undefined) {
      refuseBesideVerify(name, flags);
      const { control } = await context.open();
      const found = await verifyStatement(
        control,
        settings,
        resolve(context.directory, flags.verify),
        flags.verify,
      );
      const of = `${found.rollup}, ${found.period}, known until ${instantText(found.known_until)}`;
      return {
        exitCode: found.holds ? 0 : 3,
        text: found.holds
          ? `${of}: ${counted(found.files, 'file')}, all as written and as the database tells`
          : [
              `${of}: not everything is as it was written`,
              ...found.differences.map(({ file, what, detail }) => `  ${what.padEnd(8)} ${file}: ${detail}`),
            ].join('\n'),
        data: found,
      };
    }
    const { period, out } = flags;
    if (name === undefined || period === undefined || out === undefined || out === '')
      throw new Failure('a statement takes a rollup, a period and a directory', {
        hint: 'write errata statement ROLLUP --period 2026-10 --out DIR, or errata statement --verify DIR',
        exitCode: 2,
      });
    if (flags.at !== undefined && flags.mark !== undefined)
      throw new Failure('--at and --mark contradict each other', {
        hint: 'leave one of them out',
        exitCode: 2,
      });
    const [chosen] = selectRollups(settings, [name]) as [RollupSettings];
    const { control } = await context.open();
    const { manifest, isThere } = await writeStatement(
      control,
      settings,
      chosen,
      { period, at: flags.at, mark: flags.mark },
      resolve(context.directory, out),
      out,
    );
    const files = Object.entries(manifest.files);
    return {
      exitCode: 0,
      text: [
        `${name}, ${period}, ${manifest.mark === null ? '' : `mark ${JSON.stringify(manifest.mark)}, `}known until ${instantText(manifest.known_until)}: ${isThere ? `${out} holds it already` : `written to ${out}`}`,
        ...files.map(
          ([file, { rows, bytes }]) =>
            `  ${file.padEnd(18)} ${rows === undefined ? `${amount(String(bytes))} bytes` : counted(rows, 'row')}`,
        ),
      ].join('\n'),
      data: { directory: out, is_there: isThere, ...manifest },
    };
  },
};

/** @throws Failure, exit code 2. */
function refuseBesideVerify(name: string | undefined, { period, out, at, mark }: Flags): void {
  if ([name, period, out, at, mark].every((given) => given === undefined)) return;
  throw new Failure('--verify takes nothing beside its directory', {
    detail: 'the manifest says of what rollup, period and instant the statement tells',
    hint: 'write errata statement --verify DIR',
    exitCode: 2,
  });
}
