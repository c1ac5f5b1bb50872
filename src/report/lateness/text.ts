/** Lateness as a person reads it: who is late, how late, what each delay costs, what to begin with, and what broke when. */
import { amount, counted } from '../../output/amount.ts';
import { instantText } from '../instant-text.ts';
import { candidateLines, suggestionLines } from './cost-text.ts';
import { secondsText } from './figures.ts';
import type { Jump, Lateness } from './lateness.ts';
import { plotLines } from './plot.ts';
import type { Spread } from './spread.ts';
import { spreadLines } from './spread-text.ts';

/** Most lines of groups and jumps, and of days, the last ones; the JSON has more. */
const shown = 20;
const daysShown = 31;

export function latenessText(found: Lateness, isUnicode: boolean): string {
  const { range, whole } = found;
  if (range === null || whole === null)
    return `${found.rollup}: ${found.bronze} is empty, so nothing can be late`;
  const head = [
    `${found.rollup}: ${counted(whole.rows, 'row')} of ${found.bronze}, ingested from ${instantText(range.from)} ${range.greatest ? `up to ${instantText(range.greatest)}` : `to ${instantText(range.to)}`}`,
    '  lateness is arrival less event time',
    ...asideLines(found),
  ];
  const isNothing = whole.rows === '0';
  const lines = isNothing
    ? ['', 'No row has a lateness: see what is set aside.', ...jumpLines(found)]
    : [
        '',
        ...spreadLines([
          { title: '', rows: [whole], names: () => 'all rows' },
          ...(found.by_source ? [groupOf('by source partition', found.by_source)] : []),
          ...(found.by_key ? [groupOf('by key', found.by_key)] : []),
        ]),
        '',
        'Rows by lateness (bars grow with the logarithm)',
        ...indented(plotLines(found.histogram, isUnicode)),
        '',
        ...candidateLines(found),
        '',
        ...suggestionLines(found),
        '',
        `Days of arrival, ${found.time_zone}`,
        ...spreadLines(
          [{ title: '', rows: found.days.slice(-daysShown), names: dayName }],
          ['p50', 'p99', 'max'],
        ),
        ...moreLine(found.days, Math.min(daysShown, found.days.length), 'day'),
        ...jumpLines(found),
      ];
  return [...head, ...lines].join('\n');
}

function asideLines({ set_aside: aside, copies }: Lateness): string[] {
  return [
    ...aside.map(({ reason, rows }) => `  counted apart: ${counted(rows, 'row')}, ${reason}`),
    ...(copies === '0' ? [] : [`  counted apart: ${counted(copies, 'copy', 'copies')}`]),
  ];
}

function groupOf(title: string, rows: readonly Spread[]) {
  return {
    title,
    rows: rows.slice(0, shown),
    names: groupName,
    more: moreLine(rows, Math.min(shown, rows.length), 'group'),
  };
}

/** `EU`, `EU, 7`. */
function groupName({ name }: Spread): string {
  return Object.values(name)
    .map((value) => (value === null ? 'NULL' : value === '' ? "''" : value))
    .join(', ');
}

function dayName({ name }: Spread): string {
  return name.day ?? 'NULL';
}

function moreLine(rows: readonly Spread[], count: number, what: string): string[] {
  const more = BigInt(rows[0]?.groups ?? 0) - BigInt(count);
  return more > 0n ? [`  and ${counted(more, what)} more; --json has them`] : [];
}

function jumpLines({ jumps }: Lateness): string[] {
  if (jumps.length === 0) return [];
  const more = BigInt(jumps[0]?.jumps ?? 0) - BigInt(Math.min(shown, jumps.length));
  return [
    '',
    'Clocks that seem to have broken or been mended: the median is ten times that of the day before, a tenth, or of the other sign; or most rows are quarantined',
    ...jumps.slice(0, shown).map((jump) => `  ! ${jumpText(jump)}`),
    ...(more > 0n ? [`  and ${amount(String(more))} more; --json has them`] : []),
  ];
}

function jumpText({ day, source_partition: source, mark, rows, p50_before: before, p50 }: Jump): string {
  const who =
    source === null ? 'no source partition named' : `source partition ${source === '' ? "''" : source}`;
  if (mark === 'quarantine') return `${day}, ${who}: ${counted(rows, 'row')} too far ahead of arrival`;
  return `${day}, ${who}: p50 from ${secondsText(before)} to ${secondsText(p50)} over ${counted(rows, 'row')}`;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
