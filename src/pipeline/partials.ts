/**
 * Partials: the measures of each keyed window by ingestion partition, kept once the partition is closed (R20). They change no
 * result: what is kept is what this run's snapshot shows, or is not used.
 *
 *     ingestion    ──[ closed ]──[ closed ]──[ closed, changed ]──[ open ]──▶
 *                     kept        kept        kept anew            read
 *     window       ───── partial + partial + partial ──────────── + rows ───
 *
 * Of a closed partition in which rows of a keyed window are left out by their state, or are other copies than when it was kept,
 * the rows are read in the place of the partial: nothing is ever added to or taken from a total (R7).
 */
import type { Activity, Partition } from '../catalog/partitions.ts';
import type { PartialStatements } from '../catalog/statements.ts';
import { isFaultOfRow } from '../db/row-fault.ts';
import { execute, query, type Value } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { setWindowsAside, withoutFailing } from './failing.ts';
import { planned } from './planned.ts';
import type { Scan } from './scan.ts';

/** The planner takes the rows of a partition for as many keyed windows, and would sort them to group them. */
const unsorted = { enable_sort: 'off' };

/**
 * Keeps those of every closed partition of which they are missing or may hold no more.
 * @param activities as they were before the run's snapshot
 */
export async function keepPartials(
  run: RunContext,
  { partitions, readings }: Scan,
  activities: ReadonlyMap<string, Activity>,
): Promise<void> {
  const { transaction, statements } = run;
  const { partials } = statements;
  if (!partials) return;
  await execute(transaction, partials.work);
  const { rows } = await execute<{ relation_id: string }>(transaction, partials.ingested, {
    relations: partitions.map((partition) => partition.relation_id),
    lowers: partitions.map((partition) => partition.lower_bound ?? ''),
    uppers: partitions.map((partition) => partition.upper_bound ?? ''),
    contents: partitions.map((partition) => partition.content),
    relations_read: readings.map(({ partition }) => partition.relation_id),
    empties: partitions.filter((partition) => partition.is_empty).map((partition) => partition.relation_id),
    bound: run.bound,
  });
  const missing = new Set(rows.map((row) => row.relation_id));
  await execute(transaction, partials.forget, {
    relations: partitions.flatMap(({ relation_id: id }) => (missing.has(id) ? [] : id)),
  });
  for (const partition of partitions) {
    const { relation_id: relation, is_being_written: isBeingWritten } = partition;
    if (!missing.has(relation)) continue;
    await execute(transaction, partials.remember, {
      relation,
      content: isBeingWritten ? null : (activities.get(relation)?.content ?? null),
      is_failed: !(await keep(run, partition)),
      run_id: run.runId,
    });
  }
  await query(transaction, 'analyze pg_temp.errata_ingested');
}

/** @returns false where a measure cannot be computed: then the partition is read, and the window at fault set aside (R19). */
async function keep(run: RunContext, partition: Partition): Promise<boolean> {
  const { transaction, statements } = run;
  const { relation_id: relation, constraint_text: constraint } = partition;
  await query(transaction, 'savepoint errata_partials');
  try {
    await planned(transaction, unsorted, () =>
      execute(transaction, statements.withConstraint('partials/keep', constraint), {
        relation,
        is_told: partition.is_told,
      }),
    );
    const [bounds] = await query<{ ingested_from: string; ingested_to: string }>(
      transaction,
      'select i.ingested_from, i.ingested_to from pg_temp.errata_ingested as i where i.relation_id = $1::oid',
      [relation],
    );
    await execute(transaction, statements.withConstraint('partials/keep_first_copies', constraint), {
      relation,
      ingested_from: bounds?.ingested_from ?? null,
      ingested_to: bounds?.ingested_to ?? null,
    });
    await query(transaction, 'release savepoint errata_partials');
    return true;
  } catch (error) {
    if (!isFaultOfRow(error)) throw error;
    await query(transaction, 'rollback to savepoint errata_partials');
    await query(transaction, 'release savepoint errata_partials');
    return false;
  }
}

