/** `errata approve`: a person lets proposals be published, if bronze still bears them out (R10). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { amount, counted } from '../output/amount.ts';
import { changeLines, type Order } from '../output/changes-text.ts';
import { type ApprovalReport, approveProposals, planApproval, type Stale } from '../publication/decide.ts';
import { keyedWindowText } from '../publication/unanswered.ts';
import { type DecisionFlags, decisionOptions, personOf } from '../report/decision-request.ts';
import { requestOf } from '../report/release-request.ts';

export const approve: Verb<DecisionFlags> = {
  name: 'approve',
  summary: 'publish proposals, with a name and a reason, if they still hold',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: decisionOptions('show what would be published, and publish nothing'),
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'all of them are published, or would be',
    2: 'wrong usage or configuration, or no open proposal fits; nothing was done',
    3: 'a proposal has gone stale and was not published, or something else needs a person',
  })}

Each window is recomputed from bronze, with what was newly ingested, in the transaction that publishes it. If it is not
what was proposed any more, nothing of it is published: what changed is printed, and a new proposal is made. What is named
with several options must fit all of them. The versions carry the name as approver, and the reason.

Examples:
  errata approve daily_orders --run 12 --actor ada --reason 'checked with the shop'
  errata approve daily_orders --window 2026-10-29 --key region=EU --actor ada --reason 'ticket 311' --dry-run`,

  async execute(context, [name = ''], flags) {
    const who = personOf(flags, {
      act: 'approve a proposal',
      which: 'proposals to approve',
      selectors: ['run', 'window', 'from', 'to', 'key', 'all'],
    });
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const { eventIds: _, ...request } = await requestOf(control, rollup, flags, who);
    const perform = flags.dryRun ? planApproval : approveProposals;
    const report = await perform(control, rollup, { ...request, proposedBy: flags.run });
    const order = {
      keys: rollup.keys.map((key) => key.name),
      measures: rollup.measures.map((measure) => measure.name),
    };
    return {
      exitCode: report.needsAttention || report.stale.length > 0 ? 3 : 0,
      text: textOf(report, order, flags.dryRun === true),
      data: { dryRun: flags.dryRun === true, ...who, ...report },
    };
  },
};

function textOf(report: ApprovalReport, order: Order, isPlan: boolean): string {
  const { rollup, approved, stale, runId, stamp } = report;
  const proposals = counted(approved, 'proposal');
  return [
    isPlan
      ? `${rollup}: would approve ${proposals}; nothing was published`
      : `${rollup}: approved ${proposals}, in run ${runId} at ${stamp}`,
    ...changeLines(report, order).map((line) => `  ${line}`),
    ...stale.flatMap((one) => staleLines(one, order)),
    ...(stale.length > 0 && !isPlan ? [`\`errata review ${rollup}\` lists what is proposed now`] : []),
  ].join('\n');
}

function staleLines(stale: Stale, { measures }: Order): string[] {
  const values = (of: Stale['proposed']) => measures.map((name) => `${name} ${amount(of[name])}`).join(', ');
  const head = `proposal ${stale.proposal_id}, ${keyedWindowText(stale)}:`;
  if (stale.now === null)
    return [`${head} not approved, and still open`, `  it cannot be recomputed: ${stale.why}`];
  return [
    `${head} stale, nothing of it was published`,
    `  proposed ${values(stale.proposed)}; now ${values(stale.now)}${stale.why ? ` (${stale.why})` : ''}`,
    ...(stale.old_version !== null && stale.old_version !== stale.base_version
      ? [`  it was about version ${stale.base_version}, and version ${stale.old_version} came since`]
      : []),
    ...(stale.events ? [`  events since: ${stale.events.join(' ')}`] : []),
  ];
}
