/** `errata restate`: windows are recomputed and published on a person's word, with a reason (R10). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { counted } from '../output/amount.ts';
import { changeLines } from '../output/changes-text.ts';
import { planRestatement, restateWindows } from '../publication/restate.ts';
import { type DecisionFlags, personOf } from '../report/decision-request.ts';
import { requestOf } from '../report/release-request.ts';

export const restate: Verb<DecisionFlags> = {
  name: 'restate',
  summary: 'recompute windows and publish what differs, with a name and a reason',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--window <TIME>', description: 'one window: an instant inside it, or a local date' },
    { flags: '--from <TIME>', description: 'windows from here on: an instant or a local date' },
    { flags: '--to <TIME>', description: 'and before the window of this instant or date' },
    { flags: '--key <PAIR...>', description: 'of this key: COLUMN=VALUE; NULL is the NULL key' },
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
    { flags: '--dry-run', description: 'show what would be published, and publish nothing' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'restated, or planned',
    2: 'wrong usage or configuration, restating is forbidden, or no keyed window fits; nothing was done',
    3: 'a window is blocked or has an open proposal, and nothing was done',
  })}

These keyed windows are read whole from bronze, as far as it has been examined, and no others; a version is appended where
one differs, whatever the policy and its thresholds say. Pending, held and waived events stay out. Only so does a changed
definition, such as a further measure, enter windows that were published before. A rollup whose settings say
publish: { restate: forbidden } refuses.

Examples:
  errata restate daily_orders --window 2026-10-29 --key region=EU --actor ada --reason 'ticket 311' --dry-run
  errata restate daily_orders --from 2026-10-01 --to 2026-11-01 --actor ada --reason 'measure refunds added'`,

  async execute(context, [name = ''], flags) {
    const who = personOf(flags, {
      act: 'restate published numbers',
      which: 'windows to restate',
      selectors: ['window', 'from', 'to'],
    });
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const { eventIds: _, ...request } = await requestOf(control, rollup, flags, who);
    const perform = flags.dryRun ? planRestatement : restateWindows;
    const report = await perform(control, rollup, request);
    const order = {
      keys: rollup.keys.map((key) => key.name),
      measures: rollup.measures.map((measure) => measure.name),
    };
    const [windows, versions] = [
      counted(report.restated, 'keyed window'),
      counted(report.counts.windows_corrected ?? 0, 'version'),
    ];
    return {
      exitCode: report.needsAttention ? 3 : 0,
      text: [
        flags.dryRun
          ? `${report.rollup}: would restate ${windows} and append ${versions}; nothing was published`
          : `${report.rollup}: restated ${windows} and appended ${versions}, in run ${report.runId} at ${report.stamp}`,
        ...changeLines(report, order).map((line) => `  ${line}`),
      ].join('\n'),
      data: { dryRun: flags.dryRun === true, ...who, ...report },
    };
  },
};
