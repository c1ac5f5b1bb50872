/** Watermark: its history grows by what the new rows, or the stream's log, say; then: which windows does it seal? (R2, R8) */
import { microseconds } from '../catalog/describe.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, query } from '../db/statement.ts';
import type { Reading, RunContext, Sealing } from './context.ts';
import { readLog } from './log.ts';
import { sealNoKey } from './overrides.ts';

/** What the stream said of its watermark and was not taken: it moved nothing. */
export interface Passed {
  /** Entries of its log below an earlier one of their source partition. */
  readonly wentBack: number;
  /** Entries of its log that appeared behind the frontier (R6). */
  readonly cameBehind: number;
  /** Totals and refusals that lie further ahead than a watermark can (R4). */
  readonly ahead: number;
}

const nothingPassed: Passed = { wentBack: 0, cameBehind: 0, ahead: 0 };

export async function advanceWatermark(run: RunContext, readings: readonly Reading[]): Promise<Passed> {
  const { strategy, delay } = run.rollup.settings.watermark;
  const { watermarkDelays } = run.statements;
  if (watermarkDelays && delay)
    await execute(run.transaction, watermarkDelays, { rollup_id: run.rollup.id, delay: microseconds(delay) });
  if (strategy === 'fixed_delay') return nothingPassed;
  if (strategy === 'external') return { ...nothingPassed, ahead: await followStream(run) };
  if (strategy === 'recorded') {
    await execute(run.transaction, run.statements.pipeline.watermark_recorded, {
      frontier: run.frontier,
      bound: run.bound,
    });
  }
  if (hasSourcePartitions(run.rollup)) {
    const wentBack = await combineWatermarks(run, readings);
    return { ...nothingPassed, wentBack, cameBehind: strategy === 'recorded' ? await readLog(run) : 0 };
  }
  await execute(run.transaction, run.statements.pipeline.watermark, { rollup_id: run.rollup.id });
  return nothingPassed;
}

/** `external`: the stream's totals, and its refused rows, say how far its watermark had come. @returns how many say too much. */
async function followStream(run: RunContext): Promise<number> {
  const { transaction, rollup, frontier, bound } = run;
  const { pipeline } = run.statements;
  const { seal, watermark } = rollup.settings;
  const skew = watermark.maxFutureSkew ? microseconds(watermark.maxFutureSkew) : null;
  const about = { rollup_id: rollup.id, bound, max_future_skew: skew };
  const said = [
    seal.by === 'table'
      ? await execute<Ahead>(transaction, pipeline.watermark_adopted, about)
      : await execute<Ahead>(transaction, pipeline.watermark_shipped, { ...about, frontier }),
    await execute<Ahead>(transaction, pipeline.watermark_refused, { ...about, frontier }),
  ];
  await execute(transaction, pipeline.watermark, { rollup_id: rollup.id });
  return said.reduce((sum, { rows }) => sum + (rows[0]?.ahead ?? 0), 0);
}

interface Ahead {
  readonly ahead: number;
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
  const { seal, watermark } = run.rollup.settings;
  const { rows } = await execute<SpanRow>(run.transaction, run.statements.pipeline.sealing, {
    rollup_id: run.rollup.id,
    bound: run.bound,
    sealed_before: run.sealedBefore,
    complete_from: run.completeFrom,
    after: microseconds(seal.after),
    fixed_delay: watermark.strategy === 'fixed_delay' ? await greatestDelay(run) : null,
    overlap: overlapOf(run.rollup),
    skew: skewOf(run.rollup),
  });
  const span = await withOwnDelays(run, rows[0] as SpanRow);
  // Whether a session's rows are all there is asked of each by itself.
  if (span.gone && run.rollup.settings.window.kind !== 'session') {
    // A version 1 over what is left of a window would be wrong for ever: nothing is sealed until its rows are back (R15).
    return {
      from: span.from,
      to: span.from,
      eventsTo: span.from,
      until: run.sealedBefore,
      ingestedFrom: span.ingested_from,
      blockedBy: span.gone,
    };
  }
  return {
    from: span.from,
    to: span.to,
    eventsTo: span.events_to,
    until: span.until,
    ingestedFrom: span.ingested_from,
    blockedBy: null,
  };
}

/** @param others what is sealed of keys without a delay of their own. @returns the span of all windows to seal. */
async function withOwnDelays(run: RunContext, others: SpanRow): Promise<SpanRow> {
  const { rollup, transaction, statements } = run;
  const { watermark, seal } = rollup.settings;
  if (!statements.overrides || !rollup.overrides?.isByKey || !rollup.overrides.hasDelay) return others;
  const { rows } = await execute<SpanRow>(transaction, statements.overrides.sealing_by_key, {
    rollup_id: rollup.id,
    bound: run.bound,
    after: microseconds(seal.after),
    sealed_until: others.until,
    complete_from: run.completeFrom,
    delay: watermark.delay ? microseconds(watermark.delay) : null,
    is_fixed: watermark.strategy === 'fixed_delay',
    sealing_from: others.from,
    sealing_to: others.to,
    overlap: overlapOf(rollup),
    skew: skewOf(rollup),
  });
  const span = { ...(rows[0] as SpanRow), gone: others.gone ?? rows[0]?.gone ?? null };
  if (span.gone && rollup.settings.window.kind !== 'session')
    await sealNoKey(run, statements.overrides.overrides);
  await query(transaction, 'analyze pg_temp.errata_override, pg_temp.errata_sealing_span');
  return span;
}

/** What seals under `fixed_delay`: no row of any source partition may be judged by a watermark that is behind it. */
export async function greatestDelay({ transaction, rollup }: RunContext): Promise<string | null> {
  const { delay } = rollup.settings.watermark;
  if (!delay || !rollup.overrides?.hasDelay || rollup.overrides.isByKey)
    return delay ? microseconds(delay) : null;
  const [row] = await query<{ greatest: string }>(
    transaction,
    'select greatest($1::interval, max(v.errata_delay))::text as greatest from pg_temp.errata_override as v',
    [microseconds(delay)],
  );
  return row?.greatest ?? null;
}

interface SpanRow {
  readonly until: string | null;
  readonly from: string;
  readonly to: string;
  readonly events_to: string;
  readonly ingested_from: string | null;
  readonly gone: string | null;
}

/** How far the windows that start before an instant reach beyond it, as an interval. */
export function overlapOf({ settings: { window } }: Rollup): string {
  const beyond = window.kind === 'hopping' ? window.size.microseconds - window.every.microseconds : 0n;
  return `${beyond > 0n ? beyond : 0n} microseconds`;
}

/**
 * How long before its window's start a row may have been ingested, as an interval: a valid row is at most
 * `max_future_skew` ahead of its arrival (R4). Null where arrival is a column of its own, or nothing limits the skew.
 */
export function skewOf({ settings: { watermark, bronze } }: Rollup): string | null {
  if (watermark.maxFutureSkew === undefined || bronze.arrivedAt !== undefined) return null;
  return microseconds(watermark.maxFutureSkew);
}
