/** What a person asks `approve`, `reject`, `restate` and `waive`: who, why and which, without contradiction. */
import type { VerbOption } from '../cli/verb.ts';
import { Failure } from '../failure.ts';
import { speakerOf } from '../publication/speaker.ts';
import type { ReleaseFlags } from './release-request.ts';

export type DecisionFlags = ReleaseFlags & { readonly run?: string; readonly dryRun?: boolean };

/** What `approve` and `reject` take; `dryRun` says what it would show. */
export const decisionOptions = (dryRun: string): VerbOption[] => [
  { flags: '--run <N>', description: 'those that this run made' },
  { flags: '--window <TIME>', description: 'of one window: an instant inside it, or a local date' },
  { flags: '--from <TIME>', description: 'of windows from here on: an instant or a local date' },
  { flags: '--to <TIME>', description: 'and before the window of this instant or date' },
  { flags: '--key <PAIR...>', description: 'of this key: COLUMN=VALUE; NULL is the NULL key' },
  { flags: '--all', description: 'every open proposal' },
  { flags: '--actor <NAME>', description: 'who says so; needed' },
  { flags: '--reason <TEXT>', description: 'why; needed' },
  { flags: '--dry-run', description: dryRun },
];

export interface Asking {
  /** As in `to approve a proposal`. */
  readonly act: string;
  /** As in `which proposals to approve`. */
  readonly which: string;
  /** One of these must be given. */
  readonly selectors: readonly ('run' | 'window' | 'from' | 'to' | 'key' | 'event' | 'all')[];
}

/** @throws Failure, exit code 2. */
export function personOf(flags: DecisionFlags, { act, which, selectors }: Asking) {
  const { window, from, to, run } = flags;
  const speaker = speakerOf(flags, act);
  const fail = (message: string, hint: string) => new Failure(message, { hint, exitCode: 2 });
  const named = selectors.filter((name) => name !== 'all' && flags[name] !== undefined);
  if (named.length === 0 && !flags.all)
    throw fail(`nothing says which ${which}`, `name them with ${list(selectors.map((name) => `--${name}`))}`);
  if (named.length > 0 && flags.all)
    throw fail(`--all and --${named[0]} contradict each other`, 'leave one of them out');
  if (window !== undefined && (from !== undefined || to !== undefined))
    throw fail('--window and --from or --to contradict each other', 'leave one of them out');
  if (run !== undefined && !/^[1-9]\d{0,17}$/.test(run))
    throw fail(`--run ${JSON.stringify(run)} is not the number of a run`, 'write one, such as --run 12');
  return speaker;
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
