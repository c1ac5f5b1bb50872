import type { Reading } from './reading.ts';

/**
 * Five fields: minute, hour, day of month, month, day of week. Only the form is read here; the scheduler reads the
 * meaning. A sixth field (seconds) is refused, because other schedulers take it for a year.
 */
export function readCron(text: string): Reading<string> {
  const fields = text.trim().split(/\s+/);
  if (
    fields.length !== 5 ||
    !fields.every((field) => /^[\d*][\d*,/-]*$|^[a-z]{3}([,-][a-z]{3})*$/i.test(field))
  ) {
    return {
      wrong:
        'is not a cron expression of five fields; write one, such as "*/15 * * * *" for each quarter of an hour',
    };
  }
  return { value: text.trim() };
}
