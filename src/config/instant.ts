import type { Reading } from './reading.ts';

const shape =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

type Kind = 'date' | 'local' | 'instant';

/** A date, or an instant that says its offset: `2026-01-01`, `2026-01-01T06:00:00Z`, `2026-01-01 06:00+01`. */
export function readInstant(text: string): Reading<string> {
  const kind = kindOf(text);
  if (kind === 'local') {
    return { wrong: 'has no offset, so it is not one instant; write it as 2026-01-01T00:00:00Z or +01:00' };
  }
  if (kind === undefined) {
    return { wrong: 'is not a date or an instant; write it as 2026-01-01 or 2026-01-01T00:00:00Z' };
  }
  return { value: text };
}

/** A date, or a date and time on the wall clock of a zone given elsewhere: `2026-01-01`, `2026-01-01T06:00`. */
export function readLocalTime(text: string): Reading<string> {
  const kind = kindOf(text);
  if (kind === 'instant') {
    return {
      wrong: 'has an offset, but stands for the local clock of the time zone; write it as 2026-01-01T06:00',
    };
  }
  if (kind === undefined) {
    return { wrong: 'is not a local date or time; write it as 2026-01-01 or 2026-01-01T06:00' };
  }
  return { value: text };
}

function kindOf(text: string): Kind | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  // Date rolls 31 February over into March; the day of the month then differs. Year 0 is 1900 to Date.UTC and no year to PostgreSQL.
  const rolled = new Date(Date.UTC(year, month - 1, day));
  if (year < 1 || rolled.getUTCMonth() !== month - 1 || rolled.getUTCDate() !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  if (match[4] === undefined) return 'date';
  if (match[7] === undefined) return 'local';
  return offsetIsReal(match[7]) ? 'instant' : undefined;
}

function offsetIsReal(offset: string): boolean {
  if (offset === 'Z') return true;
  return Number(offset.slice(1, 3)) <= 15 && Number(offset.slice(3).replace(':', '') || 0) <= 59;
}
