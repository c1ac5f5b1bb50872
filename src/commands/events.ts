/** `errata events`: what is kept by name: late events, stragglers, rows in quarantine, conflicts with both values. */
import { selectRollups } from '../catalog/open.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { counted } from '../output/amount.ts';
import { eventListText } from '../report/event-list.ts';
import { type KnownAtFlags, knownAtOptions, knownAtText, statesKnownAt } from '../report/known-at.ts';
import { type Landing, readNamedEvents } from '../report/named-events.ts';
import { publishedRollup } from '../report/published-rollup.ts';
import { layOutThen } from '../report/then.ts';

interface Flags extends KnownAtFlags {
  readonly landing?: readonly string[];
  readonly limit?: string;
}

const landings: readonly (Landing | 'conflict')[] = [
  'open',
  'late_firing',
  'side_output',
  'quarantined',
  'conflict',
];

export const events: Verb<Flags> = {
  name: 'events',
  summary: 'list what is kept by name: late events, quarantined rows, conflicts with both values',
  arguments: [{ name: '<ROLLUP>', description: 'a rollup of the settings' }],
  options: [
    { flags: '--landing <WORD...>', description: `only these: ${landings.join(', ')}` },
    { flags: '--limit <N>', description: 'at most so many, the first to arrive; 100 unless told' },
    ...knownAtOptions,
  ],
  help: `${exitCodeHelp([0, 1, 2])}

A straggler has the landing open: it was not late, but examined only after its window was sealed. The view
<gold>_late_event holds the same, for SQL.

With --mark or --at: the events that were known then, each in the state that it had.

Examples:
  errata events daily_orders --landing quarantined conflict
  errata events daily_orders --json --limit 10000
  errata events daily_orders --mark 'daily_orders 2026-10 close'`,

  async execute(context, [name = ''], flags) {
    const wrong = flags.landing?.find((word) => !(landings as readonly string[]).includes(word));
    if (wrong !== undefined)
      throw new Failure(`there is no landing ${JSON.stringify(wrong)}`, {
        hint: `write one of ${landings.join(', ')}`,
        exitCode: 2,
      });
    const limit = flags.limit ?? '100';
    if (!/^[1-9]\d{0,8}$/.test(limit))
      throw new Failure(`--limit ${JSON.stringify(limit)} is not a number of events`, {
        hint: 'write a whole number from 1 on',
        exitCode: 2,
      });
    const settings = context.settings();
    const [chosen] = selectRollups(settings, [name]);
    const { control } = await context.open();
    return await inTransaction(control, 'repeatable read', async (transaction) => {
      const rollup = await publishedRollup(transaction, settings, chosen as NonNullable<typeof chosen>);
      const known = await statesKnownAt(transaction, rollup, flags);
      const found = await readNamedEvents(
        transaction,
        rollup,
        {
          landings: flags.landing as readonly (Landing | 'conflict')[] | undefined,
          atMost: Number(limit) + 1,
        },
        known ? await layOutThen(transaction, rollup, known.at) : undefined,
      );
      const shown = found.slice(0, Number(limit));
      const more = found.length > shown.length;
      return {
        exitCode: 0,
        text: [
          ...(known ? [`${name} as known at ${knownAtText(known)}:`] : []),
          ...(shown.length === 0 ? [`${name}: nothing of it is kept by name`] : eventListText(shown, rollup)),
          ...(more
            ? [`and more; --limit ${Number(limit) * 10} shows ${counted(Number(limit) * 10, 'event')}`]
            : []),
        ].join('\n'),
        data: { rollup: name, known_at: known, events: shown, hasMore: more },
      };
    });
  },
};
