import type { Reading } from './reading.ts';
import type { CalendarUnit } from './settings.ts';

export interface CalendarWidth {
  readonly count: number;
  readonly unit: CalendarUnit;
}

const example = 'write a count and a unit, such as 1 day, 1 week or 3 months';
const greatest = 10_000;

/** Reads `1 day`, `2 weeks`, `1 quarter`: a width on the clock of a time zone (R1). */
export function readCalendarWidth(text: string): Reading<CalendarWidth> {
  const match = /^(\d+)\s*(hour|day|week|month|quarter|year)s?$/.exec(text.trim());
  if (match === null) {
    return /^\d+\s*(second|minute)s?$/.test(text.trim())
      ? { wrong: 'does not follow the calendar; write it as tumbling' }
      : { wrong: `is not the width of a calendar window; ${example}` };
  }
  const count = Number(match[1]);
  if (count < 1 || count > greatest) return { wrong: `is not between 1 and ${greatest} units; ${example}` };
  return { value: { count, unit: match[2] as CalendarUnit } };
}
