/** What a person asks `publish` to release, from words to a Release. */

import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import type { Release } from '../publication/release.ts';
import { type Speaker, speakerOf } from '../publication/speaker.ts';
import { keyOf } from './key-of.ts';
import { sessionsOf, windowOf } from './window-of.ts';

export interface ReleaseFlags {
  readonly window?: string;
  readonly from?: string;
  readonly to?: string;
  readonly key?: readonly string[];
  readonly event?: readonly string[];
  readonly all?: boolean;
  readonly actor?: string;
  readonly reason?: string;
}

/** @throws Failure, exit code 2, unless it says who, why and what, and says it without contradiction. */
export async function releaseOf(control: Control, rollup: Rollup, flags: ReleaseFlags): Promise<Release> {
  return await requestOf(control, rollup, flags, spoken(flags), true);
}

/** What the flags name, for whoever says so; a release means sessions in which events await it. @throws Failure, exit code 2, for what cannot be meant. */
export async function requestOf(
  control: Control,
  rollup: Rollup,
  flags: ReleaseFlags,
  { actor, reason }: { readonly actor: string; readonly reason: string },
  isRelease = false,
): Promise<Release> {
  const { window, from, to, event } = flags;
  return await inTransaction(control, 'read committed', async (transaction) => {
    const key = flags.key === undefined ? undefined : keyOf(rollup, flags.key);
    const one =
      window === undefined
        ? undefined
        : rollup.settings.window.kind === 'session'
          ? (await sessionsOf(transaction, rollup, window, '--window', key ?? {}, isRelease))[0]
          : await windowOf(transaction, rollup, window, '--window');
    const start = async (text: string | undefined, name: string) =>
      text === undefined ? undefined : (await windowOf(transaction, rollup, text, name)).window_start;
    return {
      actor,
      reason,
      windowFrom: one?.window_start ?? (await start(from, '--from')),
      windowTo: one ? await justAfter(transaction, one.window_start) : await start(to, '--to'),
      eventIds: event,
      key,
    };
  });
}

/** Who and why; and that something is named, or everything, and not both. */
export function spoken(flags: ReleaseFlags): Speaker {
  const speaker = speakerOf(flags, 'publish what a policy left pending');
  const { all = false, window, from, to } = flags;
  const named = (['window', 'from', 'to', 'key', 'event'] as const).filter(
    (name) => flags[name] !== undefined,
  );
  if (named.length === 0 && !all)
    throw wrong(
      'nothing says which pending events to publish',
      undefined,
      'name them with --event, --window, --from and --to, or --key; --all means every one',
    );
  if (named.length > 0 && all)
    throw wrong(`--all and --${named[0]} contradict each other`, undefined, 'leave one of them out');
  if (window !== undefined && (from !== undefined || to !== undefined))
    throw wrong('--window and --from or --to contradict each other', undefined, 'leave one of them out');
  return speaker;
}

/** The span of windows is half-open: one window is all that start before the next microsecond. */
async function justAfter(transaction: ControlTransaction, instant: string): Promise<string> {
  const [row] = await query<{ after: string }>(
    transaction,
    `select ($1::timestamptz + interval '1 microsecond')::text as after`,
    [instant],
  );
  return row?.after as string;
}

function wrong(message: string, detail: string | undefined, hint: string): Failure {
  return new Failure(message, { detail, hint, exitCode: 2 });
}
