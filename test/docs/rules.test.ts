/** `docs/rules.md` names a test for every rule that is carried out, and each of those tests exists. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const rows = read('docs/rules.md')
  .split('\n')
  .filter((line) => /^\| R\d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('it has a line for R1 to R21 and for sessions', () => {
  const rules = Array.from({ length: 21 }, (_, place) => `R${place + 1}`);
  expect(rows.map(([, rule]) => rule)).toEqual(rules.toSpliced(6, 0, 'R6s'));
});

test.each(rows.map(([, rule = '', , carriedOut = '', tests = '']) => ({ rule, carriedOut, tests })))(
  '$rule: the tests that it names exist',
  ({ carriedOut, tests }) => {
    const named = [...tests.matchAll(/`(test\/[^`]+)`: “([^”]+)”/g)];
    expect(named.length > 0).toBe(carriedOut !== 'not yet');
    for (const [, path = '', name = ''] of named) {
      // As a title between quotes, or as the name of a rollup that a table of cases runs through.
      const text = read(path);
      const isThere = ["'", '"', '`'].some((quote) => text.includes(quote + name + quote));
      expect(`${path}: ${isThere || new RegExp(`^  ${name}: \\{`, 'm').test(text)}`).toBe(`${path}: true`);
    }
  },
);
