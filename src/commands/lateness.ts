/** `errata lateness`: how late rows arrive, what each delay would cost, and whose clock broke. */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { readDuration } from '../config/duration.ts';
import { readInstant } from '../config/instant.ts';
import type { Duration, RollupSettings } from '../config/settings.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { type KnownAtFlags, knownAt, knownAtOptions, knownAtText } from '../report/known-at.ts';
import { type Grouping, type LatenessOptions, readLateness } from '../report/lateness/lateness.ts';
import { showsUnicode } from '../report/lateness/plot.ts';
import { examinedThen } from '../report/lateness/range.ts';
import { latenessText } from '../report/lateness/text.ts';

export interface LatenessFlags extends KnownAtFlags {
  readonly from?: string;
  readonly to?: string;
  readonly by?: string;
  readonly delays?: string;
}

const defaultDelays = '1m,10m,1h,6h,1d,3d,7d';
/** Each is looked at with each as allowed lateness. */
const mostDelays = 30;

export const lateness: Verb<LatenessFlags> = {
  name: 'lateness',
  summary: 'show how late rows arrive, and what each delay costs in waiting and in misses',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    {
      flags: '--from <INSTANT>',
      description: 'rows ingested from here on; default: 30 days before the greatest ingested_at',
    },
    { flags: '--to <INSTANT>', description: 'rows ingested before here; default: all' },
    {
      flags: '--by <WORD>',
      description: 'percentiles by source, by key, or none; default: by both, where there are any',
    },
    {
      flags: '--delays <LIST>',
      description: `candidates for the delay; default: ${defaultDelays} and the configured delay`,
    },
    ...knownAtOptions,
  ],
  help: `${exitCodeHelp([0, 1, 2], {
    0: 'done, also where bronze is empty',
    2: 'wrong usage or configuration, or no row in the range',
  })}

Lateness is arrival less event time. Nothing is written; the rows of the range are read once, and ingestion
partitions outside it are left alone. Quarantined rows and copies are counted apart. Days at the end of the range may
still get late rows, so their shares are the least they can be.

With --mark or --at: the rows of bronze that were ingested by the bound of the last run until then, judged by the settings of now.

Examples:
  errata lateness daily_orders
  errata lateness daily_orders --from 2026-10-01 --to 2026-11-01 --by source --delays 5m,30m,2h
  errata lateness daily_orders --json | jq .suggestion`,

  async execute(context, [name = ''], flags) {
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]) as [RollupSettings];
    const options = latenessOptions(chosen, flags);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen);
    return await inTransaction(control, 'repeatable read', async (transaction) => {
      const known = await knownAt(transaction, rollup, flags);
      const to = known ? await examinedThen(transaction, rollup, known) : options.to;
      const found = await readLateness(transaction, rollup, { ...options, to });
      const text = latenessText(found, showsUnicode(context.environment));
      return {
        exitCode: 0,
        text: known ? `As known at ${knownAtText(known)}.\n${text}` : text,
        data: { ...found, known_at: known },
      };
    });
  },
};

/** @throws Failure, exit code 2, for an option that cannot be meant. */
function latenessOptions(rollup: RollupSettings, flags: LatenessFlags): LatenessOptions {
  const { from, to, by, delays } = flags;
  if (to !== undefined && (flags.mark !== undefined || flags.at !== undefined))
    throw new Failure('--to and --mark or --at contradict each other', {
      hint: 'leave one of them out',
      exitCode: 2,
    });
  for (const [option, text] of [['--from', from] as const, ['--to', to] as const]) {
    const reading = text === undefined ? undefined : readInstant(text);
    if (reading && 'wrong' in reading) throw wrong(option, text, reading.wrong);
  }
  const configured = rollup.watermark.delay;
  return {
    from,
    to,
    groupings: groupingsOf(rollup, by),
    candidates: [
      ...candidatesOf(delays ?? defaultDelays),
      ...(delays === undefined && configured ? [configured] : []),
    ],
  };
}

function groupingsOf({ name, key, bronze }: RollupSettings, by: string | undefined): readonly Grouping[] {
  const there = { source: bronze.sourcePartition !== undefined, key: key.length > 0 };
  if (by === 'none') return [];
  if (by === undefined) return (['source', 'key'] as const).filter((grouping) => there[grouping]);
  if (by !== 'source' && by !== 'key') throw wrong('--by', by, 'is not source, key or none');
  if (there[by]) return [by];
  const lacking = by === 'source' ? 'bronze.source_partition' : 'key column';
  throw new Failure(`rollup "${name}" has no ${lacking} to group by`, {
    hint: 'leave --by out, or declare one in the settings',
    exitCode: 2,
  });
}

function candidatesOf(list: string): Duration[] {
  const texts = list.split(',');
  if (texts.length > mostDelays) {
    throw new Failure(`--delays names ${texts.length} candidates`, {
      hint: `name at most ${mostDelays}`,
      exitCode: 2,
    });
  }
  return texts.map((text) => {
    const reading = readDuration(text);
    if ('wrong' in reading) throw wrong('--delays', text, reading.wrong);
    return { ...reading.value, text: text.trim() };
  });
}

function wrong(option: string, value: string | undefined, what: string): Failure {
  return new Failure(`${option} ${JSON.stringify(value)} ${what}`, { exitCode: 2 });
}
