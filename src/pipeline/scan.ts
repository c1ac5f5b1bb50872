/**
 * Scan: which rows of bronze has no run examined yet (R16)?
 *
 *                      snapshot of the last reading                 snapshot of this run
 *     transactions ────────┬───────────────┬────────────────────────────┬──────────▶
 *                       horizon         its latest                   horizon
 *       rows were visible  │ visible or still running: `seen` tells      │ read again next time
 *
 * Each ingestion partition remembers the oldest transaction that was still running when it was last read (the
 * horizon), and which later ones had rows that were visible then (`seen`). A row is new when its xmin is at or behind
 * the horizon and not seen, or when its ingested_at lay beyond the bound then.
 *
 * What fails, each with the row it loses:
 * - the greatest id or ingested_at seen: a transaction that took a lower one commits later;
 * - now() less a margin: a transaction longer than the margin;
 * - the snapshot's list of running transactions: it holds no subtransactions, so a row of a savepoint counts as read.
 *
 * A partition whose time is still to come is left for the run that reaches it: a long history in steps reads each once.
 * A partition whose time is past, and whose counters, size and file did not move, is not read. Counters reach the
 * catalogue seconds after the commit, so whatever rows of now may land in is read every time; a past partition that was
 * skipped too early keeps its horizon, and the next run reads it. What is remembered is the activity from before the
 * snapshot: one taken after it may count a row that committed in between, which the snapshot does not show, and no later
 * run would look for it.
 */

import { recordFirstIngestion } from '../catalog/complete-from.ts';
import { microseconds } from '../catalog/describe.ts';
import { servingIndexes } from '../catalog/indexes.ts';
import { type Activity, listPartitions, type Partition } from '../catalog/partitions.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { execute, query } from '../db/statement.ts';
import type { IdSpan, Reading, RunContext, ScanSummary } from './context.ts';
import { hasSourcePartitions } from './watermark.ts';

/** No row is older: the statements then ask none for its age. */
const neverRead = 2_147_483_647;
/** Of rows without an age nothing is asked by it. */
const noAge = 0;

interface Known {
  readonly relation_id: string;
  readonly horizon_age: number | null;
  readonly seen: string;
  readonly bound: string | null;
  /** Rows that lay beyond the bound then lie within it now. */
  readonly is_due: boolean;
  readonly activity: string | null;
  readonly event_id_from: string | null;
  readonly event_id_to: string | null;
}

export interface Scan {
  readonly readings: readonly Reading[];
  readonly partitions: readonly Partition[];
  /** By the oid of the partition. Undefined: no index on the id answers. */
  readonly idSpans: ReadonlyMap<string, IdSpan> | undefined;
  /** Of those, what no run has remembered yet. */
  readonly newIdSpans: readonly string[];
  /** Names of ingestion partitions that were read once and are gone. */
  readonly gone: readonly string[];
  readonly examined: bigint;
  readonly quarantined: bigint;
}

export async function scan(run: RunContext, report: (relation: string) => void = () => {}): Promise<Scan> {
  const partitions = await listPartitions(run.transaction, run.rollup, run);
  const known = new Map((await knownPartitions(run)).map((row) => [row.relation_id, row]));
  await notePartitions(run, partitions, known);
  const readings: Reading[] = [];
  for (const partition of partitions) {
    const before = known.get(partition.relation_id);
    if (!run.readAll && run.rollup.hasRowAge && before && !mayHaveNews(partition, before)) continue;
    if (partition.is_beyond_bound || (partition.is_empty && before)) continue;
    report(partition.relation);
    readings.push(await read(run, partition, before));
  }
  await noteReturned(run, partitions, readings);
  return {
    readings,
    partitions,
    ...(await findIdSpans(run, partitions, known, readings)),
    gone: await noteGone(run, partitions),
    examined: sum(readings.map((reading) => reading.summary.examined)),
    quarantined: sum(readings.map((reading) => reading.summary.quarantined)),
  };
}

function mayHaveNews(partition: Partition, before: Known): boolean {
  if (!partition.is_past || before.horizon_age === null || before.activity !== partition.activity)
    return true;
  return before.is_due;
}

/**
 * Between which ids those of each partition lie: what was there when it was last read, or is there now. A partition that cannot
 * be told by what it is divided by has none.
 */
