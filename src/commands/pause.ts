/** `errata pause`: no run does anything for a rollup until it is resumed. */
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { pauseRollup } from '../publication/acts.ts';
import { speakerOf } from '../publication/speaker.ts';

export const pause: Verb<{ readonly actor?: string; readonly reason?: string }> = {
  name: 'pause',
  summary: 'let no run do anything for a rollup until it is resumed',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
  ],
  help: `${exitCodeHelp([0, 1, 2], { 2: 'wrong usage or configuration, or it is paused already; nothing was done' })}

A run under way comes to its end. \`run\` passes a paused rollup over and says so, with exit code 0; \`status\` says so with
exit code 3; \`publish\`, \`amend\` and \`release\` refuse it, \`plan\` does not. Nothing is lost: the first run after it
examines what has come meanwhile.

Example:
  errata pause daily_orders --actor ada --reason 'bronze is being restored'`,

  async execute(context, [name = ''], flags) {
    const speaker = speakerOf(flags, 'pause a rollup');
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const act = await pauseRollup(control, settings, chosen as NonNullable<typeof chosen>, speaker);
    return {
      exitCode: 0,
      text: `${name}: paused by ${act.actor} at ${act.acted_at}`,
      data: { rollup: name, ...act },
    };
  },
};
