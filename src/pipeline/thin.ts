/** Thin: runs that changed nothing leave the record when their time is up, a few with each run. */
import { microseconds } from '../catalog/describe.ts';
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';

/** More than a run adds, so that a long history catches up; and few enough to cost a run nothing (2 ms). */
const runsLookedAt = 200;

export async function thin({ transaction, statements, rollup }: RunContext, stamp: string): Promise<void> {
  await execute(transaction, statements.pipeline.thin, {
    rollup_id: rollup.id,
    stamp,
    keep: microseconds(rollup.settings.limits.keep),
    at_most: String(runsLookedAt),
    keeps_rows: String(rollup.settings.window.kind === 'session'),
  });
}