async function findIdSpans(
  run: RunContext,
  partitions: readonly Partition[],
  known: ReadonlyMap<string, Known>,
  readings: readonly Reading[],
): Promise<Pick<Scan, 'idSpans' | 'newIdSpans'>> {
  const idSpans = new Map<string, IdSpan>();
  const newIdSpans: string[] = [];
  const { leadWithId } = await servingIndexes(run.transaction, run.rollup);
  if (!leadWithId || !run.rollup.hasRowAge) return { idSpans: undefined, newIdSpans };
  const isRead = new Set(readings.map(({ partition }) => partition.relation_id));
  for (const partition of partitions) {
    const { relation_id: id } = partition;
    if (!partition.is_told || partition.is_empty || partition.is_beyond_bound) continue;
    const before = known.get(id);
    if (before && !isRead.has(id) && before.event_id_from !== null && before.event_id_to !== null) {
      idSpans.set(id, { event_id_from: before.event_id_from, event_id_to: before.event_id_to });
      continue;
    }
    const statement = run.statements.withConstraint('event_ids', partition.constraint_text);
    const [span] = (await execute<{ [end in keyof IdSpan]: string | null }>(run.transaction, statement)).rows;
    if (!span || span.event_id_from === null || span.event_id_to === null) continue;
    idSpans.set(id, { event_id_from: span.event_id_from, event_id_to: span.event_id_to });
    newIdSpans.push(id);
  }
  return { idSpans, newIdSpans };
}

async function read(run: RunContext, partition: Partition, before: Known | undefined): Promise<Reading> {
  const { rollup } = run;
  const reading = {
    partition,
    horizonAge: rollup.hasRowAge ? (before?.horizon_age ?? neverRead) : noAge,
    seen: before?.horizon_age === null ? '{}' : (before?.seen ?? '{}'),
    // Without xmin only the bound tells what is new: the weaker guarantee of views and foreign tables.
    boundBefore: before?.bound ?? (rollup.hasRowAge ? null : '-infinity'),
  };
  return { ...reading, summary: partition.is_empty ? nothingNew : await summarise(run, reading) };
}

const nothingNew: ScanSummary = {
  examined: '0',
  quarantined: '0',
  deferred_from: null,
  oldest_ingested_at: null,
  first_moving: null,
  event_time_from: null,
  event_time_to: null,
  seen: '{}',
};

async function summarise(run: RunContext, reading: Omit<Reading, 'summary'>): Promise<ScanSummary> {
  const { snapshot, frontier, rollup, statements } = run;
  const { strategy, delay, idleAfter } = rollup.settings.watermark;
  const constraint = reading.partition.constraint_text;
  const values = {
    ...parametersOf(run, reading),
    frontier,
    // null: no row is visible from the horizon on, and none is asked for its age
    next_horizon_age: snapshot.has_ended_later ? snapshot.horizon_age : null,
  };
  const { rows } = movesWatermark(rollup)
    ? await execute<ScanSummary>(run.transaction, statements.withConstraint('scan_by_instant', constraint), {
        ...values,
        delay: strategy === 'bounded' && delay ? microseconds(delay) : null,
        idle_after: idleAfter ? microseconds(idleAfter) : null,
        tells_activity: hasSourcePartitions(rollup),
      })
    : await execute<ScanSummary>(run.transaction, statements.withConstraint('scan', constraint), {
        ...values,
        bound: reading.partition.is_within_bound ? null : run.bound,
        tells_first: hasSourcePartitions(rollup),
      });
  return rows[0] as ScanSummary;
}

/** Whether rows of bronze do, or the delay by which they are judged. */
function movesWatermark({ settings: { watermark } }: Rollup): boolean {
  return watermark.strategy === 'bounded' || watermark.delayColumn !== undefined;
}

/** The parameters that scan, classify and quarantine share. */
export function parametersOf(run: RunContext, reading: Omit<Reading, 'summary'>) {
  return {
    relation: run.rollup.hasRowAge && !reading.partition.is_told ? reading.partition.relation_id : null,
    horizon_age: reading.horizonAge,
    seen: reading.seen,
    transaction: run.snapshot.transaction,
    bound_before: reading.boundBefore,
    bound: run.bound,
  };
}

async function knownPartitions(run: RunContext): Promise<Known[]> {
  const { rows } = await execute<Known>(run.transaction, run.statements.pipeline.known_partitions, {
    rollup_id: run.rollup.id,
    transaction: run.snapshot.transaction,
    same_cluster: run.sameCluster,
    bound: run.bound,
  });
  return rows;
}

