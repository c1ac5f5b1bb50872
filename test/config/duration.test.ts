import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationOf, readDuration } from '../../src/config/duration.ts';

function microseconds(text: string): bigint | string {
  const reading = readDuration(text);
  return 'value' in reading ? reading.value.microseconds : reading.wrong;
}

const example = 'write a number and a unit, such as 10 minutes, 1 hour 30 minutes, 90s or PT10M';

describe('readDuration', () => {
  it.each([
    ['0', 0n],
    ['0 s', 0n],
    ['1 microsecond', 1n],
    ['1us', 1n],
    ['1µs', 1n],
    ['250ms', 250_000n],
    ['0.000001 s', 1n],
    ['90s', 90_000_000n],
    ['10 minutes', 600_000_000n],
    ['10 MINUTES', 600_000_000n],
    ['10m', 600_000_000n],
    ['1 hour 30 minutes', 5_400_000_000n],
    ['1h30m', 5_400_000_000n],
    ['1.5 hours', 5_400_000_000n],
    ['24 hours', 86_400_000_000n],
    ['1 day', 86_400_000_000n],
    ['400 days', 34_560_000_000_000n],
    ['1 week', 604_800_000_000n],
    ['PT10M', 600_000_000n],
    ['P1DT0.5S', 86_400_500_000n],
    ['P2W', 1_209_600_000_000n],
  ])('%s', (text, expected) => expect(microseconds(text)).toBe(expected));

  it.each([
    ['', `is not a duration; ${example}`],
    ['10', `has no unit; ${example}`],
    ['-1 hour', `has a sign, and a duration has none; ${example}`],
    ['10 minuets', `is not a duration; ${example}`],
    ['1:30', `is not a duration; ${example}`],
    ['P', `is not a duration; ${example}`],
    ['PT', `is not a duration; ${example}`],
    ['PT1.2.3S', `is not a duration; ${example}`],
    ['1 hour 2 hours', `is not a duration; ${example}`],
    ['1M', `is not a duration; ${example}`],
    ['infinity', `is not a duration; ${example}`],
    [
      '1 month',
      'counts months or years, whose length varies; write days or weeks, or make the window a calendar one',
    ],
    [
      'P1Y',
      'counts months or years, whose length varies; write days or weeks, or make the window a calendar one',
    ],
    ['0.5 us', 'is finer than a microsecond; write whole microseconds'],
    ['20000000 weeks', 'is longer than PostgreSQL can add to a time; write a shorter one'],
  ])('refuses %j', (text, wrong) => expect(microseconds(text)).toBe(wrong));

  it('reads back what durationOf writes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (count) => {
        expect(microseconds(durationOf(count).text)).toBe(count);
      }),
    );
    expect(durationOf(5_400_000_001n).text).toBe('1 hour 30 minutes 1 microsecond');
  });

  it('reads decimals of seconds exactly', () => {
    const part = fc.bigInt({ min: 0n, max: 999_999n });
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), part, (whole, fraction) => {
        const text = `${whole}.${String(fraction).padStart(6, '0')} seconds`;
        expect(microseconds(text)).toBe(whole * 1_000_000n + fraction);
      }),
    );
  });

  it('answers any text', () => {
    fc.assert(fc.property(fc.string(), (text) => void microseconds(text)));
  });
});
