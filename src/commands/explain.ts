/** `errata explain`: the whole life of one published number. */
import { selectRollups } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Outcome, Verb } from '../cli/verb.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { ask } from '../report/explain/ask.ts';
import { keysText, sessionsText } from '../report/explain/keys-of-window.ts';
import { explainText } from '../report/explain/text.ts';
import { type KnownAt, type KnownAtFlags, knownAtOptions, statesKnownAt } from '../report/known-at.ts';
import { publishedRollup } from '../report/published-rollup.ts';

export const explain: Verb<KnownAtFlags> = {
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
  options: knownAtOptions,
  help: `${exitCodeHelp([0, 1, 2], { 2: 'wrong usage or configuration, or the key leaves several to choose from' })}

Nothing is written. The sum check counts the window's rows in bronze anew, as far as they have been examined.

With --mark or --at: the versions published by then, and late events and proposals as they stood. The sum check is of now, and left
out.

Examples:
  errata explain daily_orders 2026-10-29 EU
  errata explain daily_orders 2026-10-29T18:02:00Z region=NULL --json
  errata explain daily_orders 2026-10-29 EU --mark 'daily_orders 2026-10 close'`,

  async execute(context, [name = '', window = '', ...words], flags) {
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    return await inTransaction(control, 'repeatable read', async (transaction) => {
      const rollup = await publishedRollup(transaction, settings, chosen as NonNullable<typeof chosen>);
      const known = await statesKnownAt(transaction, rollup, flags);
      return await explained(transaction, rollup, window, words, known);
    });
  },
};

/** @throws Failure, exit code 2, if the window or the key cannot be meant. */
export async function explained(
  transaction: ControlTransaction,
  rollup: Rollup,
  windowWord: string,
  keyWords: readonly string[],
  known: KnownAt | null = null,
): Promise<Outcome> {
  const answer = await ask(transaction, rollup, windowWord, keyWords, known);
  const { name } = rollup.settings;
  if ('explanation' in answer)
    return { exitCode: 0, text: explainText(answer.explanation, rollup), data: answer.explanation };
  if ('sessions' in answer)
    return {
      exitCode: 2,
      text: sessionsText(rollup, windowWord, answer.sessions, 'explain'),
      data: { rollup: name, sessions: answer.sessions },
    };
  return {
    exitCode: 2,
    text: keysText(rollup, answer.window, answer.keys, 'explain'),
    data: { rollup: name, ...answer.window, keys: answer.keys },
  };
}
