/** Recompute: the measures of each touched keyed window, read whole from bronze (R7). */
import { servingIndexes } from '../catalog/indexes.ts';
import { execute, query } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { setWindowsAside, withoutFailing } from './failing.ts';
import { ingestedFrom } from './ingested-from.ts';
import { findPartials, recomputeFromPartials } from './partials.ts';
import { planned } from './planned.ts';
import { hasSessions, recomputeSessions } from './sessions.ts';
import { skewOf } from './watermark.ts';

/**
 * The planner takes the rows of the touched windows for a few hundred where they are millions: it would sort them in files
 * to group them, and keep those of each keyed window in memory in case they were asked for again, which they never are.
 */
const forGroups = { enable_sort: 'off', enable_memoize: 'off' };
/** What is looked up stands behind a fence; all else is hashed, however few rows the planner expects. */
export const hashed = { ...forGroups, enable_nestloop: 'off' };

/** Those of which a measure cannot be computed leave `pg_temp.errata_touched` (R19). @param isUnsealed for version 1 */
export async function recompute(run: RunContext, isUnsealed = false): Promise<void> {
  const { transaction, statements } = run;
  const { pipeline } = statements;
  await execute(transaction, pipeline.exclude_from_recompute);
  await query(transaction, 'analyze pg_temp.errata_excluded, pg_temp.errata_copied');
  if (hasSessions(run.rollup)) await recomputeSessions(run);
  else {
    await execute(transaction, pipeline.left_out);
    const whole = (await execute(transaction, pipeline.whole)).count;
    await recomputeWindows(run, isUnsealed);
    if (whole > 0) await execute(transaction, pipeline.whole_results);
  }
  if (!isUnsealed) await execute(transaction, pipeline.computed);
  await query(transaction, 'analyze pg_temp.errata_result');
}

async function recomputeWindows(run: RunContext, isUnsealed: boolean): Promise<void> {
  const { transaction, statements, rollup } = run;
  // Of an index that leads with the time a look-up reads the rows of all keys: there the planner chooses.
  const isChosen = rollup.hasRowAge && (await servingIndexes(transaction, rollup)).leadWithKey;
  if (!isUnsealed && (await findPartials(run, isChosen)) > 0)
    await recomputeFromPartials(run, isChosen ? hashed : forGroups);
  if (isChosen) await execute(transaction, statements.pipeline.look_up, { rollup_id: rollup.id });
  // Without statistics the planner takes the work table for a thousand windows and may read all of bronze for three.
  await query(transaction, 'analyze pg_temp.errata_touched');
  for (const isLookedUp of [false, true]) {
    const values = await spanOf(run, isLookedUp);
    if (values === undefined) continue;
    const statement = isLookedUp ? statements.lookUp : statements.pipeline.recompute;
    await withoutFailing(
      run,
      () =>
        planned(transaction, isChosen ? hashed : forGroups, () => execute(transaction, statement, values)),
      () => setWindowsAside(run, isLookedUp ? 'looked_up' : 'recompute', values, isUnsealed),
    );
  }
}

/** Where the rows of those keyed windows lie; undefined if there are none. */
async function spanOf(run: RunContext, isLookedUp: boolean) {
  const [span] = await query<{ from: string | null; to: string | null }>(
    run.transaction,
    `select min(t.window_start)::text as "from", max(t.window_end)::text as "to"
     from pg_temp.errata_touched as t
     where t.is_parted is not true and coalesce(t.is_looked_up, false) = $1::boolean`,
    [isLookedUp],
  );
  if (!span || span.from === null) return undefined;
  const { ingested_from: from, has_released: hasReleased } = await ingestedFrom(run, span);
  return {
    ingested_from: from,
    bound: run.bound,
    // a row that a person let out of quarantine may be farther ahead of its arrival than any other
    skew: hasReleased ? null : skewOf(run.rollup),
    events_from: span.from,
    events_to: span.to,
  };
}
