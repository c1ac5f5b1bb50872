import { parse, validateDetailed } from 'node-cron';
import type { Reading } from './reading.ts';

/** When a schedule is due, by the wall clock of its time zone. Sunday is 0. */
export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  readonly weekdays: readonly number[];
  /** Both days are restricted: then one of the two is enough, as in every crontab. */
  readonly eitherDay: boolean;
  /** What is due in every hour goes by real time where the clock changes. */
  readonly everyHour: boolean;
}

const example = 'write one, such as "*/15 * * * *" for each quarter of an hour';

/**
 * Five fields: minute, hour, day of month, month, day of week. A sixth field (seconds) is refused, because other
 * schedulers take it for a year; so are `L`, `#` and `?`, which few know.
 */
export function readCron(text: string): Reading<string> {
  const fields = text.trim().split(/\s+/);
  if (
    fields.length !== 5 ||
    !fields.every((field) => /^[\d*][\d*,/-]*$|^[a-z]{3}([,-][a-z]{3})*$/i.test(field))
  ) {
    return { wrong: `is not a cron expression of five fields; ${example}` };
  }
  const [fault] = validateDetailed(text.trim()).errors;
  if (fault !== undefined)
    return {
      wrong: `has a ${words[fault.field] ?? fault.field} that never comes or cannot be read; ${example}`,
    };
  return { value: text.trim() };
}

const words: Readonly<Record<string, string>> = {
  dayOfMonth: 'day of the month',
  dayOfWeek: 'day of the week',
};

/** @param text as `readCron` has let it pass. */
export function cronFields(text: string): CronFields {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(text);
  const [, , day = '', , weekday = ''] = text.split(/\s+/);
  return {
    minutes: minute,
    hours: hour,
    days: dayOfMonth.map(Number),
    months: month,
    weekdays: dayOfWeek.map(Number),
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
    everyHour: new Set(hour).size === 24,
  };
}
