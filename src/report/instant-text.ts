/** Instants and spans for people. They come as the database's text and never become JavaScript dates (R13). */

/** `2026-10-29 18:02:00.000001+00` → `2026-10-29 18:02:00.000001Z`; null → `never`. */
export function instantText(instant: string | null | undefined): string {
  return instant ? instant.replace(/\+00$/, 'Z') : 'never';
}

/** To the second: for what is read and not compared. */
export function shortInstant(instant: string | null | undefined): string {
  return instantText(instant).replace(/\.\d+Z$/, 'Z');
}

const units: readonly (readonly [bigint, string])[] = [
  [86_400n, 'day'],
  [3_600n, 'hour'],
  [60n, 'minute'],
  [1n, 'second'],
];

/** Seconds as text → its two greatest units: `194930.5` → `2 days 6 hours`; below a second `0 seconds`. */
export function spanText(seconds: string): string {
  const match = /^(-?)(\d+)/.exec(seconds);
  if (match === null) return seconds;
  let rest = BigInt(match[2] as string);
  const words: string[] = [];
  for (const [size, name] of units) {
    const count = rest / size;
    rest %= size;
    if (count > 0n) words.push(`${count} ${name}${count === 1n ? '' : 's'}`);
    else if (words.length > 0) break;
  }
  return `${match[1]}${words.slice(0, 2).join(' ') || '0 seconds'}`;
}
