import { z } from 'zod';
import { readCalendarWidth } from './calendar-width.ts';
import { readCron } from './cron.ts';
import { readDecimal, readPercentage } from './decimal.ts';
import { readDuration } from './duration.ts';
import { readInstant } from './instant.ts';
import { readGoldName, readName, readTableName } from './name.ts';
import type { Reading } from './reading.ts';
import type { Duration } from './settings.ts';
import { readTimeZone } from './time-zone.ts';

/**
 * A text in the file that `read` turns into a value. `remedy` says what to write where it is missing or no text. The
 * document gives numbers as text; `numbers` tells the JSON Schema that an editor may see one.
 */
export function leaf<T>(read: (text: string) => Reading<T>, remedy: string, numbers = false) {
  const text = z.string({ error: remedy }).meta(numbers ? { type: ['string', 'number'] } : {});
  return text.transform((value, context): T => {
    const reading = read(value);
    if ('value' in reading) return reading.value;
    context.addIssue({ code: 'custom', message: reading.wrong });
    return z.NEVER;
  });
}

/** A mapping with these members and no others. The message of an unknown key carries the known ones, for `issues.ts`. */
export function section<Shape extends z.ZodRawShape>(shape: Shape, remedy: string) {
  const known = Object.keys(shape).join(' ');
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? known : remedy) });
}

/** One of these words. */
export function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `write ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` });
}

export const flag = z.boolean({ error: 'write true or false' });

export const duration = leaf(readDuration, 'write a duration, such as 10 minutes', true);
export const span = leaf(readSpan, 'write a duration, such as 10 minutes');
export const skew = leaf(readSkew, 'write a duration, such as 1 hour, or none', true);
export const decimal = leaf(readDecimal, 'write an amount, such as 1000.00', true);
export const count = leaf(readCount, 'write a whole number, such as 100', true);
export const percentage = leaf(readPercentage, 'write a percentage, such as 5%');
export const table = leaf(readTableName, 'write schema.table');
export const goldName = leaf(readGoldName, 'write schema.table');
export const column = leaf(readName, 'write the name of a column');
export const timeZone = leaf(readTimeZone, 'write a time zone, such as Europe/Berlin or UTC');
export const instant = leaf(readInstant, 'write a date or an instant, such as 2026-01-01');
export const calendarWidth = leaf(readCalendarWidth, 'write a count and a unit, such as 1 day');
export const cron = leaf(readCron, 'write five fields in quotes, such as "*/15 * * * *"');
export const text = leaf(readText, 'write it as text');
export const expression = leaf(readExpression, 'write an SQL expression');

const durationRemedy = 'write a duration, such as 10 minutes, or { column: COLUMN, default: 10 minutes }';

/** A duration for all rows, or a column in which each row carries its own, and what holds where it says nothing. */
export const durationOrColumn = z
  .union(
    [
      duration,
      section(
        {
          column: column.describe('The bronze column, of type interval, in which each row carries its own.'),
          default: duration.describe('What holds where the column is NULL.'),
        },
        durationRemedy,
      ),
    ],
    { error: durationRemedy },
  )
  .transform((value) =>
    'column' in value ? { column: value.column, duration: value.default } : { duration: value },
  );

/** One column or a list of them. */
export const columns = z
  .union([column, z.array(column)], { error: 'write the name of a column or a list of them' })
  .transform((value) => (typeof value === 'string' ? [value] : value));

function readText(value: string): Reading<string> {
  return value.trim() === '' ? { wrong: 'is empty; write a text or leave it out' } : { value };
}

function readCount(value: string): Reading<number> {
  if (/^\d{1,15}$/.test(value)) return { value: Number(value) };
  return { wrong: 'is no whole number of 0 or more; write one, such as 100' };
}

function readSpan(value: string): Reading<Duration> {
  const reading = readDuration(value);
  if ('wrong' in reading || reading.value.microseconds > 0n) return reading;
  return { wrong: 'has no length; write one above 0, such as 5 minutes' };
}

function readSkew(value: string): Reading<Duration | 'none'> {
  return value.trim() === 'none' ? { value: 'none' } : readDuration(value);
}

/** A comma ends a plain text inside `{ }`, and ` #` ends one anywhere; a lost bracket shows it. */
function readExpression(value: string): Reading<string> {
  if (value.trim() === '') return { wrong: 'is empty; write an SQL expression' };
  if (/\\|\$\$/.test(value)) return { value };
  const bare = value.replaceAll(/'[^']*'|"[^"]*"/g, '');
  // It is put into larger statements, whose rest would be cut off.
  if (/--|;/.test(bare)) return { wrong: 'has a comment or semicolon in it; write the SQL expression alone' };
  if (bare.split('(').length === bare.split(')').length) return { value };
  return {
    wrong: 'has a bracket without its partner; write the expression in quotes, since , and # can end it',
  };
}
