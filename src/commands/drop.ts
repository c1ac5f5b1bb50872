/** `errata drop`: a rollup ends; its ledger and its evidence stay. */
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { dropRollup } from '../publication/acts.ts';
import { speakerOf } from '../publication/speaker.ts';

export const drop: Verb<{ readonly actor?: string; readonly reason?: string }> = {
  name: 'drop',
  summary: 'end a rollup and keep its ledger and its evidence',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 4], { 2: 'wrong usage or configuration, or it was dropped already; nothing was done' })}

What reads bronze goes: the live view, the functions over bronze, the trigger of track_changes, and the queue. The ledger,
the late events, the views over them and the record of runs stay, and the ledger takes nothing more. Then take the
rollup out of the settings: migrate refuses its name and its gold table from then on.

Example:
  errata drop daily_orders --actor ada --reason 'replaced by hourly_orders'`,

  async execute(context, [name = ''], flags) {
    const speaker = speakerOf(flags, 'drop a rollup');
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const act = await dropRollup(control, settings, chosen as NonNullable<typeof chosen>, speaker);
    return {
      exitCode: 0,
      text: `${name}: dropped by ${act.actor} at ${act.acted_at}; its ledger and its late events stay. Take it out of ${settings.file}`,
      data: { rollup: name, ...act },
    };
  },
};
