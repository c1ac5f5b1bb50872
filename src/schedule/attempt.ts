/** One look at one rollup: if something is due, the very run that `errata run` makes. */
import { openRollup } from '../catalog/open.ts';
import type { RollupSettings, ScheduleSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Failure } from '../failure.ts';
import { databaseFailure } from '../output/database-failure.ts';
import { defect } from '../output/failure-text.ts';
import { hideSecrets } from '../output/secrets.ts';
import type { RunReport } from '../pipeline/report.ts';
import { runRollup } from '../pipeline/run.ts';
import { PausedRollup } from '../publication/acts.ts';
import { type BackOff, backOff } from './back-off.ts';
import { claim, NothingDue } from './claim.ts';
import { type Moments, readDue } from './due.ts';

export type Attempt =
  | { readonly outcome: 'done' | 'attention'; readonly report: RunReport; readonly moments: Moments }
  /** `unknown`: the database has no such rollup, or it was dropped; `locked`: another run holds it, and the next tick looks again. */
  | { readonly outcome: 'not due' | 'backs off' | 'unknown' | 'locked' | 'paused' }
  | { readonly outcome: 'failed'; readonly failure: Failure; readonly backOff: BackOff };

export interface AttemptOptions {
  /** Stands in for the database's clock. */
  readonly now?: string | undefined;
  readonly onStage?: (stage: string, detail?: string) => void;
  /** Asked before a run begins: what is due then stays due. */
  readonly stop?: AbortSignal | undefined;
  /** What is cancelled on purpose is no failure of the rollup's. */
  readonly cancelled?: AbortSignal | undefined;
}

/** @throws what the database says where it cannot be asked what is due. */
export async function attempt(
  control: Control,
  settings: Settings,
  chosen: RollupSettings & { readonly schedule: ScheduleSettings },
  options: AttemptOptions = {},
): Promise<Attempt> {
  const due = await inTransaction(
    control,
    'read committed',
    (transaction) => readDue(transaction, settings.schema, chosen.name, chosen.schedule, options.now),
    settings.limits,
  );
  if (due === undefined) return { outcome: 'unknown' };
  if (due.moments === null || options.stop?.aborted) return { outcome: 'not due' };
  if (due.backsOff) return { outcome: 'backs off' };
  try {
    const rollup = await openRollup(control, settings, chosen);
    let moments = due.moments;
    const report = await runRollup(control, rollup, {
      ...(options.onStage ? { onStage: options.onStage } : {}),
      begun: async (run) => {
        moments = await claim(run, chosen.schedule, due.now);
      },
    });
    return { outcome: report.needsAttention ? 'attention' : 'done', report, moments };
  } catch (error) {
    if (options.cancelled?.aborted) throw error;
    if (error instanceof NothingDue) return { outcome: 'not due' };
    if (error instanceof PausedRollup) return { outcome: 'paused' };
    const failure = failureOf(error, chosen);
    if (failure.exitCode === 4) return { outcome: 'locked' };
    // Another server's run that has claimed what is due holds the row until it ends: it is not waited for.
    const waits = await inTransaction(
      control,
      'read committed',
      (transaction) =>
        backOff(transaction, settings.schema, due.rollupId, due.now, hideSecrets(failure.message)),
      settings.limits,
    );
    return { outcome: 'failed', failure, backOff: waits };
  }
}

function failureOf(error: unknown, { name, measures }: RollupSettings): Failure {
  const expressions = measures.map((measure) => `${measure.name}: ${measure.expression}`);
  return databaseFailure(error, { rollup: name, measures: expressions }) ?? defect(error);
}
