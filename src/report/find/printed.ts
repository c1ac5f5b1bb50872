/** What a person means by a printed number, and in which ways it is looked for, one after the other. */
import { Failure } from '../../failure.ts';
import { hashOf } from './citation.ts';
import type { Day, Printed } from './find.ts';

export const anyDay: Day = { from: null, to: null };

export interface Way {
  readonly when: Day;
  /** Decimals to which values are rounded first; null: exactly. */
  readonly scale: number | null;
}

/** The number itself; what rounds to it; and where a day was named, on any other. The first that finds something counts. */
export function waysOf(printed: Printed, day: Day): Way[] {
  const scale = /\.(\d+)$/.exec(printed.number ?? '')?.[1]?.length ?? 0;
  return [
    { when: day, scale: null },
    ...(printed.number !== null && printed.rowHash === null ? [{ when: day, scale }] : []),
    ...(day === anyDay ? [] : [{ when: anyDay, scale: null }]),
  ];
}

/** @throws Failure, exit code 2. */
export function printedOf(word: string): Printed {
  const text = word.trim();
  const rowHash = hashOf(text) ?? null;
  const plain = text.replace(/^[+]/, '').replace(/^[−–]/, '-');
  const number = /^-?\d+(\.\d+)?$/.test(plain)
    ? plain
    : /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain)
      ? plain.replaceAll(',', '')
      : null;
  if (text === '')
    throw new Failure('an empty text is no printed number', {
      hint: 'write it as it was printed: 1402 or 1,402.50',
      exitCode: 2,
    });
  if (number === null && rowHash === null && /^[-\d.,\s']+$/.test(text))
    throw new Failure(`${JSON.stringify(word)} can be read in several ways`, {
      detail: 'a comma parts thousands and a point decimals',
      hint: 'write 1402.50 or 1,402.50',
      exitCode: 2,
    });
  return { number, text, rowHash };
}
