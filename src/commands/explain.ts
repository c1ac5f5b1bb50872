/** `errata explain`: the whole life of one published number. */
import { selectRollups } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Outcome, Verb } from '../cli/verb.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { attempt } from '../report/attempt.ts';
import { explain as explainWindow, readReach } from '../report/explain/explain.ts';
import { keysText, readKeys, sessionsText } from '../report/explain/keys-of-window.ts';
import { explainText } from '../report/explain/text.ts';
import { keyOf } from '../report/key-of.ts';
import type { KeyedWindow } from '../report/keyed-window.ts';
import { publishedRollup } from '../report/published-rollup.ts';
import { sessionsOf, windowOf } from '../report/window-of.ts';

export const explain: Verb = {
  name: 'explain',
  summary:
    'tell the whole life of one number: what shipped, every version, every late event, what is pending',
  arguments: [
    { name: '<ROLLUP>', description: 'a rollup of the settings' },
    {
      name: '<WINDOW>',
      description: 'an instant inside the window, its start, or a local date; of a session also START/END',
    },
    {
      name: '[KEY...]',
      description:
        "COLUMN=VALUE pairs, or values in the order of the key; NULL is the NULL key, '' empty text",
    },
  ],
  options: [],
  help: `${exitCodeHelp([0, 1, 2], { 2: 'wrong usage or configuration, or the key leaves several to choose from' })}

Nothing is written. The sum check counts the window's rows in bronze anew, as far as they have been examined.

Examples:
  errata explain daily_orders 2026-10-29 EU
  errata explain daily_orders 2026-10-29T18:02:00Z region=NULL --json`,

  async execute(context, [name = '', window = '', ...words]) {
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    return await inTransaction(control, 'repeatable read', async (transaction) => {
      const rollup = await publishedRollup(transaction, settings, chosen as NonNullable<typeof chosen>);
      return await explained(transaction, rollup, window, words);
    });
  },
};

/** @throws Failure, exit code 2, if the window or the key cannot be meant. */
export async function explained(
  transaction: ControlTransaction,
  rollup: Rollup,
  windowWord: string,
  keyWords: readonly string[],
): Promise<Outcome> {
  const asked = keyOf(rollup, keyWords);
  if (rollup.settings.window.kind === 'session')
    return await explainedSession(transaction, rollup, windowWord, asked);
  const window = await windowOf(transaction, rollup, windowWord, 'WINDOW');
  const anyReach = await readReach(transaction, rollup, window, asked);
  const isWhole = rollup.keys.every(({ name }) => name in asked);
  const { result: open = [] } = anyReach.is_open
    ? await attempt(transaction, () => readKeys(transaction, rollup, window, asked, true))
    : {};
  const published = await readKeys(transaction, rollup, window, asked, false);
  const known = [...open, ...published.filter(({ key }) => !open.some((other) => same(other.key, key)))];
  if (!isWhole && known.length === 0 && keyWords.length > 0) throw noSuchKey(rollup, windowWord, keyWords);
  if (!isWhole && known.length > 1) {
    return {
      exitCode: 2,
      text: keysText(rollup, window, known, 'explain'),
      data: { rollup: rollup.settings.name, ...window, keys: known },
    };
  }
  const key = isWhole ? asked : (known[0]?.key ?? asked);
  const reach = await readReach(transaction, rollup, window, key);
  const soFar = open.find((other) => same(other.key, key))?.measures ?? null;
  const explanation = await explainWindow(transaction, rollup, { ...window, key }, reach, soFar);
  return { exitCode: 0, text: explainText(explanation, rollup), data: explanation };
}

/** Of the sessions that hold the instant, the likeliest of one key. */
async function explainedSession(
  transaction: ControlTransaction,
  rollup: Rollup,
  windowWord: string,
  asked: KeyedWindow['key'],
): Promise<Outcome> {
  const sessions = await sessionsOf(transaction, rollup, windowWord, 'WINDOW', asked);
  const [session] = sessions as [KeyedWindow, ...KeyedWindow[]];
  if (sessions.some(({ key }) => !same(key, session.key))) {
    return {
      exitCode: 2,
      text: sessionsText(rollup, windowWord, sessions, 'explain'),
      data: { rollup: rollup.settings.name, sessions },
    };
  }
  const reach = await readReach(transaction, rollup, session, session.key);
  const { result: open = [] } = reach.is_open
    ? await attempt(transaction, () => readKeys(transaction, rollup, session, session.key, true))
    : {};
  const explanation = await explainWindow(transaction, rollup, session, reach, open[0]?.measures ?? null);
  return { exitCode: 0, text: explainText(explanation, rollup), data: explanation };
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
