/** `errata mark`: pin what is known now, under a name that every later report can ask for. */
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { table } from '../output/table.ts';
import { makeMark, readMarks } from '../publication/marks.ts';
import { instantText } from '../report/instant-text.ts';

interface Flags {
  readonly actor?: string;
}

export const mark: Verb<Flags> = {
  name: 'mark',
  summary: 'pin what is known now under a name, or list the marks',
  arguments: [{ name: '[NAME]', description: 'of the new mark; left out: the marks are listed' }],
  options: [{ flags: '--actor <NAME>', description: 'who makes it; needed' }],
  help: `${exitCodeHelp([0, 1, 2, 4], {
    0: 'marked, or listed',
    4: 'nothing done: a run, or an insert of a stream, is under way; try again',
  })}

It is one instant for all rollups of the settings, later than all that was published. \`errata close\` makes a mark for
the rollup that it closes. <gold>_as_of_mark(NAME) gives what was known then, \`errata changes --since NAME\` what changed.

Examples:
  errata mark 'October, mailed' --actor ada
  errata mark --json`,

  async execute(context, [name], flags) {
    const settings = context.settings();
    if (name === undefined) {
      const { control } = await context.open();
      const marks = await inTransaction(control, 'repeatable read', (transaction) =>
        readMarks(transaction, settings.schema),
      );
      return {
        exitCode: 0,
        text:
          marks.length === 0
            ? 'there are no marks'
            : table(
                [{ title: 'mark' }, { title: 'known until' }, { title: 'by' }, { title: 'rollup' }],
                marks.map((one) => [one.name, instantText(one.stamp), one.actor, one.rollup ?? 'all']),
              ).join('\n'),
        data: { marks },
      };
    }
    const actor = (flags.actor ?? '').trim();
    if (name.trim() === '' || actor === '')
      throw new Failure('a mark takes a name and a person', {
        hint: "write errata mark 'October, mailed' --actor NAME",
        exitCode: 2,
      });
    if (/^[1-9]\d*$/.test(name))
      throw new Failure(`${JSON.stringify(name)} would be taken for the number of a run`, {
        hint: 'choose a name with a letter in it',
        exitCode: 2,
      });
    const { control } = await context.open();
    const made = await makeMark(control, settings, name, actor);
    return {
      exitCode: 0,
      text: `marked ${JSON.stringify(name)}: what was known at ${instantText(made.stamp)}`,
      data: { ...made, actor },
    };
  },
};
