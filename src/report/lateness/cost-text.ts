/** What the candidates for the delay cost, and the suggestion, as text. */
import { amount, counted } from '../../output/amount.ts';
import { table } from '../../output/table.ts';
import type { Candidate, Miss } from './candidates.ts';
import { percentText } from './figures.ts';
import type { Lateness } from './lateness.ts';

export function candidateLines(found: Lateness): string[] {
  const { candidates, allowed_lateness: allowed, measures, strategy } = found;
  const other = strategy === 'fixed_delay' ? '' : `; the rollup's own strategy is ${strategy}`;
  const rows = candidates.flatMap((candidate) =>
    candidate.late.map((late, place) =>
      candidateCells(candidate, late, candidate.refused[place] as Miss, place === 0),
    ),
  );
  const number = (title: string) => ({ title, isNumber: true });
  return [
    `What each delay costs, in the reading of fixed_delay: a row is late when arrival less delay has reached its window's end${other}`,
    `Refused: late by the allowed lateness of ${allowed} too. Worst and median day: the refused share of a day's total, days by event time in ${found.time_zone}`,
    ...(measures.length === 0 ? ['The rollup has no additive measure, so only rows are counted.'] : []),
    ...table(
      [
        { title: 'delay' },
        number('later than it'),
        { title: 'of' },
        number('late'),
        number('share'),
        number('refused'),
        number('share'),
        number('worst day'),
        number(''),
        number('median day'),
      ],
      rows,
    ).map((line) => `  ${line}`),
  ];
}

function candidateCells(candidate: Candidate, late: Miss, refused: Miss, isFirst: boolean): string[] {
  return [
    isFirst ? `${candidate.delay}${candidate.is_configured ? ' (configured)' : ''}` : '',
    isFirst ? amount(candidate.later_than_delay.rows) : '',
    late.measure ?? 'rows',
    amount(late.amount),
    percentText(late.share),
    amount(refused.amount),
    percentText(refused.share),
    percentText(refused.worst_day_share),
    refused.worst_day === null || refused.worst_day_share === '0' ? '' : refused.worst_day,
    percentText(refused.median_day_share),
  ];
}

export function suggestionLines({ suggestion, candidates }: Lateness): string[] {
  if (suggestion === null) return [];
  const { delay, late, allowed_lateness: allowed, refused, rule } = suggestion;
  const greatest = candidates.at(-1);
  if (delay === null) {
    return [
      'Suggestion: none, for no candidate is long enough',
      `  at ${greatest?.delay}: ${missText(greatest?.late ?? [])} late`,
      `  rule: ${rule}`,
    ];
  }
  return [
    `Suggestion: delay ${delay}, allowed lateness ${allowed ?? 'longer than any candidate'}`,
    `  waiting: every window ships ${delay} after its end`,
    `  misses: ${missText(late)} late${allowed === null ? '' : `; ${missText(refused)} refused`}`,
    `  rule: ${rule}`,
  ];
}

/** `12 rows (0.03 %), revenue 99.50 (0.06 %)`. */
function missText(misses: readonly Miss[]): string {
  return misses
    .map(({ measure, amount: much, share }) =>
      measure === null
        ? `${counted(much, 'row')} (${percentText(share)})`
        : `${measure} ${amount(much)} (${percentText(share)})`,
    )
    .join(', ');
}
