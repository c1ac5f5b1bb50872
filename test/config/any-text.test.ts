import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseSettings } from '../../src/config/read-settings.ts';
import { Failure } from '../../src/failure.ts';
import { designExample } from './design-example.ts';

/** Settings or a Failure of exit code 2 with places in the file; anything else is a defect. */
function answered(text: string): void {
  try {
    parseSettings(text, 'errata.yaml', {});
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    expect(error.exitCode).toBe(2);
    for (const line of error.detail?.split('\n') ?? [])
      expect(line).toMatch(/^errata\.yaml:\d+:\d+ {2}\S|^ {4}\w+ /);
  }
}

const lines = designExample.split('\n');

it('any value anywhere in the file is answered', () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.stringify(json));
  fc.assert(
    fc.property(fc.nat(lines.length - 1), value, (at, json) => {
      answered(
        lines.map((line, index) => (index === at ? line.replace(/:.*/, () => `: ${json}`) : line)).join('\n'),
      );
    }),
    { numRuns: 300 },
  );
});

it('any damage to the text is answered', () => {
  const piece = fc.string({ unit: fc.constantFrom(...'{}[]:,#&*!|>\'"%@`$-? \t\n~0a'), maxLength: 4 });
  fc.assert(
    fc.property(fc.nat(designExample.length), fc.nat(20), piece, (from, length, text) => {
      answered(designExample.slice(0, from) + text + designExample.slice(from + length));
    }),
    { numRuns: 500 },
  );
});

it('aliases of aliases do not fill the memory', () => {
  const bomb = Array.from(
    { length: 12 },
    (_, at) => `a${at}: &a${at} [${at === 0 ? 'x' : `*a${at - 1},`.repeat(9)}]`,
  );
  expect(() => parseSettings(bomb.join('\n'), 'errata.yaml', {})).toThrow(Failure);
});
