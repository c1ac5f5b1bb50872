/** Percentiles as one table, so that the columns of all groupings stand below each other. */
import { amount } from '../../output/amount.ts';
import { table } from '../../output/table.ts';
import { percentText, secondsText } from './figures.ts';
import type { Spread } from './spread.ts';

export interface SpreadSection {
  /** Empty: none. */
  readonly title: string;
  readonly rows: readonly Spread[];
  readonly names: (spread: Spread) => string;
  /** Lines below it. */
  readonly more?: readonly string[];
}

type Figure = 'p50' | 'p90' | 'p95' | 'p99' | 'p999' | 'max';
const allFigures: readonly Figure[] = ['p50', 'p90', 'p95', 'p99', 'p999', 'max'];

export function spreadLines(
  sections: readonly SpreadSection[],
  figures: readonly Figure[] = allFigures,
): string[] {
  const columns = [
    { title: '' },
    { title: 'rows', isNumber: true },
    ...figures.map((figure) => ({ title: figure === 'p999' ? 'p99.9' : figure, isNumber: true })),
    { title: 'negative', isNumber: true },
    { title: 'set aside', isNumber: true },
  ];
  const all = sections.flatMap(({ rows, names }) =>
    rows.map((spread) => [
      names(spread),
      amount(spread.rows),
      ...figures.map((figure) => secondsText(spread[figure])),
      percentText(spread.negative_share),
      amount(spread.set_aside),
    ]),
  );
  const [head = '', ...lines] = table(columns, all).map((line) => `  ${line}`);
  let place = 0;
  return [
    head,
    ...sections.flatMap(({ title, rows, more = [] }) => {
      const own = lines.slice(place, place + rows.length);
      place += rows.length;
      return [...(title ? [title] : []), ...own, ...more];
    }),
  ];
}
