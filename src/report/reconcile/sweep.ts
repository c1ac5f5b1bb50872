/**
 * One pass over the sealed keyed windows of a span: what bronze gives beside what the stored states say (R14). SQL works on
 * batches of windows in the server's work tables; of bronze nothing travels through Node.
 */
import { bindingsOf } from '../../catalog/bindings.ts';
import { microseconds } from '../../catalog/describe.ts';
import { servingIndexes } from '../../catalog/indexes.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { isFaultOfRow } from '../../db/row-fault.ts';
import { execute, prepare, query, type Value } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import { overlapOf, skewOf } from '../../pipeline/watermark.ts';
import type { KeyedWindow } from '../keyed-window.ts';
import { comparePartials } from './partials.ts';

/** What the sweep sees, all of one snapshot. Instants are text. */
export interface Reach {
  readonly range_from: string | null;
  readonly range_to: string | null;
  /** Of sealed windows; null: nothing is sealed. */
  readonly swept_from: string | null;
  readonly swept_to: string | null;
  readonly known_from: string | null;
  readonly known_to: string | null;
  readonly bound: string | null;
  readonly sealed_until: string | null;
  readonly complete_from: string;
  readonly stamp: string;
  readonly run_id: string | null;
  readonly snapshot: string;
  readonly swept_at: string;
  readonly knows_ages: boolean;
}

export interface Span {
  readonly from: string | null;
  readonly to: string | null;
}

