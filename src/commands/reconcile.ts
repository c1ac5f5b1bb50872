/** `errata reconcile`: every keyed window of a period counted anew from bronze, and what does not add up by name (R14). */
import { openRollup, selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import type { RollupSettings } from '../config/settings.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { withBar } from '../output/bar.ts';
import { holdBronze } from '../pipeline/begin.ts';
import { keyOf } from '../report/key-of.ts';
import { type KnownAtFlags, knownAt } from '../report/known-at.ts';
import { readOutside } from '../report/reconcile/against.ts';
import { spanOfPeriod } from '../report/reconcile/period.ts';
import {
  needsAttention,
  type Reconciliation,
  reconcile as reconcileSpan,
} from '../report/reconcile/reconcile.ts';
import type { Span } from '../report/reconcile/sweep.ts';
import { reconciliationText } from '../report/reconcile/text.ts';
import { windowOf } from '../report/window-of.ts';

interface Flags extends KnownAtFlags {
  readonly period?: string;
  readonly from?: string;
  readonly to?: string;
  readonly key?: readonly string[];
  readonly everywhere?: boolean;
  readonly against?: string;
  readonly columns?: readonly string[];
  readonly actor?: string;
}

export const reconcile: Verb<Flags> = {
  name: 'reconcile',
  summary: 'count every keyed window of a period anew from bronze, and name what does not add up',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--period <NAME>', description: 'the windows that start in it, as in 2026-10' },
    { flags: '--from <TIME>', description: 'windows from here on: an instant or a local date' },
    { flags: '--to <TIME>', description: 'and before the window of this instant or date' },
    { flags: '--key <PAIR...>', description: 'of this key: COLUMN=VALUE; NULL is the NULL key' },
    {
      flags: '--everywhere',
      description: 'look for the same event ids in all of bronze, not only in these windows',
    },
    {
      flags: '--against <TABLE>',
      description: 'compare with a table of totals too, such as what was mailed',
    },
    {
      flags: '--columns <PAIR...>',
      description: 'how that table calls the columns, where it differs: revenue=total_eur',
    },
    { flags: '--mark <NAME>', description: 'say too what was known when this mark was made' },
    { flags: '--at <TIME>', description: 'say too what was known at this instant' },
    { flags: '--actor <NAME>', description: 'who asks; stays with the result' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3], {
    0: 'everything is identical or explained',
    3: 'something is unexplained, or the table has what was never published, or lacks something',
  })}

It reads one snapshot, holds up no run, and changes nothing but its own results, which are kept and never changed. Windows
that are not sealed yet are left out. docs/reconcile.md says what each word means.

With --mark or --at what was known then stands beside bronze as it is now, and what came in between is named.

Examples:
  errata reconcile daily_orders --period 2026-10
  errata reconcile daily_orders --from 2026-10-29 --to 2026-10-30 --key region=EU --json
  errata reconcile daily_orders --period 2026-10 --against mail.october --columns revenue=total_eur
  errata reconcile daily_orders --period 2026-10 --mark 'daily_orders 2026-10 close'`,

  async execute(context, [name = ''], flags) {
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]) as [RollupSettings];
    refuseContradictions(flags);
    const against = flags.against === undefined ? undefined : readOutside(flags.against, flags.columns ?? []);
    const { control } = await context.open();
    const rollup = await openRollup(control, settings, chosen);
    const key = flags.key === undefined ? undefined : keyOf(rollup, flags.key);
    const known = await inTransaction(control, 'read committed', (transaction) =>
      knownAt(transaction, rollup, flags),
    );
    const span = await inTransaction(control, 'read committed', async (transaction): Promise<Span> => {
      if (flags.period !== undefined) return await spanOfPeriod(transaction, rollup, flags.period);
      const start = async (text: string | undefined, option: string) =>
        text === undefined ? null : (await windowOf(transaction, rollup, text, option)).window_start;
      return { from: await start(flags.from, '--from'), to: await start(flags.to, '--to') };
    });
    const found = await withBar<Reconciliation>(context, name, (onStep) =>
      inTransaction(control, 'repeatable read', async (transaction) => {
        await holdBronze(transaction, rollup);
        return await reconcileSpan(transaction, rollup, span, {
          period: flags.period,
          key,
          everywhere: flags.everywhere,
          against,
          known: known ?? undefined,
          actor: flags.actor,
          onStep,
          signal: context.signal,
        });
      }),
    );
    return {
      exitCode: needsAttention(found) ? 3 : 0,
      text: reconciliationText(found, rollup),
      data: found,
    };
  },
};

/** @throws Failure, exit code 2. */
function refuseContradictions({ period, from, to, against, columns }: Flags): void {
  const fail = (message: string, hint: string) => new Failure(message, { hint, exitCode: 2 });
  if (period === undefined && from === undefined && to === undefined)
    throw fail('nothing says which windows to reconcile', 'name them with --period, or --from and --to');
  if (period !== undefined && (from !== undefined || to !== undefined))
    throw fail('--period and --from or --to contradict each other', 'leave one of them out');
  if (columns !== undefined && against === undefined)
    throw fail('--columns says nothing without --against', 'name the table with --against SCHEMA.TABLE');
}
