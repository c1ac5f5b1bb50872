/** Which keys a person means: `region=EU` pairs, or bare values in the order of the key. */
import type { Rollup } from '../catalog/rollup.ts';
import { Failure } from '../failure.ts';
import type { KeyedWindow } from './keyed-window.ts';

/**
 * `NULL` is the NULL key, `''` empty text, `'NULL'` the text that says so. Bare values fill the columns from the left;
 * not all need be given.
 * @throws Failure, exit code 2, for a column that the key does not have, or one given twice, or too many values.
 */
export function keyOf(rollup: Rollup, words: readonly string[]): KeyedWindow['key'] {
  const columns = rollup.keys.map((column) => column.name);
  const key: Record<string, string | null> = {};
  for (const word of words) {
    const split = word.indexOf('=');
    const named = split > 0 && columns.includes(word.slice(0, split));
    const column = named ? word.slice(0, split) : columns.find((name) => !(name in key));
    // A value may hold `=`; what looks like a pair of another column is more likely a slip.
    if (!named && /^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) throw refusal(rollup, word, 'names no key column');
    if (column === undefined) throw refusal(rollup, word, 'is one value too many');
    if (column in key) throw refusal(rollup, word, 'gives that column a second time');
    key[column] = readValue(named ? word.slice(split + 1) : word);
  }
  return key;
}

function readValue(text: string): string | null {
  if (text === 'NULL') return null;
  return /^'.*'$/s.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text;
}

function refusal({ settings }: Rollup, word: string, what: string): Failure {
  const columns = settings.key.join(', ');
  return new Failure(`${JSON.stringify(word)} ${what}`, {
    detail: columns
      ? `rollup "${settings.name}" is grouped by ${columns}`
      : `rollup "${settings.name}" has no key: one total a window`,
    hint: columns ? `write ${settings.key[0]}=VALUE; NULL for the NULL key, '' for empty text` : undefined,
    exitCode: 2,
  });
}
