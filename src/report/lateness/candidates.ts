/**
 * What each candidate for the delay would have cost, under the reading of `fixed_delay` (R2, R3): a row is late when
 * arrival less delay has reached its window's end, and refused when it has reached it by the allowed lateness too.
 */
import type { Rollup } from '../../catalog/rollup.ts';
import type { Duration } from '../../config/settings.ts';
import type { Bindings } from '../../db/sql.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { type LaterThan, readLaterThan } from './histogram.ts';
import type { Range } from './range.ts';

/** A suggestion keeps the share of late and of refused rows, and of each additive measure, below these. */
export const lateBelow = '0.001';
export const refusedBelow = '0.0001';

/** Amounts and shares as decimal text. A share is null where the total is 0. */
export interface Miss {
  /** Null: rows. */
  readonly measure: string | null;
  readonly amount: string;
  readonly total: string;
  readonly share: string | null;
  /** Of the days (by event time) that begin within the range: the one with the greatest share, and the median of shares. */
  readonly worst_day: string | null;
  readonly worst_day_share: string | null;
  readonly median_day_share: string | null;
}

export interface Candidate {
  readonly delay: string;
  readonly delay_seconds: string;
  readonly is_configured: boolean;
  /** Rows whose lateness is greater than the delay, whatever window they belong to. */
  readonly later_than_delay: { readonly rows: string; readonly share: string | null };
  readonly late: readonly Miss[];
  /** With the allowed lateness of the settings. */
  readonly refused: readonly Miss[];
}

export interface Candidates {
  readonly configured: readonly Candidate[];
  readonly delays: readonly Duration[];
  /** What lies beyond a threshold after the window's end, in microseconds. */
  beyond(threshold: bigint): readonly Miss[];
  /** Whether that stays below the limit in rows and in every measure. */
  isBelow(threshold: bigint, limit: 'late' | 'refused'): boolean;
}

interface MissRow extends Miss {
  readonly threshold: string;
  readonly is_below_late: boolean;
  readonly is_below_refused: boolean;
}

export async function readCandidates(
  transaction: ControlTransaction,
  { settings, measures }: Pick<Rollup, 'settings' | 'measures'>,
  bindings: Bindings,
  asked: readonly Duration[],
  range: Range,
  zone: string,
): Promise<Candidates> {
  const delays = distinct(asked);
  const thresholds = thresholdsOf(delays, settings.allowedLateness);
  const statement = prepare('report/lateness_misses.sql', bindings);
  const { rows } = await execute<MissRow>(transaction, statement, {
    thresholds: thresholds.map(String),
    from_instant: range.from,
    zone,
    late_below: lateBelow,
    refused_below: refusedBelow,
  });
  // In the order of the file; rows first.
  const order = [null, ...measures.map(({ name }) => name)];
  const at = (threshold: bigint) =>
    rows
      .filter((row) => row.threshold === String(limited(threshold)))
      .sort((a, b) => order.indexOf(a.measure) - order.indexOf(b.measure));
  const beyond = (threshold: bigint) => at(threshold).map(missOf);
  const later = await readLaterThan(
    transaction,
    bindings,
    delays.map(({ microseconds }) => microseconds),
  );
  return {
    delays,
    beyond,
    isBelow: (threshold, limit) =>
      at(threshold).every((row) => (limit === 'late' ? row.is_below_late : row.is_below_refused)),
    configured: delays.map((delay, place) => ({
      delay: delay.text,
      delay_seconds: secondsOf(delay),
      is_configured: delay.microseconds === settings.watermark.delay?.microseconds,
      later_than_delay: {
        rows: (later[place] as LaterThan).later_rows,
        share: (later[place] as LaterThan).later_share,
      },
      late: beyond(delay.microseconds),
      refused: beyond(delay.microseconds + settings.allowedLateness.microseconds),
    })),
  };
}

/** In ascending order; of two of one length the first. */
function distinct(durations: readonly Duration[]): Duration[] {
  const byLength = new Map<bigint, Duration>();
  for (const one of durations) if (!byLength.has(one.microseconds)) byLength.set(one.microseconds, one);
  return [...byLength.values()].sort((a, b) => (a.microseconds < b.microseconds ? -1 : 1));
}

/** Every delay by itself, with the allowed lateness of the settings, and with every candidate as allowed lateness. */
function thresholdsOf(delays: readonly Duration[], allowed: Duration): bigint[] {
  const extra = [0n, allowed.microseconds, ...delays.map(({ microseconds }) => microseconds)];
  const all = delays.flatMap(({ microseconds }) => extra.map((more) => limited(microseconds + more)));
  return [...new Set(all)].sort((a, b) => (a < b ? -1 : 1));
}

/** No row is later than what a bigint holds. */
function limited(threshold: bigint): bigint {
  const most = 2n ** 63n - 1n;
  return threshold < most ? threshold : most;
}

export function secondsOf({ microseconds }: Duration): string {
  const fraction = String(microseconds % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${microseconds / 1_000_000n}${fraction && `.${fraction}`}`;
}

function missOf({ threshold: _, is_below_late: _late, is_below_refused: _refused, ...miss }: MissRow): Miss {
  return miss;
}
