/** What a person asked for in the address, from untrusted text to values. Whatever cannot be meant is refused by name. */
import { readInstant } from '../config/instant.ts';
import { Failure } from '../failure.ts';

/** Rows of a page; the steps lead to the others. */
export const rowsOfPage = 200;
/** Beyond so many steps an offset costs too much. */
const mostSteps = 500;

export class Asked {
  readonly #values: URLSearchParams;

  /** @throws Failure for a name that the page does not know, or one given twice. */
  constructor(url: string, names: readonly string[]) {
    this.#values = new URL(url).searchParams;
    for (const name of new Set(this.#values.keys())) {
      if (!names.includes(name))
        throw refusal(
          name,
          this.#values.get(name) ?? '',
          'is not asked for here',
          `this page takes: ${names.join(', ') || 'nothing'}`,
        );
      if (this.#values.getAll(name).length > 1)
        throw refusal(name, this.#values.getAll(name).join(', '), 'is given more than once', 'give it once');
    }
  }

  /** Left out and empty are the same: a form sends its empty fields. */
  text(name: string): string | undefined {
    const value = this.#values.get(name) ?? '';
    if (value.includes('\0')) throw refusal(name, value, 'holds a zero byte', 'leave it out');
    return value === '' ? undefined : value;
  }

  /** `2026-10`, as its first day. */
  month(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^(?!0000)\d{4}-(0[1-9]|1[0-2])$/.test(value))
      throw refusal(name, value, 'is no month', 'write 2026-10');
    return `${value}-01`;
  }

  date(name: string): string | undefined {
    const value = this.text(name);
    if (value !== undefined && (value.length !== 10 || 'wrong' in readInstant(value)))
      throw refusal(name, value, 'is no date', 'write 2026-10-29');
    return value;
  }

  /** The step of a list, counted from 1. */
  step(): number {
    const value = this.text('step');
    if (value === undefined) return 1;
    if (!/^\d{1,4}$/.test(value) || Number(value) < 1 || Number(value) > mostSteps)
      throw refusal(
        'step',
        value,
        `is no step from 1 to ${mostSteps}`,
        'narrow the list in place of going on',
      );
    return Number(value);
  }

  /** A number that the database gave, such as a run. */
  id(name: string): string | undefined {
    const value = this.text(name);
    if (value !== undefined && !/^\d{1,18}$/.test(value))
      throw refusal(name, value, 'is no number of ours', 'leave it out');
    return value;
  }

  /** The texts of the key columns, as a JSON array; null is the NULL key. */
  key(columns: readonly string[]): readonly (string | null)[] | undefined {
    const value = this.text('key');
    if (value === undefined) return columns.length === 0 ? [] : undefined;
    const key = parsed(value);
    const isKey =
      Array.isArray(key) &&
      key.length === columns.length &&
      key.every((one) => one === null || (typeof one === 'string' && !one.includes('\0')));
    if (isKey) return key as (string | null)[];
    throw refusal(
      'key',
      value,
      'is no key of this rollup',
      columns.length === 0
        ? 'it has no key: leave it out'
        : `write ${JSON.stringify(columns.map((name) => `a text for ${name}, or null`))}`,
    );
  }
}

/** @throws Failure for what is no instant and no date. */
export function instantAsked(name: string, value: string): string {
  const reading = readInstant(value);
  if ('wrong' in reading) throw new Failure(`${name} ${quoted(value)} ${reading.wrong}`);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(name: string, value: string, what: string, hint: string): Failure {
  return new Failure(`${name} ${quoted(value)} ${what}`, { hint });
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}
