/** Which delay and allowed lateness to begin with, by a rule that is printed with them. */
import { type Candidates, lateBelow, type Miss, refusedBelow, secondsOf } from './candidates.ts';

export interface Suggestion {
  readonly rule: string;
  /** Null: no candidate is long enough. */
  readonly delay: string | null;
  /** What every window waits before it ships. */
  readonly delay_seconds: string | null;
  readonly late: readonly Miss[];
  /** Null: neither 0 nor a candidate is long enough. */
  readonly allowed_lateness: string | null;
  readonly allowed_lateness_seconds: string | null;
  readonly refused: readonly Miss[];
}

const rule =
  `the delay is the smallest candidate that keeps the late share below ${percent(lateBelow)} of rows and of every ` +
  `additive measure; the allowed lateness is the smallest of 0 and the candidates that keeps the refused share below ` +
  `${percent(refusedBelow)} of both`;

/** Null where nothing can be said: no row has a lateness. */
export function suggest(candidates: Candidates): Suggestion | null {
  const { delays, beyond, isBelow } = candidates;
  if (delays.every(({ microseconds }) => beyond(microseconds).length === 0)) return null;
  const delay = delays.find(({ microseconds }) => isBelow(microseconds, 'late'));
  if (!delay) return { rule, ...unknownDelay, ...unknownLateness };
  const begun = {
    rule,
    delay: delay.text,
    delay_seconds: secondsOf(delay),
    late: beyond(delay.microseconds),
  };
  const allowed = [{ microseconds: 0n, text: '0' }, ...delays].find(({ microseconds }) =>
    isBelow(delay.microseconds + microseconds, 'refused'),
  );
  if (!allowed) return { ...begun, ...unknownLateness };
  return {
    ...begun,
    allowed_lateness: allowed.text,
    allowed_lateness_seconds: secondsOf(allowed),
    refused: beyond(delay.microseconds + allowed.microseconds),
  };
}

const unknownDelay = { delay: null, delay_seconds: null, late: [] };
const unknownLateness = { allowed_lateness: null, allowed_lateness_seconds: null, refused: [] };

function percent(share: string): string {
  return `${Number(share) * 100} %`;
}
