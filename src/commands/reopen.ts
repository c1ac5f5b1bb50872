/** `errata reopen`: a closed period takes versions again, until an instant (R12). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { readInstant } from '../config/instant.ts';
import { Failure } from '../failure.ts';
import { reopenPeriod } from '../publication/periods.ts';
import { speakerOf } from '../publication/speaker.ts';

interface Flags {
  readonly until?: string;
  readonly actor?: string;
  readonly reason?: string;
}

export const reopen: Verb<Flags> = {
  name: 'reopen',
  summary: 'let versions into a closed period again, until an instant',
  arguments: [
    { name: '<ROLLUP>', description: 'a rollup of the settings' },
    { name: '<PERIOD>', description: 'a month as in 2026-10, or a name of your calendar' },
  ],
  options: [
    {
      flags: '--until <TIME>',
      description: 'when it is closed again by itself: an instant or a date; needed',
    },
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 4], {
    2: 'wrong usage or configuration, or it is not closed; nothing was done',
  })}

What is held in it is judged by the next run, by the policy. Then it stands closed as before, and what it was closed with
stays what it was; \`errata periods\` lists what was posted while it stood open.

Example:
  errata reopen daily_orders 2026-10 --until 2026-11-12T18:00Z --actor ada --reason 'a late delivery'`,

  async execute(context, [name = '', period = ''], flags) {
    const who = speakerOf(flags, 'reopen a period');
    const { until = '' } = flags;
    const reading = readInstant(until);
    if (until === '' || 'wrong' in reading)
      throw new Failure(
        until === ''
          ? 'a reopening must expire'
          : `--until ${JSON.stringify(until)} ${'wrong' in reading ? reading.wrong : ''}`,
        { hint: 'add --until TIME, such as --until 2026-11-12T18:00Z', exitCode: 2 },
      );
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const report = await reopenPeriod(control, rollup, {
      ...who,
      period,
      until: until.length === 10 ? `${until} 00:00:00+00` : until,
    });
    return {
      exitCode: 0,
      text: `${name}: reopened ${period} until ${report.openUntil}, in run ${report.runId} at ${report.stamp}`,
      data: { ...who, ...report },
    };
  },
};
