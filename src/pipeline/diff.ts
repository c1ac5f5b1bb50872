/** Diff: which keyed windows differ from their latest version, which must wait, and who publishes them (R9, R10, R15). */
import { microseconds } from '../catalog/describe.ts';
import { execute, query } from '../db/statement.ts';
import { postingPeriod } from '../publication/periods.ts';
import { StaleSnapshot } from './begin.ts';
import type { RunContext } from './context.ts';
import { hasSessions } from './sessions.ts';

export type Verdict =
  | 'emission'
  | 'change'
  | 'same'
  | 'included'
  | 'propose'
  | 'rejected'
  | 'held'
  | 'wait'
  | 'missing'
  | 'unexamined';

/** @returns how many keyed windows got each verdict; the windows stand in pg_temp.errata_change. */
export async function diff(run: RunContext, stamp: string): Promise<Readonly<Record<Verdict, number>>> {
  const { horizon } = run.rollup.settings.publish;
  await execute(run.transaction, run.statements.pipeline.diff, {
    mismatch_is_published: run.rollup.settings.publish.policy === 'auto',
    rollup_id: run.rollup.id,
    change_is_published: run.rollup.settings.publish.policy === 'auto',
    deletes_are_retention: run.rollup.settings.bronze.deletes === 'retention',
  });
  // Without statistics of it the joins that follow are nested loops: 600 windows took 36 s.
  await query(run.transaction, 'analyze pg_temp.errata_change');
  if (hasSessions(run.rollup)) {
    await execute(run.transaction, run.statements.sessions.succession);
    await query(run.transaction, 'analyze pg_temp.errata_succession');
  }
  await execute(run.transaction, run.statements.pipeline.decide, {
    rollup_id: run.rollup.id,
    verb: run.verb,
    actor: run.actor,
    is_review: run.rollup.settings.publish.policy === 'review',
    horizon: horizon ? microseconds(horizon) : null,
    bound: run.bound,
    fingerprint: run.fingerprint,
    stamp,
    posting_period: await postingPeriod(run, stamp),
  });
  if (hasSessions(run.rollup))
    await execute(run.transaction, run.statements.sessions.together, { verb: run.verb });
  if (run.rollup.settings.seal.by === 'stream') await claimFirst(run);
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
    rejected: 0,
    held: 0,
    wait: 0,
    missing: 0,
    unexamined: 0,
  };
  for (const { verdict, windows } of rows) counts[verdict] = Number(windows);
  return counts;
}

/**
 * How long a run waits for a version 1 that the stream has not committed: well below the server's `deadlock_timeout` of a
 * second, so that of the two never the stream is the one to give way.
 */
const patience = '200ms';

/** Nothing is published into a keyed window without a version 1 while the stream may be writing it (R8, R11). */
async function claimFirst({ transaction, statements, bound }: RunContext): Promise<void> {
  const { claim, unclaimed } = statements.pipeline;
  await query(transaction, 'savepoint errata_claim');
  const [known] = await query<{ limit: string }>(
    transaction,
    `select current_setting('lock_timeout') as limit`,
  );
  try {
    await query(transaction, `select set_config('lock_timeout', '${patience}', true)`);
    await execute(transaction, claim, { since: bound });
    await query(transaction, `select set_config('lock_timeout', $1, true)`, [known?.limit ?? null]);
    await query(transaction, 'release savepoint errata_claim');
  } catch (error) {
    const { code } = error as { code?: string };
    // it was committed after the snapshot
    if (code === '40001') throw new StaleSnapshot();
    if (code !== '55P03') throw error;
    await query(transaction, 'rollback to savepoint errata_claim');
    await execute(transaction, unclaimed);
  }
}
