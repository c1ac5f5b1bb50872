/** `errata reject`: a person sets proposals aside (R10). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { counted } from '../output/amount.ts';
import { planRejection, rejectProposals } from '../publication/decide.ts';
import { type DecisionFlags, decisionOptions, personOf } from '../report/decision-request.ts';
import { requestOf } from '../report/release-request.ts';

export const reject: Verb<DecisionFlags> = {
  name: 'reject',
  summary: 'set proposals aside, with a name and a reason',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: decisionOptions('show what would be set aside, and do nothing'),
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'all of them are rejected, or would be',
    2: 'wrong usage or configuration, or no open proposal fits; nothing was done',
    3: 'a window cannot be recomputed, and nothing was done; or rejected, and something else needs a person',
  })}

Late events in a rejected proposal are waived: \`errata publish --event\` takes one back. What no event explains, such as
changed bronze rows, stays set aside and counts as waived; it is proposed again when bronze gives another value, and
\`errata restate\` takes it in.

Examples:
  errata reject daily_orders --run 12 --actor ada --reason 'a test of the shop'
  errata reject daily_orders --window 2026-10-29 --key region=EU --actor ada --reason 'ticket 311'`,

  async execute(context, [name = ''], flags) {
    const who = personOf(flags, {
      act: 'reject a proposal',
      which: 'proposals to reject',
      selectors: ['run', 'window', 'from', 'to', 'key', 'all'],
    });
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const { eventIds: _, ...request } = await requestOf(control, rollup, flags, who);
    const perform = flags.dryRun ? planRejection : rejectProposals;
    const report = await perform(control, rollup, { ...request, proposedBy: flags.run });
    const [proposals, events] = [counted(report.rejected, 'proposal'), counted(report.waived, 'event')];
    return {
      exitCode: report.needsAttention ? 3 : 0,
      text: flags.dryRun
        ? `${report.rollup}: would reject ${proposals} and waive ${events}; nothing was done`
        : `${report.rollup}: rejected ${proposals} and waived ${events}, in run ${report.runId} at ${report.stamp}`,
      data: { dryRun: flags.dryRun === true, ...who, ...report },
    };
  },
};
