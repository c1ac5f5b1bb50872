/** Rows by lateness, in steps that each are two to six times as long as the one before. */
import type { Bindings } from '../../db/sql.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';

/** Rows later than `above` and no later than `up_to`, both in seconds; null: no bound. */
export interface Bar {
  readonly above: string | null;
  readonly up_to: string | null;
  readonly rows: string;
  /** Of all rows with a lateness; null where there is none. */
  readonly share: string | null;
}

/** Rows later than each bound. */
export interface LaterThan {
  /** Microseconds. */
  readonly bound: string;
  readonly rows: string;
  readonly share: string | null;
  readonly later_rows: string;
  readonly later_share: string | null;
}

/** Seconds. */
const steps = [
  0, 0.1, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 259_200, 604_800, 2_592_000,
  31_536_000,
];
/** Below every lateness, and one microsecond above -2^63. */
const least = -(2n ** 63n) + 1n;

/** Without the empty steps at both ends. */
export async function readHistogram(transaction: ControlTransaction, bindings: Bindings): Promise<Bar[]> {
  const bounds = [least, -1n, ...steps.map((seconds) => BigInt(seconds * 1_000_000))];
  const rows = await readLaterThan(transaction, bindings, bounds);
  const text = [null, '-0.000001', ...steps.map(String), null];
  const bars = rows.map(({ rows: count, share }, place) => ({
    above: text[place] ?? null,
    up_to: text[place + 1] ?? null,
    rows: count,
    share,
  }));
  const isFull = (bar: Bar) => bar.rows !== '0';
  return bars.slice(Math.max(0, bars.findIndex(isFull)), bars.findLastIndex(isFull) + 1);
}

/** @param bounds microseconds, ascending */
export async function readLaterThan(
  transaction: ControlTransaction,
  bindings: Bindings,
  bounds: readonly bigint[],
): Promise<LaterThan[]> {
  const statement = prepare('report/lateness_histogram.sql', bindings);
  return (await execute<LaterThan>(transaction, statement, { bounds: bounds.map(String) })).rows;
}
