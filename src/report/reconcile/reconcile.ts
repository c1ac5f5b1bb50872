/** A period swept, judged, and kept append-only: what shipped, what is known now, and what bronze says (R14). */
import type { Rollup } from '../../catalog/rollup.ts';
import { formatTableName } from '../../config/name.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import type { KeyedWindow } from '../keyed-window.ts';
import type { KnownAt } from '../known-at.ts';
import { compareOutside, type Outside, type OutsideCounts, type OutsideFigures } from './against.ts';
import { compareKnown, type Known } from './known.ts';
import { reading, type Span, type SweepOptions, sweep } from './sweep.ts';

type Decimal = string;

/** Of one additive measure, over all keyed windows of the sweep: restated + unexplained + blocked = bronze. */
export interface Total {
  readonly measure: string;
  readonly sealed: Decimal;
  readonly late_firing: Decimal;
  readonly straggler: Decimal;
  readonly refused: Decimal;
  readonly quarantine_release: Decimal;
  readonly seal_mismatch: Decimal;
  readonly stream_emission: Decimal;
  readonly source_change: Decimal;
  readonly other: Decimal;
  readonly latest: Decimal;
  readonly pending: Decimal;
  readonly held: Decimal;
  readonly waived: Decimal;
  readonly restated: Decimal;
  readonly unexplained: Decimal;
  /** Of windows whose rows are not all in bronze (R15): what it holds less what is accounted for. */
  readonly blocked: Decimal;
  readonly bronze: Decimal;
  /** Rows that no run has examined yet; not in `bronze`. */
  readonly not_examined: Decimal;
}

export interface Counts {
  readonly keyed_windows: string;
  readonly identical: string;
  readonly explained: string;
  readonly unexplained: string;
  readonly bronze_events: string;
  readonly not_examined_events: string;
  readonly pending_events: string;
  readonly held_events: string;
  readonly waived_events: string;
  /** Keyed windows a reason. */
  readonly explained_by: Readonly<Record<string, string>>;
  readonly unexplained_by: Readonly<
    Record<string, { readonly keyed_windows: string; readonly events: string }>
  >;
}

export interface ReconciledWindow extends KeyedWindow {
  readonly version: number;
  /** `outside`: only a table kept elsewhere has it. */
  readonly status: 'identical' | 'explained' | 'unexplained' | 'outside';
  readonly explained_by: readonly string[];
  readonly unexplained: readonly string[];
  /** Why it is blocked. */
  readonly why: string | null;
  readonly unexplained_events: string | null;
  readonly not_examined_events: string;
  /** Measure to its figures. */
  readonly measures: Readonly<Record<string, Readonly<Record<string, string | null>>>> | null;
  /** What a table kept elsewhere has, where it is not the latest version. */
  readonly outside: OutsideFigures | null;
}

export interface ReconciledEvent extends KeyedWindow {
  readonly kind: string;
  readonly event_id: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface Reconciliation {
  readonly rollup: string;
  readonly reconciliation_id: string;
  readonly period: string | null;
  readonly range_from: string | null;
  readonly range_to: string | null;
  readonly key: KeyedWindow['key'] | null;
  readonly bound: string | null;
  readonly sealed_until: string | null;
  readonly swept_at: string;
  readonly snapshot: string;
  readonly run_id: string | null;
  readonly counts: Counts;
  /** Null: windows overlap, so that their sums are no totals of events. */
  readonly totals: readonly Total[] | null;
  readonly windows: readonly ReconciledWindow[];
  readonly events: readonly ReconciledEvent[];
  readonly result_hash: string;
  readonly against: { readonly table: string; readonly counts: OutsideCounts } | null;
  /** What was known at a mark or an instant; null where none was named. */
  readonly known: Known | null;
}

export interface ReconcileOptions extends SweepOptions {
  readonly period?: string | undefined;
  readonly actor?: string | undefined;
  readonly against?: Outside | undefined;
  readonly known?: KnownAt | undefined;
  readonly windowsAtMost?: number | undefined;
  readonly eventsAtMost?: number | undefined;
}

/** So many of each are read back; the tables hold all. */
export const namedAtMost = 1000;

/** @param transaction `repeatable read`, without a statement before it but locks: all of it is one snapshot. */
export async function reconcile(
  transaction: ControlTransaction,
  rollup: Rollup,
  span: Span,
  options: ReconcileOptions = {},
): Promise<Reconciliation> {
  const { period = null, actor = null, key } = options;
  const { windowsAtMost = namedAtMost, eventsAtMost = namedAtMost } = options;
  const seen = await sweep(transaction, rollup, span, options);
  const read = reading(transaction, rollup);
  const [counts] = await read<Counts>('counts');
  const totals = overlaps(rollup)
    ? null
    : (await read<{ figures: Total }>('totals')).map(({ figures }) => figures);
  const sweptAt = seen.swept_at;
  const keyText = key ? JSON.stringify(key) : null;
  const against = options.against && {
    table: formatTableName(options.against.table),
    counts: await compareOutside(transaction, rollup, options.against, seen, keyText),
  };
  const known = options.known
    ? await compareKnown(transaction, rollup, options.known, seen, totals !== null, windowsAtMost)
    : null;
  const keptCounts = {
    ...counts,
    ...(against && { against: against.counts }),
    ...(known && {
      known: {
        mark: known.mark,
        at: known.at,
        totals: known.totals,
        moved_windows: known.moved_windows,
      },
    }),
  };
  const [kept] = await read<{ reconciliation_id: string; result_hash: string }>('store', {
    rollup_id: rollup.id,
    period,
    range_from: seen.range_from ?? '-infinity',
    range_to: seen.range_to ?? 'infinity',
    key: keyText,
    snapshot: seen.snapshot,
    run_id: seen.run_id,
    stamp: seen.stamp,
    bound: seen.bound,
    sealed_until: seen.sealed_until,
    swept_at: sweptAt,
    against: against?.table ?? null,
    counts: JSON.stringify(keptCounts),
    totals: totals ? JSON.stringify(totals) : null,
    actor,
  });
  return {
    rollup: rollup.settings.name,
    reconciliation_id: kept?.reconciliation_id as string,
    period,
    range_from: seen.range_from,
    range_to: seen.range_to,
    key: key ?? null,
    bound: seen.bound,
    sealed_until: seen.sealed_until,
    swept_at: sweptAt,
    snapshot: seen.snapshot,
    run_id: seen.run_id,
    counts: counts as Counts,
    totals,
    windows: await read<ReconciledWindow>('windows', { at_most: windowsAtMost }),
    events: await read<ReconciledEvent>('events', { at_most: eventsAtMost }),
    result_hash: kept?.result_hash as string,
    against: against ?? null,
    known,
  };
}

/** Whether somebody has to look: something is unexplained, or a table kept elsewhere has what we never published, or lacks it. */
export function needsAttention({ counts, against }: Reconciliation): boolean {
  const { nothing_of_ours: none, missing_outside: missing, only_outside: only } = against?.counts ?? {};
  return [counts.unexplained, none, missing, only].some((count) => count !== undefined && count !== '0');
}

/** An event in several windows is in several sums. */
function overlaps({ settings: { window } }: Rollup): boolean {
  return window.kind === 'hopping' && window.size.microseconds > window.every.microseconds;
}
