/** Diff: which keyed windows differ from their latest version, and which must wait (R9, R15). */
import { execute, query } from '../db/statement.ts';
import type { RunContext } from './context.ts';

export type Verdict =
  | 'emission'
  | 'change'
  | 'same'
  | 'included'
  | 'propose'
  | 'wait'
  | 'missing'
  | 'unexamined';

/** @returns how many keyed windows got each verdict; the windows stand in pg_temp.errata_change. */
export async function diff(run: RunContext): Promise<Readonly<Record<Verdict, number>>> {
  await execute(run.transaction, run.statements.pipeline.diff, {
    mismatch_is_published: run.rollup.settings.publish.policy === 'auto',
    rollup_id: run.rollup.id,
    change_is_published: run.rollup.settings.publish.policy === 'auto',
    deletes_are_retention: run.rollup.settings.bronze.deletes === 'retention',
  });
  const rows = await query<{ verdict: Verdict; windows: string }>(
    run.transaction,
    'select c.verdict, count(*) as windows from pg_temp.errata_change as c group by c.verdict',
  );
  const counts = {
    change: 0,
    emission: 0,
    same: 0,
    included: 0,
    propose: 0,
    wait: 0,
    missing: 0,
    unexamined: 0,
  };
  for (const { verdict, windows } of rows) counts[verdict] = Number(windows);
  return counts;
}