/** Of the windows that became sealed, as `sealing_result` takes it. */
export type SealingSpan = Readonly<
  Record<'sealing_from' | 'sealing_to' | 'events_to' | 'ingested_from' | 'bound', Value>
>;

/** The same as `sealing_result`, where no delay differs by key. @param span parameters of it */
export async function measureSealing(run: RunContext, span: SealingSpan): Promise<void> {
  const { transaction, statements } = run;
  const partials = statements.partials as PartialStatements;
  const uncovered = await query<{ ingested_from: string | null; bound: string }>(
    transaction,
    `select greatest(lower(r), $1::timestamptz)::text as ingested_from, least(upper(r) - interval '1 microsecond', $2::timestamptz)::text as bound
     from unnest((
       select range_agg(tstzrange(nullif(i.ingested_from, '-infinity'), nullif(i.ingested_to, 'infinity')))
       from pg_temp.errata_ingested as i
       where not i.is_covered
     )) as r
     where upper(r) > $1::timestamptz or upper(r) is null or $1::timestamptz is null`,
    [span.ingested_from, span.bound],
  );
  for (const stretch of uncovered) await execute(transaction, partials.sealingPart, { ...span, ...stretch });
  await execute(transaction, partials.merge_sealing, {
    sealing_from: span.sealing_from,
    sealing_to: span.sealing_to,
  });
}

/** Tells which touched keyed windows are made from partials, and what of them is read all the same. @returns how many. */
export async function findPartials(run: RunContext, isLookedUp: boolean): Promise<number> {
  const { transaction, statements } = run;
  const { partials } = statements;
  if (!partials) return 0;
  await execute(transaction, partials.mark_changed);
  const { count } = await execute(transaction, partials.parted);
  if (count === 0) return 0;
  await execute(transaction, partials.find);
  await query(transaction, 'analyze pg_temp.errata_touched, pg_temp.errata_partial');
  await planned(transaction, { enable_nestloop: 'off' }, () => execute(transaction, partials.stretches));
  if (isLookedUp) await execute(transaction, partials.look_up);
  await query(transaction, 'analyze pg_temp.errata_stretch');
  return count;
}

/** One stretch of ingestion that is read in one go, or all those that are looked up. */
interface Stretch {
  readonly is_looked_up: boolean;
  readonly ingested_from: string | null;
  readonly bound: string;
  readonly events_from: string;
  readonly events_to: string;
}

/** The measures of those keyed windows. @param settings the planner's, of a recompute */
export async function recomputeFromPartials(
  run: RunContext,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const { transaction, statements } = run;
  const partials = statements.partials as PartialStatements;
  const stretches = await query<Stretch>(
    transaction,
    `select
       s.is_looked_up,
       case when not s.is_looked_up then s.ingested_from end::text as ingested_from,
       least(max(s.ingested_to), $1::timestamptz)::text as bound,
       min(s.window_start)::text as events_from,
       max(s.window_end)::text as events_to
     from pg_temp.errata_stretch as s
     group by s.is_looked_up, case when not s.is_looked_up then s.ingested_from end
     order by 2 nulls first`,
    [run.bound],
  );
  for (const { is_looked_up: isLookedUp, ...span } of stretches) {
    // how far a row may be ahead of its arrival does not matter here: each stretch says where its rows lie
    const values = { ...span, skew: null };
    await withoutFailing(
      run,
      () =>
        planned(transaction, settings, () =>
          execute(transaction, isLookedUp ? partials.lookUp : partials.read, values),
        ),
      async () => {
        const failed = await setWindowsAside(
          run,
          isLookedUp ? 'stretch_looked_up' : 'stretch',
          values,
          false,
        );
        if (failed > 0) await execute(transaction, partials.set_aside);
        return failed;
      },
    );
  }
  await query(transaction, 'analyze pg_temp.errata_stretch_result, pg_temp.errata_partial');
  await execute(transaction, partials.merge);
}
