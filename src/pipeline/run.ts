/**
 * The way of the data, for one rollup, in one transaction:
 *
 *     bronze ──> scan ──> refused ──> watermark ──> classify ──> copies ──> late events ──> partials ──> seal ──> touch ──> amend ──> recompute ──> diff ──> publish ──> chain ──> notify
 *
 * `plan` is this very run, rolled back where publishing would begin.
 */
import { readActivities } from '../catalog/partitions.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { statementsOf } from '../catalog/statements.ts';
import type { Control } from '../db/control.ts';
import { inTransaction } from '../db/transaction.ts';
import { amend } from './amend.ts';
import { begin, type RunOptions, StaleSnapshot, UnreadRows } from './begin.ts';
import { hashVersions, link } from './chain.ts';
import { classify } from './classify.ts';
import type { RunContext } from './context.ts';
import { findCopies } from './copies.ts';
import { diff } from './diff.ts';
import { finish, takeStamp } from './finish.ts';
import { keepLateEvents } from './late-events.ts';
import { notify } from './notify.ts';
import { keepPartials } from './partials.ts';
import { publish } from './publish.ts';
import { recompute } from './recompute.ts';
import { answerRefused, readRefused } from './refused.ts';
import { noteFailure, type RunReport, reportOf } from './report.ts';
import { findBeginning, rememberReadings, scan } from './scan.ts';
import { seal } from './seal.ts';
import { Stopwatch } from './stopwatch.ts';
import { thin } from './thin.ts';
import { touch } from './touch.ts';
import { advanceWatermark, findSealing } from './watermark.ts';

export interface SpineOptions extends RunOptions {
  /** Called as each stage begins; `detail` may name what it works on. */
  readonly onStage?: (stage: string, detail?: string) => void;
  /** Called in the run's transaction as soon as it holds the rollup: what it throws undoes the run. */
  readonly begun?: (run: RunContext) => Promise<void>;
  /** Called in the run's transaction before anything is recomputed: what a person's word changes first. */
  readonly before?: (run: RunContext) => Promise<void>;
  /** Called once it is known what becomes of each window: what it throws undoes the run. */
  readonly judged?: (run: RunContext, stamp: string) => Promise<void>;
}

class Rollback extends Error {
  readonly report: RunReport;
  constructor(report: RunReport) {
    super('rolled back on purpose');
    this.report = report;
  }
}

/** Runs and publishes. @throws Failure with exit code 4 if another run holds the rollup. */
export async function runRollup(
  control: Control,
  rollup: Rollup,
  options: SpineOptions = {},
): Promise<RunReport> {
  try {
    return await attempt(control, rollup, options, async (run, sealing, stamp, report, watch) => {
      const published = await watch.time('publish', () => publish(run, stamp));
      const hashed = await watch.time('chain', () => hashVersions(run));
      const whole = { ...report, ...published };
      await finish(
        run,
        sealing,
        stamp,
        whole.needsAttention ? 'attention' : 'done',
        whole.counts,
        whole.stageMilliseconds,
      );
      await link(run, hashed);
      await notify(run, stamp);
      await thin(run, stamp);
      return whole;
    });
  } catch (error) {
    await noteFailure(control, rollup, options.verb ?? 'run', error);
    throw error;
  }
}

/** The same run, rolled back before it publishes: nothing is kept, not even that it ran. */
export async function planRollup(
  control: Control,
  rollup: Rollup,
  options: SpineOptions = {},
): Promise<RunReport> {
  try {
    return await attempt(
      control,
      rollup,
      { ...options, isPlan: true },
      async (_run, _sealing, _stamp, report) => {
        throw new Rollback(report);
      },
    );
  } catch (error) {
    if (error instanceof Rollback) return error.report;
    throw error;
  }
}

type Ending = (
  run: RunContext,
  sealing: Awaited<ReturnType<typeof findSealing>>,
  stamp: string,
  report: RunReport,
  watch: Stopwatch,
) => Promise<RunReport>;

async function attempt(
  control: Control,
  rollup: Rollup,
  options: SpineOptions,
  end: Ending,
): Promise<RunReport> {
  const statements = statementsOf(rollup);
  for (let round = 1; ; round++) {
    try {
      const { limits } = rollup.settings;
      const activities = await inTransaction(
        control,
        'read committed',
        (transaction) => readActivities(transaction, rollup),
        limits,
      );
      return await inTransaction(
        control,
        'repeatable read',
        async (transaction) => {
          const begun = await begin(transaction, rollup, statements, options);
          await options.begun?.(begun);
          const watch = new Stopwatch(options.onStage);
          const scanned = await watch.time('scan', () =>
            scan(begun, (relation) => options.onStage?.('scan', relation)),
          );
          const run = await findBeginning(begun, scanned);
          await watch.time('refused', () => readRefused(run));
          const passed = await watch.time('watermark', () => advanceWatermark(run, scanned.readings));
          const sealing = await findSealing(run);
          await watch.time('classify', () => classify(run, scanned.readings));
          await watch.time('copies', () => findCopies(run, sealing, scanned));
          const lateEvents = await watch.time('late events', () => keepLateEvents(run, sealing, scanned));
          const refused = await answerRefused(run, scanned.readings);
          const stamp = await takeStamp(run);
          await watch.time('partials', () => keepPartials(run, scanned, activities));
          const sealed = await watch.time('seal', () => seal(run, sealing, stamp));
          await options.before?.(run);
          const touched = await watch.time('touch', () => touch(run, sealing));
          const amended = await watch.time('amend', () => amend(run, scanned));
          if (amended.hasUnread && !run.readAll) throw new UnreadRows();
          await watch.time('recompute', () => recompute(run));
          const verdicts = await watch.time('diff', () => diff(run, stamp));
          if (verdicts.unexamined > 0 && !run.readAll) throw new UnreadRows();
          await options.judged?.(run, stamp);
          await rememberReadings(run, scanned, activities);
          const report = await reportOf(run, {
            scanned,
            passed,
            refused,
            sealing,
            lateEvents,
            sealed,
            touched: sealed.agreed + touched + amended.furtherWindows,
            verdicts,
            stamp,
            watch,
          });
          return await end(run, sealing, stamp, report, watch);
        },
        limits,
      );
    } catch (error) {
      if (error instanceof UnreadRows) options = { ...options, readAll: true };
      else if (!(error instanceof StaleSnapshot)) throw error;
      if (round === 5) throw error;
    }
  }
}
