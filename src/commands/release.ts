/** `errata release`: a person lets rows out of quarantine into the windows of their event times (R4). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { counted } from '../output/amount.ts';
import { changeLines } from '../output/changes-text.ts';
import {
  planQuarantineRelease,
  type QuarantineReport,
  releaseQuarantined,
} from '../publication/quarantine.ts';
import { keyOf } from '../report/key-of.ts';
import { type ReleaseFlags, spoken } from '../report/release-request.ts';

type Flags = Pick<ReleaseFlags, 'event' | 'key' | 'all' | 'actor' | 'reason'> & { readonly dryRun?: boolean };

export const release: Verb<Flags> = {
  name: 'release',
  summary: 'let rows out of quarantine into their windows, with a name and a reason',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--event <ID...>', description: 'these events' },
    { flags: '--key <PAIR...>', description: 'of this key: COLUMN=VALUE; NULL is the NULL key' },
    { flags: '--all', description: 'every row in quarantine whose event time is readable' },
    { flags: '--actor <NAME>', description: 'who says so; needed' },
    { flags: '--reason <TEXT>', description: 'why; needed' },
    { flags: '--dry-run', description: 'show what would be published, and publish nothing' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3, 4], {
    0: 'released, or planned',
    2: 'wrong usage or configuration, or nothing in quarantine fits; nothing was done',
    3: 'released; something needs a person, such as a proposal',
  })}

A row whose event time lies further ahead of its arrival than max_future_skew is in quarantine: it moves no watermark and
counts in no window. Released, it counts in the window of its event time; the policy auto publishes that, grace proposes
it. It moves no watermark still. A row whose times cannot be read stays.

Examples:
  errata release daily_orders --event 8841 --actor ada --reason 'a booking for next week' --dry-run
  errata release daily_orders --key region=EU --actor ada --reason 'ticket 311'`,

  async execute(context, [name = ''], flags) {
    const who = spoken(flags);
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen as NonNullable<typeof chosen>);
    const perform = flags.dryRun ? planQuarantineRelease : releaseQuarantined;
    const report = await perform(control, rollup, {
      ...who,
      eventIds: flags.event,
      key: flags.key === undefined ? undefined : keyOf(rollup, flags.key),
    });
    const order = {
      keys: rollup.keys.map((key) => key.name),
      measures: rollup.measures.map(({ name }) => name),
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

function headOf(
  { rollup, released, copies, counts, stamp, runId }: QuarantineReport,
  isPlan: boolean,
): string {
  const events = counted(released, 'event');
  const versions = counted(counts.windows_corrected ?? 0, 'version');
  const others = [
    [Number(counts.windows_proposed ?? 0), 'keyed window', 'proposed'],
    [Number(counts.windows_blocked ?? 0), 'keyed window', `blocked: \`errata status ${rollup}\` says why`],
    [Number(counts.windows_failing ?? 0), 'keyed window', `failing: \`errata status ${rollup}\` says why`],
    [copies, 'event', 'counts nowhere: its window has that id already'],
  ] as const;
  const rest = others.filter(([n]) => n > 0).map(([n, noun, what]) => `; ${counted(n, noun)} ${what}`);
  return isPlan
    ? `${rollup}: would release ${events} and append ${versions}${rest.join('')}; nothing was published`
    : `${rollup}: released ${events} and appended ${versions}, in run ${runId} at ${stamp}${rest.join('')}`;
}
