/** `errata resume`: a paused rollup runs again. */
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { resumeRollup } from '../publication/acts.ts';
import { speakerOf } from '../publication/speaker.ts';

export const resume: Verb<{ readonly actor?: string; readonly reason?: string }> = {
  name: 'resume',
  summary: 'let a paused rollup run again',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
  ],
  help: `${exitCodeHelp([0, 1, 2], { 2: 'wrong usage or configuration, or it is not paused; nothing was done' })}

The next run examines what has come since the last.

Example:
  errata resume daily_orders --actor ada --reason 'bronze is back'`,

  async execute(context, [name = ''], flags) {
    const speaker = speakerOf(flags, 'resume a rollup');
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const act = await resumeRollup(control, settings, chosen as NonNullable<typeof chosen>, speaker);
    return {
      exitCode: 0,
      text: `${name}: resumed by ${act.actor} at ${act.acted_at}`,
      data: { rollup: name, ...act },
    };
  },
};
