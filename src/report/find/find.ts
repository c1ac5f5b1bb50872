/** Whoever holds nothing but a number and a date finds what stood at it, as data (R11, R21). */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { citationOf } from './citation.ts';

/** What is looked for: a printed value, or the citation of a version. */
export interface Printed {
  /** As decimal text; null where it is no number. */
  readonly number: string | null;
  readonly text: string;
  /** Fifteen hexadecimal digits of the version's hash. */
  readonly rowHash: string | null;
}

/** Half-open, instants as text; null for any time. */
export interface Day {
  readonly from: string | null;
  readonly to: string | null;
}

interface Span {
  readonly measure: string;
  readonly value: string | null;
  readonly previous_value: string | null;
  readonly next_value: string | null;
  /** Null for what is no number. */
  readonly next_delta: string | null;
  readonly stamp: string;
  /** Null: it stands still. */
  readonly until: string | null;
  readonly next_run_id: string | null;
}

/** One version with a measure that stood at the value. */
export interface StandingVersion extends Span {
  readonly window_start: string;
  readonly window_end: string;
  readonly local_date: string | null;
  readonly key: Readonly<Record<string, string | null>>;
  readonly version: number;
  readonly kind: string;
  readonly causes: readonly string[];
  readonly reason: string | null;
  readonly actor: string | null;
  readonly run_id: string | null;
  readonly is_void: boolean;
  readonly next_version: number | null;
  readonly next_causes: readonly string[] | null;
  readonly next_reason: string | null;
  readonly next_actor: string | null;
  readonly next_is_void: boolean | null;
  /** The late events that it counts for the first time, at most eleven. */
  readonly events: readonly string[] | null;
  readonly next_events: readonly string[] | null;
  /** Null before a run has hashed it. */
  readonly citation: string | null;
}

/** A total of additive measures that stood at the value: of a period, of a key in it, or of a window over all keys. */
export interface StandingTotal extends Span {
  readonly period: string | null;
  readonly key: Readonly<Record<string, string | null>> | null;
  readonly window_start: string | null;
  readonly window_end: string | null;
  readonly local_date: string | null;
}

export interface Found {
  readonly rollup: string;
  readonly versions: readonly StandingVersion[];
  readonly totals: readonly StandingTotal[];
  /** More than the hundred of each that are shown. */
  readonly hasMore: boolean;
}

const atMost = 100;

/** `scale`: values are rounded to so many decimals first; null: exactly. */
export async function findStanding(
  transaction: ControlTransaction,
  rollup: Rollup,
  printed: Printed,
  day: Day,
  scale: number | null,
  timeZone: string,
): Promise<Found> {
  const bindings = bindingsOf(rollup);
  const { rows } = await execute<Omit<StandingVersion, 'citation'> & { row_hash: string | null }>(
    transaction,
    prepare('report/find/standing.sql', bindings),
    {
      number: printed.number,
      text: printed.text,
      scale,
      day_from: day.from,
      day_to: day.to,
      row_hash: printed.rowHash,
    },
  );
  const totals =
    printed.number !== null && printed.rowHash === null && rollup.settings.window.kind !== 'hopping'
      ? await execute<StandingTotal>(transaction, prepare('report/find/totals.sql', bindings), {
          number: printed.number,
          scale,
          day_from: day.from,
          day_to: day.to,
          time_zone: timeZone,
        })
      : { rows: [] };
  return {
    rollup: rollup.settings.name,
    versions: rows
      .slice(0, atMost)
      .map(({ row_hash: hash, ...row }) => ({ ...row, citation: hash === null ? null : citationOf(hash) })),
    totals: totals.rows.slice(0, atMost),
    hasMore: rows.length > atMost || totals.rows.length > atMost,
  };
}
