import type { Reading } from './reading.ts';
import type { Duration } from './settings.ts';

/** A day is exactly 24 hours here; what follows the clock of a zone is a calendar window (R1). */
const units: readonly [microseconds: bigint, ...names: string[]][] = [
  [604_800_000_000n, 'week', 'weeks', 'w'],
  [86_400_000_000n, 'day', 'days', 'd'],
  [3_600_000_000n, 'hour', 'hours', 'hr', 'hrs', 'h'],
  [60_000_000n, 'minute', 'minutes', 'min', 'mins', 'm'],
  [1_000_000n, 'second', 'seconds', 'sec', 'secs', 's'],
  [1_000n, 'millisecond', 'milliseconds', 'ms'],
  [1n, 'microsecond', 'microseconds', 'us', 'µs'],
];
const microsecondsOf = new Map(
  units.flatMap(([microseconds, ...names]) => names.map((name) => [name, microseconds])),
);

const example = 'write a number and a unit, such as 10 minutes, 1 hour 30 minutes, 90s or PT10M';
const varying = /^(months?|mons?|quarters?|years?|yrs?|y)$/i;
const list = /^(?:\d+(?:\.\d+)?\s*[a-zµ]+\s*)+$/i;
const item = /(\d+(?:\.\d+)?)\s*([a-zµ]+)/gi;
const iso =
  /^P(?=.)(?:([\d.]+)Y)?(?:([\d.]+)M)?(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?=.)(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/;

/** PostgreSQL keeps instants and intervals as 64-bit microseconds. */
const limit = 2n ** 63n;

/**
 * Reads `10 minutes`, `1 hour 30 minutes`, `1.5h`, `90s`, `PT10M`, `0`. Exact: what does not come out in whole
 * microseconds is refused, and so are months and years.
 */
export function readDuration(text: string): Reading<Duration> {
  const trimmed = text.trim();
  if (/^0+(\.0+)?$/.test(trimmed)) return { value: { microseconds: 0n, text } };
  if (/^\d+(\.\d+)?$/.test(trimmed)) return { wrong: `has no unit; ${example}` };
  if (/^[-+]/.test(trimmed)) return { wrong: `has a sign, and a duration has none; ${example}` };
  const parts = isoParts(trimmed) ?? listParts(trimmed);
  if (parts === undefined) return { wrong: `is not a duration; ${example}` };
  const seen = new Set<bigint>();
  let total = 0n;
  for (const [amount, unit] of parts) {
    if (varying.test(unit)) {
      return {
        wrong:
          'counts months or years, whose length varies; write days or weeks, or make the window a calendar one',
      };
    }
    const size = microsecondsOf.get(unit.length > 2 ? unit.toLowerCase() : unit);
    if (size === undefined || seen.has(size)) return { wrong: `is not a duration; ${example}` };
    seen.add(size);
    const microseconds = times(amount, size);
    if (microseconds === undefined) return { wrong: 'is finer than a microsecond; write whole microseconds' };
    total += microseconds;
  }
  if (total >= limit) return { wrong: 'is longer than PostgreSQL can add to a time; write a shorter one' };
  return { value: { microseconds: total, text } };
}

/** The duration of so many microseconds, with the text that reads back as the same: `1 hour 30 minutes`. */
export function durationOf(microseconds: bigint): Duration {
  const words: string[] = [];
  let rest = microseconds;
  for (const [size, one, many] of units) {
    const count = rest / size;
    rest %= size;
    if (count > 0n) words.push(`${count} ${count === 1n ? one : many}`);
  }
  return { microseconds, text: words.join(' ') || '0' };
}

function listParts(text: string): [string, string][] | undefined {
  if (!list.test(text)) return undefined;
  return [...text.matchAll(item)].map((match) => [match[1] ?? '', match[2] ?? '']);
}

function isoParts(text: string): [string, string][] | undefined {
  const match = iso.exec(text);
  if (match === null) return undefined;
  const names = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'];
  const parts = names.flatMap((name, at): [string, string][] => {
    const amount = match[at + 1];
    return amount === undefined ? [] : [[amount, name]];
  });
  return parts.every(([amount]) => /^\d+(\.\d+)?$/.test(amount)) ? parts : undefined;
}

function times(amount: string, size: bigint): bigint | undefined {
  const [whole = '0', fraction = ''] = amount.split('.');
  const scaled = BigInt(whole + fraction) * size;
  const scale = 10n ** BigInt(fraction.length);
  return scaled % scale === 0n ? scaled / scale : undefined;
}
