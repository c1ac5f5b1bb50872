/** `docs/faults.md` names a test for every fault, and each of those tests exists. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const rows = read('docs/faults.md')
  .split('\n')
  .filter((line) => /^\| (?!fault \|)(?!\*\*)/.test(line))
  .map((line) => line.split(' | '));

test('every fault has a test', () => {
  expect(rows.length).toBeGreaterThan(30);
  for (const [fault = '', , tests = ''] of rows)
    expect(`${fault}: ${/“/.test(tests)}`).toBe(`${fault}: true`);
});

test.each(rows.map(([fault = '', , tests = '']) => ({ fault: fault.slice(2), tests })))(
  '$fault',
  ({ tests }) => {
    for (const [, path = '', name = ''] of tests.matchAll(/`(test\/[^`]+)`: “([^”]+)”/g)) {
      const text = read(path);
      const isThere = ["'", '"', '`'].some((quote) => text.includes(quote + name + quote));
      expect(`${path}: ${name}: ${isThere}`).toBe(`${path}: ${name}: true`);
    }
  },
);
