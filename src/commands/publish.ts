/** `errata publish`: a person releases refused events into the counted set; their windows get their versions at once (R10). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { counted } from '../output/amount.ts';
import { changeLines, type Order } from '../output/changes-text.ts';
import { planRelease, type ReleaseReport, releaseEvents } from '../publication/release.ts';
import { type ReleaseFlags, releaseOf, spoken } from '../report/release-request.ts';

type Flags = ReleaseFlags & { readonly dryRun?: boolean };

export const publish: Verb<Flags> = {
  name: 'publish',
  summary: 'release pending events into the published numbers, with a name and a reason',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--event <ID...>', description: 'these events' },
    { flags: '--window <TIME>', description: 'of one window: an instant inside it, or a local date' },
    { flags: '--from <TIME>', description: 'of windows from here on: an instant or a local date' },
    { flags: '--to <TIME>', description: 'and before the window of this instant or date' },
    { flags: '--key <PAIR...>', description: 'of this key: COLUMN=VALUE; NULL is the NULL key' },
    { flags: '--all', description: 'every pending event' },
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
    { flags: '--dry-run', description: 'show what would be published, and publish nothing' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'published, or planned',
    2: 'wrong usage or configuration, or no pending event fits; nothing was done',
    3: 'published; something else needs a person',
  })}

What is named with several options must fit all of them. It is a run: what is newly ingested is examined too. The
versions it appends carry the name and the reason.

Examples:
  errata publish daily_orders --event 8841 --actor ada --reason 'confirmed by the shop'
  errata publish daily_orders --window 2026-10-29 --key region=EU --actor ada --reason 'ticket 311' --dry-run`,

  async execute(context, [name = ''], flags) {
    spoken(flags);
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const release = await releaseOf(control, rollup, flags);
    const perform = flags.dryRun ? planRelease : releaseEvents;
    const report = await perform(control, rollup, release);
    return {
      exitCode: report.needsAttention ? 3 : 0,
      text: publishText(report, orderOf(rollup), flags.dryRun === true),
      data: { dryRun: flags.dryRun === true, actor: release.actor, reason: release.reason, ...report },
    };
  },
};

function publishText(report: ReleaseReport, order: Order, isPlan: boolean): string {
  const { rollup, released, counts, stamp, runId } = report;
  const windows = counted(counts.windows_corrected ?? 0, 'version');
  const events = counted(released, 'event');
  const blocked = Number(counts.windows_blocked ?? 0) + Number(counts.windows_failing ?? 0);
  return [
    isPlan
      ? `${rollup}: would release ${events} and append ${windows}; nothing was published`
      : `${rollup}: released ${events} and appended ${windows}, in run ${runId} at ${stamp}`,
    ...changeLines(report, order).map((line) => `  ${line}`),
    ...(blocked > 0
      ? [`${counted(blocked, 'keyed window')} cannot be published now: \`errata status ${rollup}\` says why`]
      : []),
  ].join('\n');
}

function orderOf({ keys, measures }: Rollup): Order {
  return { keys: keys.map(({ name }) => name), measures: measures.map(({ name }) => name) };
}
