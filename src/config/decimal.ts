import type { Reading } from './reading.ts';

/** Digits after the point that PostgreSQL's `numeric` is sure to keep, and more than any currency has. */
const longest = 1000;

/** The percentage of a relative threshold: `5%` is read as `5`. */
export function readPercentage(text: string): Reading<string> {
  const digits = /^(.*\S)\s*%$/.exec(text)?.[1];
  if (digits === undefined) return { wrong: 'is not a percentage; write one, such as 5%' };
  return readDecimal(digits);
}

/** A decimal that is not negative, kept as the text that was written, so that `1000.00` and 20 digits stay exact (R13). */
export function readDecimal(text: string): Reading<string> {
  if (/^\d+(\.\d+)?$/.test(text) && text.length <= longest) return { value: text };
  if (text.endsWith('%')) return { wrong: 'is relative; write an amount, such as 1000.00' };
  if (text.startsWith('-')) return { wrong: 'is negative; write an amount of 0 or more, such as 1000.00' };
  return { wrong: 'is not a plain decimal; write digits and at most one point, such as 1000.00' };
}
