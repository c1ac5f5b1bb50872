/** `errata find`: an auditor holds a printed number and a date: what stood at it, what it was before and after, and why. */
import { selectRollups } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { exitCodeHelp } from '../cli/exit-code.ts';
import type { Verb } from '../cli/verb.ts';
import { query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { type Day, type Found, findStanding } from '../report/find/find.ts';
import { anyDay, printedOf, waysOf } from '../report/find/printed.ts';
import { countText, foundText } from '../report/find/text.ts';
import { publishedRollup } from '../report/published-rollup.ts';

interface Flags {
  readonly on?: string;
  readonly rollup?: readonly string[];
}

export const find: Verb<Flags> = {
  name: 'find',
  summary: 'find what stood at a printed number on a day, what it was before and after, and why',
  arguments: [
    { name: '<NUMBER>', description: 'as it was printed: 1402, 1,402, -5.10; or the citation of a version' },
  ],
  options: [
    { flags: '--on <DATE>', description: 'it stood at some time of this day; left out: ever' },
    { flags: '--rollup <NAME...>', description: 'only these rollups; left out: all' },
  ],
  help: `${exitCodeHelp([0, 1, 2, 3], { 0: 'found', 3: 'nothing that was published stood at it' })}

Looks at every version of every keyed window, and at the totals of windows and months over keys. Where nothing stood at
the very number, what rounds to it is shown; where nothing did on that day, what did on another. Days and months are those
of periods: { time_zone: … }.

Examples:
  errata find 1402 --on 2026-10-30
  errata find 7K3Q-X9FJ-2M0A --json`,

  async execute(context, [word = ''], flags) {
    const printed = printedOf(word);
    const settings = context.settings();
    const chosen = selectRollups(settings, flags.rollup ?? []);
    const { control } = await context.open();
    return await inTransaction(control, 'repeatable read', async (transaction) => {
      const { timeZone } = settings.periods;
      const day = flags.on === undefined ? anyDay : await dayOf(transaction, flags.on, timeZone);
      const rollups: Rollup[] = [];
      for (const one of chosen) rollups.push(await publishedRollup(transaction, settings, one));
      const look = async (when: Day, scale: number | null) => {
        const found: Found[] = [];
        for (const rollup of rollups)
          found.push(await findStanding(transaction, rollup, printed, when, scale, timeZone));
        return found;
      };
      for (const [n, way] of waysOf(printed, day).entries()) {
        const found = await look(way.when, way.scale);
        if (!found.some(({ versions, totals }) => versions.length + totals.length > 0)) continue;
        const isOnDay = way.when === day;
        const how = isOnDay
          ? way.scale === null
            ? ''
            : ', rounded as it was printed'
          : `, at no time of ${flags.on}, but at others`;
        return {
          exitCode: isOnDay ? 0 : 3,
          text: [
            `${word}${isOnDay && flags.on !== undefined ? ` on ${flags.on} (${timeZone})` : ''}: ${countText(found)}${how}`,
            ...found.flatMap((one, place) =>
              foundText(
                one,
                (rollups[place]?.keys ?? []).map(({ name }) => name),
              ),
            ),
          ].join('\n\n'),
          data: {
            looked_for: word,
            on: flags.on ?? null,
            time_zone: timeZone,
            is_exact: n === 0,
            is_on_day: isOnDay,
            found,
          },
        };
      }
      return {
        exitCode: 3,
        text: `${word}: nothing that ${chosen.map(({ name }) => name).join(', ')} published ever stood at it`,
        data: { looked_for: word, on: flags.on ?? null, time_zone: timeZone, found: [] },
      };
    });
  },
};

/** A calendar day in the zone of the periods. @throws Failure, exit code 2. */
async function dayOf(transaction: ControlTransaction, word: string, timeZone: string): Promise<Day> {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(word) && !Number.isNaN(Date.parse(`${word}T00:00Z`));
  if (!isDate || new Date(`${word}T00:00Z`).toISOString().slice(0, 10) !== word)
    throw new Failure(`--on ${JSON.stringify(word)} is no date`, {
      hint: 'write 2026-10-30',
      exitCode: 2,
    });
  const [row] = await query<{ from: string; to: string }>(
    transaction,
    `select ($1::timestamp at time zone $2)::text as "from", (($1::timestamp + interval '1 day') at time zone $2)::text as "to"`,
    [word, timeZone],
  );
  return row as Day;
}
