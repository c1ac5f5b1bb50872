/** `errata amend`: someone deleted or changed bronze rows; their windows are recomputed and published at once (R9, R10). */

import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { Failure } from '../failure.ts';
import { counted } from '../output/amount.ts';
import { changeLines } from '../output/changes-text.ts';
import { type AmendReport, amendWindows, planAmendment } from '../publication/amend.ts';
import { type Speaker, speakerOf } from '../publication/speaker.ts';
import { type ReleaseFlags, requestOf } from '../report/release-request.ts';

type Flags = Omit<ReleaseFlags, 'all'> & { readonly dryRun?: boolean };

export const amend: Verb<Flags> = {
  name: 'amend',
  summary: 'say that bronze rows were deleted or changed, and recompute their windows',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    {
      flags: '--event <ID...>',
      description: 'the windows of these events, while bronze or the late events hold them',
    },
    { flags: '--window <TIME>', description: 'one window: an instant inside it, or a local date' },
    { flags: '--from <TIME>', description: 'windows from here on: an instant or a local date' },
    { flags: '--to <TIME>', description: 'and before the window of this instant or date' },
    { flags: '--key <PAIR...>', description: 'of this key: COLUMN=VALUE; NULL is the NULL key' },
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
    { flags: '--dry-run', description: 'show what would be published, and publish nothing' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'published, or planned',
    2: 'wrong usage or configuration, or nothing fits; nothing was done',
    3: 'done; something needs a person, such as a proposal',
  })}

A scan sees rows that come, not rows that go: after a DELETE or an UPDATE in bronze, say which windows it was about. A
row that moved to another window needs both. A deleted row that landed open leaves no trace: name its window. The
policy auto publishes the difference, grace proposes it. A window that misses a whole ingestion partition is blocked.
With "track_changes: true" in errata.yaml a trigger says it by itself.

Examples:
  errata amend daily_orders --window 2026-10-29 --key region=EU --actor ada --reason 'test orders deleted'
  errata amend daily_orders --from 2026-10-01 --to 2026-11-01 --actor ada --reason 'prices mended' --dry-run`,

  async execute(context, [name = ''], flags) {
    const who = spoken(flags);
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const amendment = await requestOf(control, rollup, flags, who);
    const perform = flags.dryRun ? planAmendment : amendWindows;
    const report = await perform(control, rollup, amendment);
    const order = {
      keys: rollup.keys.map((key) => key.name),
      measures: rollup.measures.map((measure) => measure.name),
    };
    return {
      exitCode: report.needsAttention ? 3 : 0,
      text: [
        headOf(report, flags.dryRun === true),
        ...changeLines(report, order).map((line) => `  ${line}`),
      ].join('\n'),
      data: { dryRun: flags.dryRun === true, ...who, ...report },
    };
  },
};

function headOf({ rollup, amended, counts, stamp, runId }: AmendReport, isPlan: boolean): string {
  const windows = counted(amended, 'keyed window');
  const versions = counted(counts.windows_corrected ?? 0, 'version');
  const others = [
    [Number(counts.windows_proposed ?? 0), 'proposed'],
    [Number(counts.windows_blocked ?? 0), `blocked: \`errata status ${rollup}\` says why`],
    [Number(counts.windows_failing ?? 0), `failing: \`errata status ${rollup}\` says why`],
  ] as const;
  const rest = others.filter(([n]) => n > 0).map(([n, what]) => `; ${counted(n, 'keyed window')} ${what}`);
  return isPlan
    ? `${rollup}: would recompute ${windows} and append ${versions}${rest.join('')}; nothing was published`
    : `${rollup}: recomputed ${windows} and appended ${versions}, in run ${runId} at ${stamp}${rest.join('')}`;
}

/** Who and why; and that windows or events are named, without contradiction. */
function spoken(flags: Flags): Speaker {
  const speaker = speakerOf(flags, 'amend published numbers');
  const { window, from, to } = flags;
  const fail = (message: string, hint: string) => new Failure(message, { hint, exitCode: 2 });
  if (['window', 'from', 'to', 'event'].every((name) => flags[name as keyof Flags] === undefined))
    throw fail('nothing says which windows to amend', 'name them with --window, --from and --to, or --event');
  if (window !== undefined && (from !== undefined || to !== undefined))
    throw fail('--window and --from or --to contradict each other', 'leave one of them out');
  return speaker;
}
