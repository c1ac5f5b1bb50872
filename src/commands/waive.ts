/** `errata waive`: a person sets events aside, and takes back what was published by mistake (R10). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { counted } from '../output/amount.ts';
import { changeLines } from '../output/changes-text.ts';
import { planWaiver, waiveEvents } from '../publication/waive.ts';
import { type DecisionFlags, personOf } from '../report/decision-request.ts';
import { requestOf } from '../report/release-request.ts';

export const waive: Verb<DecisionFlags> = {
  name: 'waive',
  summary: 'set events aside, or take them back out of the published numbers, with a name and a reason',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--event <ID...>', description: 'these events, pending or included in a correction' },
    { flags: '--window <TIME>', description: 'of one window: an instant inside it, or a local date' },
    { flags: '--from <TIME>', description: 'of windows from here on: an instant or a local date' },
    { flags: '--to <TIME>', description: 'and before the window of this instant or date' },
    { flags: '--key <PAIR...>', description: 'of this key: COLUMN=VALUE; NULL is the NULL key' },
    { flags: '--all', description: 'every pending event' },
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
    { flags: '--dry-run', description: 'show what would become of it, and do nothing' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'waived, or planned',
    2: 'wrong usage or configuration, or no event fits; nothing was done',
    3: 'a window is blocked or has an open proposal, and nothing was done; or waived, and something needs a person',
  })}

Without --event only pending events are waived. An event that a version from the second on includes is taken back where it
is named by its id, by a new version without it. What version 1 counts has shipped and stays. \`errata publish --event\`
takes a waived event in again.

Examples:
  errata waive daily_orders --event 8841 --actor ada --reason 'a test order'
  errata waive daily_orders --window 2026-10-29 --key region=EU --actor ada --reason 'ticket 311' --dry-run`,

  async execute(context, [name = ''], flags) {
    const who = personOf(flags, {
      act: 'waive events',
      which: 'events to waive',
      selectors: ['event', 'window', 'from', 'to', 'key', 'all'],
    });
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const perform = flags.dryRun ? planWaiver : waiveEvents;
    const report = await perform(control, rollup, await requestOf(control, rollup, flags, who));
    const order = {
      keys: rollup.keys.map((key) => key.name),
      measures: rollup.measures.map((measure) => measure.name),
    };
    const waived = `${counted(report.waived, 'event')}, of which ${report.takenBack} had been published,`;
    const versions = counted(report.counts.windows_corrected ?? 0, 'version');
    return {
      exitCode: report.needsAttention ? 3 : 0,
      text: [
        flags.dryRun
          ? `${report.rollup}: would waive ${waived} and append ${versions}; nothing was done`
          : `${report.rollup}: waived ${waived} and appended ${versions}, in run ${report.runId} at ${report.stamp}`,
        ...changeLines(report, order).map((line) => `  ${line}`),
      ].join('\n'),
      data: { dryRun: flags.dryRun === true, ...who, ...report },
    };
  },
};
