/** `errata review`: the proposals that await a person, with old value, new value and the events behind them (R10). */
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { type KnownAtFlags, knownAtOptions } from '../report/known-at.ts';
import { readReview, reviewText } from '../report/review.ts';

export const review: Verb<KnownAtFlags> = {
  name: 'review',
  summary: 'list the proposals that await a person: old, new, delta, and the events behind them',
  arguments: [{ name: '[ROLLUP...]', description: 'rollups of the settings; none: all' }],
  options: knownAtOptions,
  help: `${exitCodeHelp([0, 1, 2, 3], { 0: 'nothing is proposed', 3: 'proposals await a person' })}

It reads the control tables, and works when bronze is gone. Old is the latest version; new is what the version would be.

With --mark or --at: the proposals that stood open then, beside the latest version of then; exit code 3 where some did.

Examples:
  errata review daily_orders
  errata review daily_orders --mark 'daily_orders 2026-10 close'`,

  async execute(context, names, flags) {
    const settings = context.settings();
    const chosen = selectRollups(settings, names);
    const { control } = await context.open();
    const reviews = [];
    for (const rollup of chosen)
      reviews.push({ rollup, found: await readReview(control, settings, rollup, flags) });
    return {
      exitCode: reviews.some(({ found }) => found.open !== '0') ? 3 : 0,
      text: reviews.map(({ rollup, found }) => reviewText(found, rollup)).join('\n\n'),
      data: { rollups: reviews.map(({ found }) => found) },
    };
  },
};
