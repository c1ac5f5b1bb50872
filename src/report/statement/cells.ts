/** How the page of a statement writes what stands in its tables: windows, amounts, persons, instants. */
import { amount, difference } from '../../output/amount.ts';
import { windowText } from '../../output/window-text.ts';
import { shortInstant } from '../instant-text.ts';
import type { Basis } from './basis.ts';
import type { Listed, ListName } from './figures.ts';
import { type Content, type Heading, paragraph, span } from './markup.ts';

export interface PageParts {
  readonly basis: Basis;
  /** At most `pageRows` of each. */
  readonly lists: Readonly<Record<ListName, Listed>>;
  /** How many there are. */
  readonly counts: Readonly<Record<ListName, number>>;
  readonly fileOf: Readonly<Partial<Record<ListName, string>>>;
}

export type Cells = Readonly<Record<string, string | null>>;

export function rowsOf({ columns, rows }: Listed): Cells[] {
  return rows.map((cells) =>
    Object.fromEntries(columns.map(({ attribute }, place) => [attribute, cells[place] ?? null])),
  );
}

export function windowHead({ basis }: PageParts): Heading[] {
  return [{ title: 'Window' }, ...basis.rollup.keys.map(({ name }) => ({ title: name }))];
}

export function windowCells({ basis }: PageParts, row: Cells): Content[] {
  const keys = basis.rollup.keys.map(({ name }): Content => {
    const value = row[name];
    if (value === null || value === undefined) return span('zero', 'NULL');
    return value === '' ? span('zero', 'empty') : value;
  });
  if (!row.window_start || !row.window_end) return ['no window', ...keys];
  const window = windowText({
    window_start: plain(row.window_start),
    window_end: plain(row.window_end),
    local_date: row.local_date ?? null,
  });
  return [span('nowrap', window), ...keys];
}

/** Who decided, and why; where nobody did, the policy. */
export function who({ actor, approver, reason }: Cells): Content {
  const names = [...new Set([actor, approver].filter(Boolean))].join(', approved by ');
  return person(names === '' ? null : names, reason);
}

export function person(name: string | null | undefined, reason: string | null | undefined): Content {
  if (!name) return span('zero', 'policy');
  return reason ? `${name}: ${reason}` : name;
}

/** That a list was cut, and where the rest is. */
export function cut({ counts, lists, fileOf }: PageParts, name: ListName): string {
  const rest = counts[name] - lists[name].rows.length;
  const whole = { corrections: 'versions', refused: 'events' }[name as string] ?? name;
  return rest <= 0
    ? ''
    : paragraph(
        `${amount(String(rest))} more: ${fileOf[whole as ListName]} has all ${amount(String(counts[name]))}.`,
        'note',
      );
}

export function words(parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(', ').replaceAll('; ', ', ').replaceAll('_', ' ');
}

export const isZero = (text: string | null | undefined) => /^-?0*(\.0*)?$/.test(text ?? '0');

/** Zeros at the end, so that decimals stand one below the other; the value is not rounded. */
export function padded(text: string | null | undefined, scale: number): string | null {
  const match = /^(-?\d+)(?:\.(\d+))?$/.exec(text ?? '');
  if (!match || scale === 0) return text ?? null;
  return `${match[1]}.${(match[2] ?? '').padEnd(scale, '0')}`;
}

export function change(text: string | null | undefined, scale: number): Content {
  if (text === null || text === undefined) return span('zero', '–');
  return isZero(text) ? span('zero', '0') : difference(padded(text, scale));
}

export function quiet(count: string | null | undefined): Content {
  return isZero(count) ? span('zero', '0') : amount(count);
}

export function strong(text: string | null): Content {
  return span('strong', amount(text));
}

export function code(text: string | null | undefined): Content {
  return span('code', text ?? '–');
}

export function moment(instant: string | null | undefined): Content {
  return instant ? span('nowrap', seconds(instant)) : '–';
}

/** To the second: the files have all digits. */
export function seconds(instant: string): string {
  return shortInstant(plain(instant));
}

/** As the database writes it elsewhere. */
export function plain(instant: string): string {
  return instant.replace('T', ' ').replace(/Z$/, '+00');
}

export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
