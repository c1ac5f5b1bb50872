/** A person sets events aside: pending ones are waived, and what a version includes leaves it by a new one (R10). */
import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { execute } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { RunReport } from '../pipeline/report.ts';
import { planRollup, runRollup, type SpineOptions } from '../pipeline/run.ts';
import type { Release } from './release.ts';
import { readUnanswered, refusal } from './unanswered.ts';

/** Which events, as in a release; what a version includes is only taken back by its id. */
export type Waiver = Release;
export type WaiverReport = RunReport & {
  /** Events in their windows. */
  readonly waived: number;
  /** Of those, in a version until now. */
  readonly takenBack: number;
};

/**
 * @throws Failure: exit code 2 if nothing fits, or version 1 counts it; 3 if a window that includes one of them cannot be
 * recomputed or has an open proposal. Then nothing is done.
 */
export async function waiveEvents(
  control: Control,
  rollup: Rollup,
  waiver: Waiver,
  options: SpineOptions = {},
  perform: typeof runRollup = runRollup,
): Promise<WaiverReport> {
  const { name } = rollup.settings;
  let waived = 0;
  let takenBack = 0;
  const report = await perform(control, rollup, {
    ...options,
    verb: 'waive',
    actor: waiver.actor,
    reason: waiver.reason,
    isAsked: true,
    atFrontier: true,
    before: async (run) => {
      const { rows } = await execute<{ waived: number; taken_back: number; shipped: number }>(
        run.transaction,
        run.statements.waive,
        {
          run_id: run.runId,
          actor: waiver.actor,
          reason: waiver.reason,
          window_from: waiver.windowFrom ?? null,
          window_to: waiver.windowTo ?? null,
          event_ids: waiver.eventIds ?? null,
          key: waiver.key === undefined ? null : JSON.stringify(waiver.key),
        },
      );
      const [found] = rows;
      waived = found?.waived ?? 0;
      takenBack = found?.taken_back ?? 0;
      if (waived === 0) throw nothingToWaive(rollup, found?.shipped ?? 0);
    },
    judged: async (run) => {
      const unanswered = await readUnanswered(run);
      const windows = unanswered.filter(({ is_taken_back: isTakenBack }) => isTakenBack);
      if (windows.length > 0) throw refusal(windows, 'published without what it waives', name);
    },
  });
  return { ...report, waived, takenBack };
}

export const planWaiver = (control: Control, rollup: Rollup, waiver: Waiver, options?: SpineOptions) =>
  waiveEvents(control, rollup, waiver, options, planRollup);

function nothingToWaive({ settings }: Rollup, shipped: number): Failure {
  const { name, gold } = settings;
  return new Failure(`rollup "${name}" has no event to waive that fits`, {
    detail:
      shipped > 0
        ? 'version 1 counts it: what shipped is never taken back'
        : 'pending events are waived, and by their ids those that a later version includes; nothing was done',
    hint: `the table ${gold.schema}.${gold.name}_late_event names the events and their states`,
    exitCode: 2,
  });
}
