/** The histogram as bars for a terminal. The tail of a million rows must be seen, so bars grow with the logarithm. */
import type { Environment } from '../../config/environment.ts';
import { amount } from '../../output/amount.ts';
import { table } from '../../output/table.ts';
import { percentText, secondsText } from './figures.ts';
import type { Bar } from './histogram.ts';

const width = 40;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Whether the terminal's character set is UTF-8, by the first of these variables that is set. */
export function showsUnicode({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

/** One line a bar: `up to 3 s  12  0.4 %  ████`. */
export function plotLines(bars: readonly Bar[], isUnicode: boolean): string[] {
  const most = Math.max(1, ...bars.map(({ rows }) => sizeOf(rows)));
  return table(
    [
      { title: 'lateness' },
      { title: 'rows', isNumber: true },
      { title: 'share', isNumber: true },
      { title: '' },
    ],
    bars.map((bar) => [
      stepText(bar),
      amount(bar.rows),
      percentText(bar.share),
      barText((sizeOf(bar.rows) / most) * width, isUnicode),
    ]),
  );
}

function stepText({ above, up_to: upTo }: Bar): string {
  if (above === null) return 'negative';
  if (upTo === null) return `over ${secondsText(above)}`;
  return upTo === '0' ? '0' : `up to ${secondsText(upTo)}`;
}

/** 0 for none, 1 for one, 2 for ten. Only a length is derived from it. */
function sizeOf(rows: string): number {
  return rows === '0' ? 0 : 1 + Math.log10(Number(rows));
}

function barText(length: number, isUnicode: boolean): string {
  if (!isUnicode) return '#'.repeat(Math.round(length));
  const parts = Math.round(length * 8);
  return '█'.repeat(Math.floor(parts / 8)) + eighths[parts % 8];
}
