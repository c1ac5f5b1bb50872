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
 * A partition whose time is past, and whose counters, size and file did not move, is not read. Counters reach the
 * catalogue seconds after the commit, so whatever rows of now may land in is read every time; a past partition that was
 * skipped too early keeps its horizon, and the next run reads it.
 */

import { recordFirstIngestion } from '../catalog/complete-from.ts';
import { microseconds } from '../catalog/describe.ts';
import { listPartitions, type Partition } from '../catalog/partitions.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, query } from '../db/statement.ts';
import type { Reading, RunContext, ScanSummary } from './context.ts';

const neverRead = 2_147_483_647;

interface Known {
  readonly relation_id: string;
  readonly horizon_age: number | null;
  readonly seen: string;
  readonly bound: string | null;
  /** Rows that lay beyond the bound then lie within it now. */
  readonly is_due: boolean;
  readonly activity: string | null;
}

export interface Scan {
  readonly readings: readonly Reading[];
  readonly partitions: readonly Partition[];
  /** Names of ingestion partitions that were read once and are gone. */
  readonly gone: readonly string[];
  readonly examined: bigint;
  readonly quarantined: bigint;
}

export async function scan(run: RunContext, report: (relation: string) => void = () => {}): Promise<Scan> {
  const partitions = await listPartitions(run.transaction, run.rollup, run.frontier);
  const known = new Map((await knownPartitions(run)).map((row) => [row.relation_id, row]));
  const readings: Reading[] = [];
  for (const partition of partitions) {
    const before = known.get(partition.relation_id);
    await notePartition(run, partition, before);
    if (!run.readAll && run.rollup.hasRowAge && before && !mayHaveNews(partition, before)) continue;
    report(partition.relation);
    readings.push(await read(run, partition, before));
  }
  return {
    readings,
    partitions,
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

async function read(run: RunContext, partition: Partition, before: Known | undefined): Promise<Reading> {
  const { rollup, snapshot } = run;
  const { strategy, delay, idleAfter } = rollup.settings.watermark;
  const reading = {
    partition,
    horizonAge: rollup.hasRowAge ? (before?.horizon_age ?? neverRead) : neverRead,
    seen: before?.horizon_age === null ? '{}' : (before?.seen ?? '{}'),
    // Without xmin only the bound tells what is new: the weaker guarantee of views and foreign tables.
    boundBefore: before?.bound ?? (rollup.hasRowAge ? null : '-infinity'),
  };
  const { rows } = await execute<ScanSummary>(
    run.transaction,
    run.statements.withConstraint('scan', partition.constraint_text),
    {
      ...parametersOf(run, reading),
      frontier: run.frontier,
      delay: strategy === 'bounded' && delay ? microseconds(delay) : null,
      next_horizon_age: snapshot.horizon_age,
      idle_after: idleAfter ? microseconds(idleAfter) : null,
    },
  );
  return { ...reading, summary: rows[0] as ScanSummary };
}

/** The parameters that scan, classify and quarantine share. */
export function parametersOf(run: RunContext, reading: Omit<Reading, 'summary'>) {
  return {
    relation: run.rollup.hasRowAge ? reading.partition.relation_id : null,
    horizon_age: reading.horizonAge,
    seen: reading.seen,
    transaction: run.snapshot.transaction,
    bound_before: reading.boundBefore,
    bound: run.bound,
  };
}

/**
 * What is known of each partition. In another cluster, or one whose transactions count from the start again, the
 * horizon means nothing: then everything is read anew, which changes nothing (R16).
 */
async function knownPartitions(run: RunContext): Promise<Known[]> {
  return await query<Known>(
    run.transaction,
    `select
       p.relation_id::text as relation_id,
       case
         when $3::boolean and p.horizon::text::bigint <= $2::bigint
         then least($2::bigint - p.horizon::text::bigint, ${neverRead})::integer
       end as horizon_age,
       p.seen::text as seen, p.bound, coalesce(p.deferred_from <= $4::timestamptz, false) as is_due, p.activity
     from ${quoteName(run.rollup.schema)}.ingestion_partition as p
     where p.rollup_id = $1`,
    [run.rollup.id, run.snapshot.transaction, run.sameCluster, run.bound],
  );
}

/** Copies told apart across partitions need to know what was new in each (R5). */
async function notePartition(
  run: RunContext,
  partition: Partition,
  before: Known | undefined,
): Promise<void> {
  await query(
    run.transaction,
    `insert into pg_temp.errata_partition (relation_id, horizon_age, seen, bound_before)
     values ($1::oid, $2, $3::int8multirange, $4::timestamptz)`,
    [partition.relation_id, before?.horizon_age ?? neverRead, before?.seen ?? '{}', before?.bound ?? null],
  );
}

/** Marks partitions that left or came back. @returns the names of all that are gone. */
async function noteGone(run: RunContext, partitions: readonly Partition[]): Promise<string[]> {
  const table = `${quoteName(run.rollup.schema)}.ingestion_partition`;
  await query(
    run.transaction,
    `update ${table} as p
     set gone_at = case when p.gone_at is null then $3::timestamptz end
     where p.rollup_id = $1 and (p.gone_at is null) is distinct from (p.relation_id = any ($2::oid[]))`,
    [run.rollup.id, partitions.map((partition) => partition.relation_id), run.bound],
  );
  const gone = await query<{ relation: string }>(
    run.transaction,
    `select p.relation from ${table} as p where p.rollup_id = $1 and p.gone_at is not null order by p.relation`,
    [run.rollup.id],
  );
  return gone.map((row) => row.relation);
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

/** Remembers how far each partition was read; in the commit that publishes, so that a killed run has read nothing. */
export async function rememberReadings(run: RunContext, readings: readonly Reading[]): Promise<void> {
  for (const { partition, summary } of readings) {
    await query(
      run.transaction,
      `insert into ${quoteName(run.rollup.schema)}.ingestion_partition as p
         (rollup_id, relation_id, relation, bounds, horizon, seen, bound, deferred_from, activity, rows_examined,
          event_time_from, event_time_to, first_examined_at, last_examined_at)
       values ($1, $2::oid, $3, $4, $5::xid8, $6::int8multirange, $7::timestamptz, $8::timestamptz, $9, $10::bigint,
         $11::timestamptz, $12::timestamptz, $7::timestamptz, $7::timestamptz)
       on conflict (rollup_id, relation_id) do update set
         relation = excluded.relation,
         bounds = excluded.bounds,
         horizon = excluded.horizon,
         seen = (p.seen * int8multirange(int8range(excluded.horizon::text::bigint, null))) + excluded.seen,
         bound = greatest(p.bound, excluded.bound),
         deferred_from = excluded.deferred_from,
         activity = excluded.activity,
         rows_examined = p.rows_examined + excluded.rows_examined,
         event_time_from = least(p.event_time_from, excluded.event_time_from),
         event_time_to = greatest(p.event_time_to, excluded.event_time_to),
         last_examined_at = excluded.last_examined_at,
         gone_at = null`,
      [
        run.rollup.id,
        partition.relation_id,
        partition.relation,
        partition.bounds,
        run.snapshot.horizon,
        summary.seen,
        run.bound,
        summary.deferred_from,
        partition.is_being_written ? null : partition.activity,
        summary.examined,
        summary.event_time_from,
        summary.event_time_to,
      ],
    );
  }
}

function sum(numbers: readonly string[]): bigint {
  return numbers.reduce((total, number) => total + BigInt(number), 0n);
}