export interface SweepOptions {
  /** Undefined: every key. */
  readonly key?: KeyedWindow['key'] | undefined;
  /** Look for the same ids in all of bronze, not only in the windows of the sweep. */
  readonly everywhere?: boolean | undefined;
  readonly onStep?: ((step: string, percent: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A batch of windows, where an index on the event time finds their rows. */
const step = '1 day';
/** Windows that cannot be counted, beyond which it is the measure that is wrong. */
const uncountedMost = 1000;

export async function sweep(
  transaction: ControlTransaction,
  rollup: Rollup,
  span: Span,
  options: SweepOptions = {},
): Promise<Reach> {
  const { onStep = () => {}, signal } = options;
  const { read, ages } = await begin(transaction, rollup);
  const [reach] = await read<Reach>('reach', {
    rollup_id: rollup.id,
    asked_from: span.from,
    asked_to: span.to,
  });
  const seen = reach as Reach;
  const isSession = rollup.settings.window.kind === 'session';
  const rows = { bound: seen.bound ?? '-infinity', knows_ages: seen.knows_ages, transaction: ages };
  const batchStep = (await servingIndexes(transaction, rollup)).leadWithTime ? step : null;
  const { swept_from: from, swept_to: to } = seen;
  const isEmpty = from === null || to === null || !(await isBefore(transaction, from, to));
  let batch = from;
  while (!isEmpty && batch !== null && batch !== to) {
    signal?.throwIfAborted();
    const [next] = await read<{ cut: string; percent: number }>('cut', {
      batch_from: batch,
      step: batchStep,
      known_from: seen.known_from,
      known_to: seen.known_to,
      swept_from: from,
      swept_to: to,
      overlap: overlapOf(rollup),
    });
    const { cut, percent } = next as { cut: string; percent: number };
    const counter = new Counter(transaction, rollup, rows);
    await counter.count(batch, cut);
    await query(transaction, 'analyze pg_temp.errata_recounted');
    await read('compare', {
      window_from: batch,
      window_to: cut,
      rollup_id: rollup.id,
      sealed_until: seen.sealed_until,
      complete_from: seen.complete_from,
      key: options.key ? JSON.stringify(options.key) : null,
    });
    await query(transaction, 'truncate pg_temp.errata_recounted');
    onStep('windows', percent);
    batch = cut;
  }
  await query(transaction, 'analyze pg_temp.errata_compared');
  if (isEmpty) return seen;
  onStep('names', 0);
  await nameMissing(transaction, read, rollup, rows);
  if (rollup.settings.bronze.identity !== 'unique_rows') {
    onStep('event ids', 0);
    await nameElsewhere(transaction, read, isSession, rows, seen, options.everywhere ?? false);
  }
  if (rollup.settings.partials) {
    onStep('partials', 0);
    await comparePartials(transaction, rollup, from, to);
  }
  await query(transaction, 'analyze pg_temp.errata_finding');
  await read('settle');
  return seen;
}

type Read = <Row>(file: string, values?: Readonly<Record<string, Value>>) => Promise<Row[]>;
type Rows = { readonly bound: string; readonly knows_ages: boolean; readonly transaction: string };

export function reading(transaction: ControlTransaction, rollup: Rollup): Read {
  const bindings = bindingsOf(rollup);
  return async <Row>(file: string, values: Readonly<Record<string, Value>> = {}) =>
    (await execute<Row>(transaction, prepare(`report/reconcile/${file}.sql`, bindings), values)).rows;
}

async function begin(
  transaction: ControlTransaction,
  rollup: Rollup,
): Promise<{ readonly read: Read; readonly ages: string }> {
  // The number to which age() counts back stays the same from here on.
  const [row] = await query<{ ages: string }>(transaction, 'select pg_current_xact_id()::text as ages');
  await execute(transaction, prepare('pipeline/begin/released.sql', bindingsOf(rollup)));
  const read = reading(transaction, rollup);
  await read('work');
  // Keyed windows are joined with each other, all of them: by hash, each is looked up once. The planner would rather merge by
  // the window alone, or look up by it, and compare all keys of a window with each other.
  await query(transaction, 'set local enable_mergejoin = off');
  await query(transaction, 'set local enable_nestloop = off');
  await read('read', { rollup_id: rollup.id });
  return { read, ages: row?.ages as string };
}

async function isBefore(transaction: ControlTransaction, from: string, to: string): Promise<boolean> {
  const [row] = await query<{ is_before: boolean }>(
    transaction,
    'select $1::timestamptz < $2::timestamptz as is_before',
    [from, to],
  );
  return row?.is_before === true;
}

/** Counts a batch; where a measure cannot be computed, it halves the batch until the windows at fault are left (R19). */
class Counter {
  readonly #transaction: ControlTransaction;
  readonly #rollup: Rollup;
  readonly #read: Read;
  readonly #rows: Rows;
  #uncounted = 0;

  constructor(transaction: ControlTransaction, rollup: Rollup, rows: Rows) {
    this.#transaction = transaction;
    this.#rollup = rollup;
    this.#read = reading(transaction, rollup);
    this.#rows = rows;
  }

  async count(from: string, to: string): Promise<void> {
    await query(this.#transaction, 'savepoint errata_count');
    try {
      await this.#recount(from, to);
      await query(this.#transaction, 'release savepoint errata_count');
    } catch (error) {
      if (!isFaultOfRow(error)) throw error;
      await query(this.#transaction, 'rollback to savepoint errata_count');
      const middle = await this.#middle(from, to);
      if (middle !== undefined) {
        await this.count(from, middle);
        await this.count(middle, to);
        return;
      }
      this.#uncounted += 1;
      if (this.#uncounted > uncountedMost)
        throw new Failure(`a measure cannot be computed for more than ${uncountedMost} windows`, {
          detail: (error as Error).message,
          hint: 'mend the rows, or the measure',
        });
      await query(this.#transaction, 'insert into pg_temp.errata_uncounted values ($1, $2, $3)', [
        from,
        to,
        (error as Error).message,
      ]);
    }
  }

  async #recount(from: string, to: string): Promise<void> {
    const isSession = this.#rollup.settings.window.kind === 'session';
    const [span] = await query<{ events_to: string }>(
      this.#transaction,
      'select ($1::timestamptz + $2::interval)::text as events_to',
      [to, overlapOf(this.#rollup)],
    );
    const eventsTo = span?.events_to as string;
    const [ingested] = (
      await execute<{ ingested_from: string | null }>(
        this.#transaction,
        prepare('pipeline/recompute/ingested_from.sql', bindingsOf(this.#rollup)),
        { events_from: from, events_to: eventsTo, skew: skewOf(this.#rollup) },
      )
    ).rows;
    const batch = {
      window_from: from,
      window_to: to,
      ingested_from: ingested?.ingested_from ?? null,
      ...this.#rows,
    };
    if (isSession) {
      const isEveryRow = this.#rollup.settings.bronze.identity === 'unique_rows';
      await this.#read('recount_sessions', { ...batch, is_every_row: isEveryRow });
    } else await this.#read('recount', { ...batch, events_to: eventsTo });
  }

  /** Where a span of several windows is cut in two; undefined: it is one window. */
  async #middle(from: string, to: string): Promise<string | undefined> {
    const [row] = await this.#read<{ middle: string; is_within: boolean }>('middle', {
      window_from: from,
      window_to: to,
    });
    return row?.is_within ? row.middle : undefined;
  }
}

async function nameMissing(
  transaction: ControlTransaction,
  read: Read,
  rollup: Rollup,
  rows: Rows,
): Promise<void> {
  const [span] = await query<{ from: string | null; to: string | null }>(
    transaction,
    `select min(c.window_start)::text as "from", max(c.window_end)::text as "to"
     from pg_temp.errata_compared as c
     where c.errata_why is null and (not c.errata_adds_up or c.errata_missing > 0)`,
  );
  if (!span?.from) return;
  const events = { events_from: span.from, events_to: span.to };
  await read('missing', events);
  if (rollup.settings.window.kind === 'session') await read('find_sessions', { ...events, ...rows });
  else await read('neither', { ...events, ...rows, ...judgedBy(rollup) });
}

/** What says of every row of the rollup by which watermark it was judged; nothing where delays differ. */
function judgedBy({ settings: { watermark }, overrides, id }: Rollup): {
  rollup_id: number | null;
  fixed_delay: string | null;
} {
  const { strategy, delay, delayColumn } = watermark;
  const isAlike = delayColumn === undefined && !overrides?.hasDelay;
  const isFixed = isAlike && strategy === 'fixed_delay' && delay !== undefined;
  return {
    rollup_id: isAlike && (strategy === 'bounded' || strategy === 'recorded') ? id : null,
    fixed_delay: isFixed ? microseconds(delay) : null,
  };
}

async function nameElsewhere(
  transaction: ControlTransaction,
  read: Read,
  isSession: boolean,
  rows: Rows,
  reach: Reach,
  everywhere: boolean,
): Promise<void> {
  const { swept_from: from, swept_to: to, sealed_until: sealedUntil } = reach;
  if (isSession) {
    await read('elsewhere_sessions', {
      sealed_until: sealedUntil,
      session_from: everywhere ? null : from,
      session_to: everywhere ? null : to,
    });
    return;
  }
  const events = { events_from: everywhere ? null : from, events_to: everywhere ? null : to };
  await read('shared_ids', events);
  await query(transaction, 'analyze pg_temp.errata_shared_id');
  await read('elsewhere', {
    ...events,
    ...rows,
    window_from: from,
    window_to: to,
    sealed_until: sealedUntil,
  });
}
