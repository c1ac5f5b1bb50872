/** Thin: what is no longer needed leaves the record when its time is up, a part with each run. */

import { microseconds } from '../catalog/describe.ts';
import { execute, query } from '../db/statement.ts';
import type { RunContext } from './context.ts';
import { hasSessions } from './sessions.ts';

/** More than a run adds, so that a long history catches up; and few enough to cost a run nothing (2 ms). */
const runsLookedAt = 200;
/** Each row of bronze may be a step: those of a day or two. */
const stepsLookedAt = 100_000;

/** Runs that changed nothing; and the watermark's history to where it passed an end or a deadline (R6). */
export async function thin(run: RunContext, stamp: string): Promise<void> {
  const { transaction, statements, rollup } = run;
  await execute(transaction, statements.pipeline.thin, {
    rollup_id: rollup.id,
    stamp,
    keep: microseconds(rollup.settings.limits.keep),
    at_most: String(runsLookedAt),
    keeps_rows: String(hasSessions(rollup)),
  });
  if (haveOneEnd(run)) await thinSteps(run);
}

/** Where all rows of a window share its end and its deadline. */
function haveOneEnd({ rollup }: RunContext): boolean {
  const { watermark, allowedLatenessColumn } = rollup.settings;
  return (
    (watermark.strategy === 'bounded' || watermark.strategy === 'recorded') &&
    !hasSessions(rollup) &&
    rollup.overrides === undefined &&
    allowedLatenessColumn === undefined
  );
}

async function thinSteps({ transaction, statements, rollup, bound }: RunContext): Promise<void> {
  const [kept] = await query<{ from: string }>(
    transaction,
    'select ($1::timestamptz - $2::interval)::text as "from"',
    [bound, microseconds(rollup.settings.limits.keep)],
  );
  const values = {
    rollup_id: rollup.id,
    kept_from: kept?.from ?? null,
    at_most: String(stepsLookedAt),
    allowed_lateness: microseconds(rollup.settings.allowedLateness),
  };
  await execute(transaction, statements.pipeline.thin_source_steps, values);
  await execute(transaction, statements.pipeline.thin_steps, values);
}
