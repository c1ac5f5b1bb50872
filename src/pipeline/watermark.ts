/** Watermark: its history grows by what the new rows, or the stream's log, say; then: which windows does it seal? (R2, R8) */
import { microseconds } from '../catalog/describe.ts';
import { relationsOf } from '../catalog/relations.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, query } from '../db/statement.ts';
import type { Reading, RunContext, Sealing } from './context.ts';

/** @returns how many entries of the stream's log went back; they moved nothing. */
export async function advanceWatermark(run: RunContext, readings: readonly Reading[]): Promise<number> {
  const { strategy } = run.rollup.settings.watermark;
  if (strategy === 'fixed_delay') return 0;
  if (strategy === 'recorded') {
    await execute(run.transaction, run.statements.pipeline.watermark_recorded, {
      frontier: run.frontier,
      bound: run.bound,
    });
  }
  if (hasSourcePartitions(run.rollup)) return await combineWatermarks(run, readings);
  await execute(run.transaction, run.statements.pipeline.watermark, { rollup_id: run.rollup.id });
  return 0;
}

/** A log may tell of any number of source partitions, and marks them idle: it is always folded. */
export function hasSourcePartitions({ settings: { bronze, watermark } }: Rollup): boolean {
  if (watermark.strategy === 'bounded') return bronze.sourcePartition !== undefined;
  return watermark.strategy === 'recorded';
}

async function combineWatermarks(run: RunContext, readings: readonly Reading[]): Promise<number> {
  const { strategy, combine, idleAfter, sourcePartitions = [] } = run.rollup.settings.watermark;
  const firsts = readings.flatMap(({ summary }) => summary.first_moving ?? []);
  await query(run.transaction, 'analyze pg_temp.errata_record');
  await execute(run.transaction, run.statements.pipeline.source_partitions, {
    rollup_id: run.rollup.id,
    first_row: await earliest(run, firsts),
    declared: sourcePartitions.map(({ name }) => name),
    since: sourcePartitions.map(({ since }) => since ?? ''),
  });
  const wentBackBefore = await countWentBack(run);
  await execute(run.transaction, run.statements.pipeline.watermark_combined, {
    rollup_id: run.rollup.id,
    combine,
    idle_after: idleAfter ? microseconds(idleAfter) : null,
    frontier: run.frontier,
    bound: run.bound,
    is_log: strategy === 'recorded',
  });
  return (await countWentBack(run)) - wentBackBefore;
}

async function countWentBack(run: RunContext): Promise<number> {
  const [row] = await query<{ entries: string }>(
    run.transaction,
    `select coalesce(sum(p.went_back), 0)::text as entries from ${quoteName(run.rollup.schema)}.source_partition as p where p.rollup_id = $1`,
    [run.rollup.id],
  );
  return Number(row?.entries ?? 0);
}

/** The database compares: an instant is text here (R13). */
async function earliest(run: RunContext, instants: readonly string[]): Promise<string | null> {
  if (instants.length < 2) return instants[0] ?? null;
  const [row] = await query<{ first: string }>(
    run.transaction,
    'select min(i.instant)::text as first from unnest($1::timestamptz[]) as i (instant)',
    [instants],
  );
  return row?.first ?? null;
}

/**
 * The windows between what earlier runs sealed and what the watermark before the bound seals: all those that end at or
 * before it, and start where bronze is complete (R15).
 */
export async function findSealing(run: RunContext): Promise<Sealing> {
  const { rollup, bound } = run;
  const { settings } = rollup;
  const after = `interval '${microseconds(settings.seal.after)}'`;
  const watermark =
    settings.watermark.strategy === 'fixed_delay' && settings.watermark.delay
      ? `$2::timestamptz - ${after} - interval '${microseconds(settings.watermark.delay)}'`
      : `(select s.watermark from ${quoteName(rollup.schema)}.watermark_step as s where s.rollup_id = $1 and s.at < $2::timestamptz - ${after} order by s.at desc limit 1)`;
  const { unsealed_from: unsealedFrom, starting_from: startingFrom } = relationsOf(rollup);
  const [row] = await query<SpanRow>(
    run.transaction,
    `with reached as (
       select greatest(${watermark}, $3::timestamptz) as until, $1::integer as rollup_id
     ),
     span as (
       select
         r.until,
         greatest(coalesce(${unsealedFrom}($3::timestamptz), '-infinity'), case when isfinite($4::timestamptz) then ${startingFrom}($4::timestamptz) else $4::timestamptz end) as start,
         ${unsealedFrom}(r.until) as stop
       from reached as r
     )
     select
       s.until,
       s.start as "from",
       greatest(s.stop, s.start) as "to",
       greatest(s.stop, s.start) + ${overlapOf(rollup)} as events_to,
       ${ingestedFrom(run, 's.start')} as ingested_from,
       (
         select string_agg(p.relation, ', ' order by p.relation)
         from ${quoteName(rollup.schema)}.ingestion_partition as p
         where p.rollup_id = $1
           and p.gone_at is not null
           and p.event_time_to >= s.start
           and p.event_time_from < s.stop + ${overlapOf(rollup)}
       ) as gone
     from span as s`,
    [rollup.id, bound, run.sealedBefore, run.completeFrom],
  );
  const from = row?.from ?? '-infinity';
  if (row?.gone) {
    // A version 1 over what is left of a window would be wrong for ever: nothing is sealed until its rows are back (R15).
    return {
      from,
      to: from,
      eventsTo: from,
      until: run.sealedBefore,
      ingestedFrom: row.ingested_from,
      blockedBy: row.gone,
    };
  }
  return {
    from,
    to: row?.to ?? from,
    eventsTo: row?.events_to ?? from,
    until: row?.until ?? null,
    ingestedFrom: row?.ingested_from ?? null,
    blockedBy: null,
  };
}

interface SpanRow {
  readonly until: string | null;
  readonly from: string;
  readonly to: string;
  readonly events_to: string;
  readonly ingested_from: string | null;
  readonly gone: string | null;
}

/** How far the windows that start before an instant reach beyond it. */
function overlapOf({ settings: { window } }: Rollup): string {
  if (window.kind !== 'hopping' || window.size.microseconds <= window.every.microseconds)
    return "interval '0'";
  return `interval '${window.size.microseconds - window.every.microseconds} microseconds'`;
}

/**
 * SQL for an instant before which no row of windows starting at `start` was ingested: a valid row is at most
 * `max_future_skew` ahead of its arrival (R4). NULL where arrival is a column of its own, or nothing limits the skew.
 */
export function ingestedFrom({ rollup }: RunContext, start: string): string {
  const { watermark, bronze } = rollup.settings;
  if (watermark.maxFutureSkew === undefined || bronze.arrivedAt !== undefined) return 'null::timestamptz';
  return `${start} - interval '${microseconds(watermark.maxFutureSkew)}'`;
}
