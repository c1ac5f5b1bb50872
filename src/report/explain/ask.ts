/** A person's or a program's question, as far as words tell it, and the explanation; or what it leaves to choose from. */
import type { Rollup } from '../../catalog/rollup.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import { attempt } from '../attempt.ts';
import { keyOf } from '../key-of.ts';
import type { KeyedWindow } from '../keyed-window.ts';
import type { KnownAt } from '../known-at.ts';
import { windowThen } from '../then.ts';
import { sessionsOf, type Window, windowOf } from '../window-of.ts';
import { type Explanation, explain, readReach } from './explain.ts';
import { type KnownKey, readKeys } from './keys-of-window.ts';

/** One keyed window, or those that the key leaves to choose from. */
export type Answer =
  | { readonly explanation: Explanation }
  | { readonly window: Window; readonly keys: readonly KnownKey[] }
  | { readonly sessions: readonly KeyedWindow[] };

/**
 * @param windowWord an instant inside the window, its start, or a local date; of a session also START/END
 * @param keyWords `COLUMN=VALUE`, or values in the order of the key
 * @param known null: as it is known now
 * @throws Failure, exit code 2, if the window or the key cannot be meant.
 */
export async function ask(
  transaction: ControlTransaction,
  rollup: Rollup,
  windowWord: string,
  keyWords: readonly string[],
  known: KnownAt | null = null,
): Promise<Answer> {
  const asked = keyOf(rollup, keyWords);
  if (rollup.settings.window.kind === 'session')
    return await askSession(transaction, rollup, windowWord, asked, known);
  const window = await windowOf(transaction, rollup, windowWord, 'WINDOW');
  const then = await windowThen(transaction, rollup, window, known);
  const anyReach = await readReach(transaction, rollup, window, asked);
  const isWhole = rollup.keys.every(({ name }) => name in asked);
  const { result: open = [] } =
    anyReach.is_open && !then
      ? await attempt(transaction, () => readKeys(transaction, rollup, window, asked, true))
      : {};
  const published = await readKeys(transaction, rollup, window, asked, false, then);
  const keys = [...open, ...published.filter(({ key }) => !open.some((other) => same(other.key, key)))];
  if (!isWhole && keys.length === 0 && keyWords.length > 0) throw noSuchKey(rollup, windowWord, keyWords);
  if (!isWhole && keys.length > 1) {
    return { window, keys };
  }
  const key = isWhole ? asked : (keys[0]?.key ?? asked);
  const reach = await readReach(transaction, rollup, window, key);
  const soFar = open.find((other) => same(other.key, key))?.measures ?? null;
  return { explanation: await explain(transaction, rollup, { ...window, key }, reach, soFar, then) };
}

/** Of the sessions that hold the instant, the likeliest of one key. */
async function askSession(
  transaction: ControlTransaction,
  rollup: Rollup,
  windowWord: string,
  asked: KeyedWindow['key'],
  known: KnownAt | null,
): Promise<Answer> {
  const sessions = await sessionsOf(transaction, rollup, windowWord, 'WINDOW', asked);
  const [session] = sessions as [KeyedWindow, ...KeyedWindow[]];
  if (sessions.some(({ key }) => !same(key, session.key))) {
    return { sessions };
  }
  const then = await windowThen(transaction, rollup, session, known);
  const reach = await readReach(transaction, rollup, session, session.key);
  const { result: open = [] } =
    reach.is_open && !then
      ? await attempt(transaction, () => readKeys(transaction, rollup, session, session.key, true))
      : {};
  return {
    explanation: await explain(transaction, rollup, session, reach, open[0]?.measures ?? null, then),
  };
}

function same(a: Readonly<Record<string, string | null>>, b: typeof a): boolean {
  return Object.keys(a).every((name) => a[name] === b[name]);
}

function noSuchKey(rollup: Rollup, window: string, words: readonly string[]): Failure {
  return new Failure(`the window of ${window} holds nothing for ${words.join(' ')}`, {
    detail: `no row of rollup "${rollup.settings.name}" was published, kept by name or queued there`,
    hint: 'name another window, or the whole key',
    exitCode: 2,
  });
}