/** Copies told apart across partitions need to know what was new in each (R5). */
async function notePartitions(
  run: RunContext,
  partitions: readonly Partition[],
  known: ReadonlyMap<string, Known>,
): Promise<void> {
  const before = partitions.map((partition) => known.get(partition.relation_id));
  await query(
    run.transaction,
    `insert into pg_temp.errata_partition (relation_id, horizon_age, seen, bound_before)
     select p.relation_id::oid, p.horizon_age::integer, p.seen::int8multirange, nullif(p.bound, '')::timestamptz
     from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as p (relation_id, horizon_age, seen, bound)`,
    [
      partitions.map((partition) => partition.relation_id),
      before.map((row) => String(row?.horizon_age ?? neverRead)),
      before.map((row) => row?.seen ?? '{}'),
      before.map((row) => row?.bound ?? ''),
    ],
  );
}

/** Forgets the partitions whose place another relation has taken. */
async function noteReturned(
  run: RunContext,
  partitions: readonly Partition[],
  readings: readonly Reading[],
): Promise<void> {
  if (readings.length === 0) return;
  const instants = (of: 'event_time_from' | 'event_time_to', otherwise: string) =>
    readings.map(({ summary }) => summary[of] ?? otherwise);
  await execute(run.transaction, run.statements.pipeline.returned, {
    rollup_id: run.rollup.id,
    present: partitions.map((partition) => partition.relation_id),
    is_restored: !run.sameCluster || !run.sameDatabase,
    relation_ids: readings.map(({ partition }) => partition.relation_id),
    relations: readings.map(({ partition }) => partition.relation),
    bounds: readings.map(({ partition }) => partition.bounds ?? ''),
    examined: readings.map(({ summary }) => summary.examined),
    // nothing of a partition without rows covers anything
    event_time_from: instants('event_time_from', 'infinity'),
    event_time_to: instants('event_time_to', '-infinity'),
  });
}

/** Marks partitions that left or came back. @returns the names of all that are gone. */
async function noteGone(run: RunContext, partitions: readonly Partition[]): Promise<string[]> {
  const { rows } = await execute<{ relation: string }>(run.transaction, run.statements.pipeline.gone, {
    rollup_id: run.rollup.id,
    present: partitions.map((partition) => partition.relation_id),
    bound: run.bound,
  });
  return rows.map((row) => row.relation);
}

/** The earliest ingestion among the rows that are new; null where none has a readable one. */
async function earliestIngestion(run: RunContext, readings: readonly Reading[]): Promise<string | null> {
  const [row] = await query<{ earliest: string | null }>(
    run.transaction,
    'select min(i.at)::text as earliest from unnest($1::timestamptz[]) as i (at) where isfinite(i.at)',
    [readings.flatMap((reading) => reading.summary.oldest_ingested_at ?? [])],
  );
  return row?.earliest ?? null;
}

/** A bronze that was empty so far is complete from its first ingestion on (R15). @returns the run, told so. */
export async function findBeginning(run: RunContext, { readings }: Scan): Promise<RunContext> {
  if (run.isCompleteFromKnown) return run;
  const earliest = await earliestIngestion(run, readings);
  if (earliest === null) return run;
  return {
    ...run,
    completeFrom: await recordFirstIngestion(run.transaction, run.rollup, earliest),
    isCompleteFromKnown: true,
  };
}

/**
 * Remembers how far each partition was read; in the commit that publishes, so that a killed run has read nothing.
 * @param activities as they were before the run's snapshot
 */
export async function rememberReadings(
  run: RunContext,
  { readings, idSpans, newIdSpans }: Scan,
  activities: ReadonlyMap<string, Activity>,
): Promise<void> {
  for (const { partition, summary } of readings) {
    await execute(run.transaction, run.statements.pipeline.remember, {
      rollup_id: run.rollup.id,
      relation_id: partition.relation_id,
      relation: partition.relation,
      bounds: partition.bounds,
      horizon: run.snapshot.horizon,
      seen: summary.seen,
      bound: run.bound,
      deferred_from: summary.deferred_from,
      activity: partition.is_being_written ? null : (activities.get(partition.relation_id)?.activity ?? null),
      examined: summary.examined,
      event_time_from: summary.event_time_from,
      event_time_to: summary.event_time_to,
    });
  }
  if (newIdSpans.length === 0) return;
  const spans = newIdSpans.map((id) => idSpans?.get(id) as IdSpan);
  await execute(run.transaction, run.statements.pipeline.remember_ids, {
    rollup_id: run.rollup.id,
    relation_ids: newIdSpans,
    event_ids_from: spans.map((span) => span.event_id_from),
    event_ids_to: spans.map((span) => span.event_id_to),
  });
}

function sum(numbers: readonly string[]): bigint {
  return numbers.reduce((total, number) => total + BigInt(number), 0n);
}
