/** Events that are kept by name: late ones, quarantined ones, conflicts. Instants and amounts are text. */
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RunVerb } from '../db/control.ts';
import type { Bindings } from '../db/sql.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { KeyedWindow } from './keyed-window.ts';

export type Landing = 'open' | 'late_firing' | 'side_output' | 'quarantined';

export interface NamedEvent {
  readonly event_id: string;
  readonly key: KeyedWindow['key'];
  /** Null in quarantine, which belongs to no window. */
  readonly window_start: string | null;
  readonly window_end: string | null;
  readonly local_date: string | null;
  readonly event_time: string | null;
  readonly ingested_at: string | null;
  readonly arrived_at: string | null;
  readonly lateness_seconds: string | null;
  readonly source_partition: string | null;
  /** In force when it arrived: what judged it. */
  readonly watermark: string | null;
  /** Null for a copy. */
  readonly landing: Landing | null;
  readonly state: 'pending' | 'included' | 'waived' | 'held' | null;
  readonly cause: string | null;
  /** The version that includes it. */
  readonly version: number | null;
  readonly released: boolean;
  /** It is in an open proposal, which awaits a person. */
  readonly is_proposed: boolean;
  readonly is_conflict: boolean;
  /** Row texts of the key and the measured columns. */
  readonly conflicts_with: {
    readonly this: string;
    /** Of a copy: the row that counts in its place. */
    readonly counted?: string;
    /** Of a late event: a row with its id in another window. */
    readonly elsewhere?: string;
    readonly event_time?: string;
  } | null;
  readonly quarantine_reason: string | null;
  /** Its own contribution to each additive measure. */
  readonly measures: Readonly<Record<string, string | null>>;
  readonly state_actor: string | null;
  readonly state_reason: string | null;
  readonly first_run_id: string;
  /** Stamp of the run that first examined it. */
  readonly examined_at: string | null;
  readonly state_run_id: string | null;
  readonly state_at: string | null;
  readonly state_verb: RunVerb | null;
}

export interface EventFilter {
  readonly only?: KeyedWindow | undefined;
  readonly landings?: readonly (Landing | 'conflict')[] | undefined;
  readonly atMost?: number | undefined;
}

/** In the order of arrival. `bindings`: of an earlier instant, those of `layOutThen`. */
export async function readNamedEvents(
  transaction: ControlTransaction,
  rollup: Rollup,
  filter: EventFilter = {},
  bindings: Bindings = bindingsOf(rollup),
): Promise<NamedEvent[]> {
  const { only, landings, atMost } = filter;
  const { rows } = await execute<NamedEvent>(transaction, prepare('report/named_events.sql', bindings), {
    window_start: only?.window_start ?? null,
    window_end: only?.window_end ?? null,
    key: only ? JSON.stringify(only.key) : null,
    landings: landings ?? null,
    at_most: atMost ?? null,
  });
  return rows;
}
