/** `errata close`: what a period comes to is kept, and the job publishes nothing into it from then on (R12). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { Failure } from '../failure.ts';
import { closePeriod } from '../publication/periods.ts';
import { speakerOf } from '../publication/speaker.ts';

interface Flags {
  readonly soft?: string;
  readonly hard?: boolean;
  readonly force?: boolean;
  readonly actor?: string;
  readonly reason?: string;
}

export const close: Verb<Flags> = {
  name: 'close',
  summary: 'close a period: what it comes to is kept, and differences are held',
  arguments: [
    { name: '<ROLLUP>', description: 'a rollup of the settings' },
    { name: '<PERIOD>', description: 'a month as in 2026-10, or a name of your calendar' },
  ],
  options: [
    { flags: '--soft <ROLE>', description: 'members of this database role publish adjustments' },
    { flags: '--hard', description: 'nobody publishes into it' },
    { flags: '--force', description: 'though windows of it are not sealed' },
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 4], {
    2: 'wrong usage or configuration, windows are not sealed, or it is closed already; nothing was done',
  })}

A window belongs to the period that holds its start. After the close the job publishes nothing into the period: what differs
is held, listed by \`errata review\` and \`errata periods\`. After a soft close members of the role publish it, by
\`errata approve\`, \`publish\`, \`waive\` or \`restate\`, as adjustments, posted to the first period that is open. A soft close may be
made hard. With --force version 1 of the windows that are sealed later still ships; what differs from it is held. The stamp of the close has a name in errata.mark; as_of() answers for it for good.

Examples:
  errata close daily_orders 2026-10 --soft finance --actor ada --reason 'month end'
  errata close daily_orders 2026-10 --hard --actor ada --reason 'audited'`,

  async execute(context, [name = '', period = ''], flags) {
    const who = speakerOf(flags, 'close a period');
    if ((flags.soft === undefined) === !flags.hard)
      throw new Failure('a close is either soft or hard', {
        hint: 'add --soft ROLE, whose members publish adjustments, or --hard',
        exitCode: 2,
      });
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const report = await closePeriod(control, rollup, {
      ...who,
      period,
      postingRole: flags.soft,
      isForced: flags.force,
    });
    return {
      exitCode: 0,
      text: [
        `${name}: closed ${period}, in run ${report.runId}; its mark "${report.mark}" is ${report.stamp}`,
        ...(report.unsealed === null
          ? []
          : [
              `  not all of it was sealed: ${report.unsealed}; what is sealed later ships, and differences are held`,
            ]),
      ].join('\n'),
      data: { ...who, ...report },
    };
  },
};
