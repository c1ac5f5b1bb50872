/** Amounts for people. They are decimal text on their way in and never become JavaScript numbers (R13). */

const formats = new Map<number, Intl.NumberFormat>();

/** `1234567.50` → `1,234,567.50`, all digits kept; null → `–`; what is no decimal (a text, `NaN`) stays as it is. */
export function amount(text: string | null | undefined): string {
  if (text === null || text === undefined) return '–';
  const match = /^-?\d+(?:\.(\d+))?$/.exec(text);
  if (match === null || (match[1]?.length ?? 0) > 100) return text;
  return formatOf(match[1]?.length ?? 0).format(text as Intl.StringNumericLiteral);
}

/** The same with a sign: `+1`, `-2.00`, `0`. */
export function difference(text: string | null | undefined): string {
  const shown = amount(text);
  return text && /^\d/.test(text) && !/^0+(\.0+)?$/.test(text) ? `+${shown}` : shown;
}

/** One language for every machine, so that a script sees the same text everywhere. */
function formatOf(digits: number): Intl.NumberFormat {
  const known = formats.get(digits);
  if (known) return known;
  const format = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  formats.set(digits, format);
  return format;
}

/** `a correction`, `an adjustment`. */
export function one(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** `1 window`, `2 windows`, `1,402 events`. */
export function counted(count: number | string | bigint, one: string, many = `${one}s`): string {
  return `${amount(String(count))} ${String(count) === '1' ? one : many}`;
}
