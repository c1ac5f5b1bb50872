/** The whole life of one number, as data: what shipped, every version and event, what awaits someone, and the sum check. */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import type { RunVerb } from '../../db/control.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { type Copy, readCopies } from '../copies.ts';
import type { KeyedWindow } from '../keyed-window.ts';
import type { KnownAt } from '../known-at.ts';
import { type NamedEvent, readNamedEvents } from '../named-events.ts';
import { recountWindow } from '../recount.ts';
import { type MeasureCheck, readSumCheck } from '../sum-check.ts';
import type { Then } from '../then.ts';

type Values = Readonly<Record<string, string | null>>;

interface Span {
  readonly window_start: string;
  readonly window_end: string;
}

export interface Version {
  readonly version: number;
  readonly measures: Readonly<Record<string, Readonly<Record<'old' | 'new' | 'delta', string | null>>>>;
  readonly event_count: string | null;
  readonly previous_event_count: string | null;
  readonly is_void: boolean;
  readonly kind: 'seal' | 'correction' | 'restatement' | 'adjustment';
  readonly causes: readonly string[];
  readonly reason: string | null;
  readonly actor: string | null;
  readonly db_role: string;
  readonly approver: string | null;
  /** Null: the stream inserted it. */
  readonly run_id: string | null;
  readonly verb: RunVerb | null;
  readonly stamp: string;
  readonly posting_period: string | null;
  /** The sessions whose rows it took over (R6s). */
  readonly replaces: readonly Span[] | null;
  /** Of a void session: the one that has its rows now. */
  readonly became: Span | null;
  readonly definition_fingerprint: string | null;
}

export interface Emission {
  readonly kind: 'late_seal' | 'later_emission';
  readonly received_at: string;
  readonly measures: Values;
  readonly run_id: string | null;
}

export interface Proposal {
  readonly proposal_id: string;
  readonly base_version: number;
  readonly measures: Values;
  readonly event_count: string;
  readonly causes: readonly string[];
  readonly why: string;
  readonly state: 'open' | 'approved' | 'rejected' | 'stale';
  readonly proposed_at: string;
  readonly decided_at: string | null;
  readonly decided_by: string | null;
  readonly decided_reason: string | null;
}

export interface QueueEntry {
  readonly cause: string;
  readonly since: string;
  readonly blocked_reason: string | null;
  /** What a measure of it fails with, and by how many runs in succession. */
  readonly error: string | null;
  readonly tries: number;
}

/** How far the rollup is. */
export interface Reach {
  readonly frontier: string | null;
  readonly sealed_until: string | null;
  readonly complete_from: string;
  /** The watermark that seals has not reached the window's end. */
  readonly is_open: boolean;
  /** The window starts before bronze is complete (R15). */
  readonly is_incomplete: boolean;
}

/** Of an earlier instant null, but that a window which is open now was open then. */
type ReachThen = { readonly [name in keyof Reach]: Reach[name] | null };

export interface Explanation extends KeyedWindow, ReachThen {
  readonly rollup: string;
  /** Null: as it is known now. Of an earlier instant `copies`, `queue` and `check` are empty: they have no past. */
  readonly known_at: KnownAt | null;
  readonly versions: readonly Version[];
  readonly events: readonly NamedEvent[];
  readonly copies: readonly Copy[];
  readonly emissions: readonly Emission[];
  readonly proposals: readonly Proposal[];
  readonly queue: readonly QueueEntry[];
  /** Of an open window: its value so far, straight from bronze; null where it has no rows. */
  readonly so_far: Values | null;
  readonly check: readonly MeasureCheck[];
  /** Why bronze could not be counted anew. */
  readonly bronze_error: string | null;
}

/** @param key of the key columns those that are known; where several keys are meant, the one that is least far counts */
export async function readReach(
  transaction: ControlTransaction,
  rollup: Rollup,
  window: Pick<KeyedWindow, 'window_start' | 'window_end'>,
  key: KeyedWindow['key'],
): Promise<Reach> {
  const bindings = bindingsOf(rollup);
  const { rows } = await execute<Reach>(transaction, prepare('report/reach.sql', bindings), {
    rollup_id: rollup.id,
    window_start: window.window_start,
    window_end: window.window_end,
  });
  const reach = rows[0] as Reach;
  if (!rollup.overrides?.isByKey) return reach;
  const { rows: own } = await execute<Pick<Reach, 'sealed_until' | 'is_open'>>(
    transaction,
    prepare('report/reach_of_key.sql', bindings),
    { rollup_id: rollup.id, window_end: window.window_end, key: JSON.stringify(key) },
  );
  return { ...reach, ...own[0] };
}

export async function explain(
  transaction: ControlTransaction,
  rollup: Rollup,
  only: KeyedWindow,
  reach: Reach,
  soFar: Values | null,
  then?: Then,
): Promise<Explanation> {
  const bindings = then?.bindings ?? bindingsOf(rollup);
  const knownAt = { known_at: then?.known.at ?? null };
  const window = { window_start: only.window_start, window_end: only.window_end };
  const key = JSON.stringify(only.key);
  const read = async <Row>(file: string, more: Record<string, string | number | null> = {}): Promise<Row[]> =>
    (await execute<Row>(transaction, prepare(`report/${file}.sql`, bindings), { ...window, key, ...more }))
      .rows;
  const told = {
    versions: await read<Version>('versions', knownAt),
    events: await readNamedEvents(transaction, rollup, { only }, bindings),
    emissions: await read<Emission>('emissions', knownAt),
    proposals: await read<Proposal>('proposals', {
      key: JSON.stringify(rollup.keys.map(({ name }) => only.key[name])),
      rollup_id: rollup.id,
    }),
  };
  const head = { rollup: rollup.settings.name, known_at: then?.known ?? null, ...only };
  if (then) return { ...head, ...reachThen(reach), ...told, ...withoutPast };
  const { recount, error } = await recountWindow(transaction, rollup, only, reach.frontier);
  return {
    ...head,
    ...reach,
    ...told,
    copies: await readCopies(transaction, rollup, { only }),
    queue: await read<QueueEntry>('queued'),
    so_far: soFar,
    check: reach.is_open ? [] : await readSumCheck(transaction, rollup, recount, only),
    bronze_error: error,
  };
}

const withoutPast = { copies: [], queue: [], so_far: null, check: [], bronze_error: null };

/** The watermark that seals never goes back; how far it stood is not kept. */
const reachThen = ({ is_open: isOpen }: Reach): ReachThen => ({
  frontier: null,
  sealed_until: null,
  complete_from: null,
  is_open: isOpen || null,
  is_incomplete: null,
});
