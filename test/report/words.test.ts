/** Small words of the reports: what goes in and what comes out. */
import { describe, expect, test } from 'vitest';
import type { Rollup } from '../../src/catalog/rollup.ts';
import { amount } from '../../src/output/amount.ts';
import { payloadText } from '../../src/report/event-text.ts';
import { instantText, shortInstant, spanText } from '../../src/report/instant-text.ts';
import { keyOf } from '../../src/report/key-of.ts';
import { keyText, keyValueText } from '../../src/report/keyed-window.ts';
import { holds, type MeasureCheck, sumCheckLines } from '../../src/report/sum-check.ts';

test.each([
  ['2026-10-29 18:02:00+00', '2026-10-29 18:02:00Z'],
  ['2026-10-29 18:02:00.000001+00', '2026-10-29 18:02:00.000001Z'],
  [null, 'never'],
])('the instant %s → %s', (instant, text) => {
  expect(instantText(instant)).toBe(text);
});

test('to the second', () => {
  expect(shortInstant('2026-10-29 18:02:00.999999+00')).toBe('2026-10-29 18:02:00Z');
});

test.each([
  ['194930.500000', '2 days 6 hours'],
  ['86400', '1 day'],
  ['86460', '1 day'],
  ['61', '1 minute 1 second'],
  ['0.9', '0 seconds'],
  ['-3600', '-1 hour'],
  // 2^53 + 1 days of 86,400 seconds
  ['778222015609621795200', '9007199254740993 days'],
])('the span of %s seconds → %s', (seconds, text) => {
  expect(spanText(seconds)).toBe(text);
});

describe('keys', () => {
  const rollup = {
    keys: [
      { name: 'region', type: 'text' },
      { name: 'shop', type: 'text' },
    ],
    settings: { name: 'r', key: ['region', 'shop'] },
  } as unknown as Rollup;

  test.each<[string[], Record<string, string | null>]>([
    [[], {}],
    [['EU'], { region: 'EU' }],
    [['EU', '7'], { region: 'EU', shop: '7' }],
    [['shop=7', 'EU'], { shop: '7', region: 'EU' }],
    [['NULL', "''"], { region: null, shop: '' }],
    [["region='NULL'"], { region: 'NULL' }],
    [["region='it''s'"], { region: "it's" }],
    [['region=a=b'], { region: 'a=b' }],
  ])('%j → %j', (words, key) => {
    expect(keyOf(rollup, words)).toEqual(key);
  });

  test.each([
    [['a', 'b', 'c'], '"c" is one value too many'],
    [['region=a', 'region=b'], '"region=b" gives that column a second time'],
    [['country=a'], '"country=a" names no key column'],
  ])('%j is refused: %s', (words, message) => {
    expect(() => keyOf(rollup, words)).toThrow(message);
  });

  test('what is printed can be given back', () => {
    for (const value of [null, '', 'NULL', "it's", 'two words', 'EU']) {
      expect(keyOf(rollup, [`region=${keyValueText(value)}`])).toEqual({ region: value });
    }
    expect(keyText({ shop: '', region: null }, ['region', 'shop'])).toBe("region NULL, shop ''");
  });
});

test('a row text without its brackets', () => {
  expect(payloadText('(APAC,95.53,)')).toBe('APAC, 95.53');
});

describe('the sum check', () => {
  const revenue: MeasureCheck = {
    measure: 'revenue',
    sealed: '90071992547409930.01',
    corrections: '-0.02',
    latest: '90071992547409929.99',
    pending: '1.00',
    held: '0',
    waived: '0',
    restated: '90071992547409930.99',
    recounted: null,
    adds_up: true,
    unexplained: null,
  };

  test('beyond 2^53 every digit stands', () => {
    expect(amount(revenue.sealed)).toBe('90,071,992,547,409,930.01');
    const lines = sumCheckLines([revenue]);
    expect(lines[1]).toContain('90,071,992,547,409,930.01  ');
    expect(lines[1]).toContain('-0.02');
    expect(lines[2]).toBe('It adds up: sealed + corrections = latest, latest + pending = restated.');
  });

  test('held and waived have a column where there is any; a difference is never hidden', () => {
    const off = { ...revenue, waived: '2.00', recounted: '90071992547409931.00', unexplained: '0.01' };
    expect(holds([off])).toBe(false);
    const lines = sumCheckLines([off]);
    expect(lines[0]).toContain('waived');
    expect(lines.at(-1)).toBe(
      'IT DOES NOT ADD UP (sealed + corrections = latest, latest + pending + waived = restated = in bronze); unexplained: revenue +0.01.',
    );
  });
});
