import { describe, expect, it } from 'vitest';
import { Failure, formatFailure } from '../../src/failure.ts';

describe('formatFailure', () => {
  it('prints fact, detail and hint', () => {
    const failure = new Failure('side output table is missing a column', {
      detail: 'gold.daily_orders_late_event has no column "revenue"',
      hint: 'run `errata migrate` to add it',
    });
    expect(formatFailure(failure)).toBe(
      [
        'side output table is missing a column',
        '  detail: gold.daily_orders_late_event has no column "revenue"',
        '  hint:   run `errata migrate` to add it',
      ].join('\n'),
    );
    expect(failure.exitCode).toBe(1);
  });

  it('indents a detail of several lines, and leaves out what is not there', () => {
    expect(formatFailure(new Failure('two faults', { detail: 'one\ntwo', exitCode: 2 }))).toBe(
      'two faults\n  detail: one\n          two',
    );
    expect(formatFailure(new Failure('nothing more'))).toBe('nothing more');
  });
});
