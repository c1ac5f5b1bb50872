/** `errata rename`: another name for a rollup; its gold table and its views keep theirs. */
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { nameBytes, plainName } from '../config/name.ts';
import { Failure } from '../failure.ts';
import { renameRollup } from '../install/rename.ts';
import { speakerOf } from '../publication/speaker.ts';

export const rename: Verb<{ readonly actor?: string; readonly reason?: string }> = {
  name: 'rename',
  summary: 'give a rollup another name; its gold table and its views keep theirs',
  arguments: [
    { name: '<OLD>', description: 'the name that the rollup has in the database' },
    { name: '<NEW>', description: 'the name that it shall have' },
  ],
  options: [
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 4], { 2: 'wrong usage or configuration; nothing was done' })}

The settings may have the rollup under either name; from then on they must have the new one. History, queue and lock stay
those of the rollup: only its private relations are called otherwise.

Example:
  errata rename daily_orders orders_by_day --actor ada --reason 'one name for all days'`,

  async execute(context, [from = '', to = ''], flags) {
    const speaker = speakerOf(flags, 'rename a rollup');
    if (!plainName.test(to) || to === '__proto__' || Buffer.byteLength(to) > nameBytes || from === to) {
      throw new Failure(`${JSON.stringify(to)} is no new name for rollup "${from}"`, {
        hint: `write lower-case letters, digits and _, at most ${nameBytes}, and another name than before`,
        exitCode: 2,
      });
    }
    const settings = context.settings();
    const has = (name: string) => settings.rollups.some((rollup) => rollup.name === name);
    if (has(from) && has(to)) {
      throw new Failure(`${settings.file} declares both "${from}" and "${to}"`, {
        hint: 'leave one of the two; nothing was done',
        exitCode: 2,
      });
    }
    const [chosen] = selectRollups(settings, [has(to) ? to : from]);
    const { control } = await context.open();
    const act = await renameRollup(
      control,
      settings,
      chosen as NonNullable<typeof chosen>,
      { from, to },
      speaker,
    );
    const next = has(to) ? '' : `; write ${to} in place of ${from} in ${settings.file}`;
    return { exitCode: 0, text: `${from}: is called ${to} now${next}`, data: { rollup: to, ...act } };
  },
};
