/** A person's word that bronze rows were deleted or changed: their windows are recomputed in the same run (R9, R10). */
import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { execute } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { RunReport } from '../pipeline/report.ts';
import { planRollup, runRollup, type SpineOptions } from '../pipeline/run.ts';
import type { Release } from './release.ts';

/** Which keyed windows: as in a release; by event, those that hold or held one of the events. */
export type Amendment = Release;
export type AmendReport = RunReport & { readonly amended: number };

/**
 * Queues, recomputes and publishes in one commit, as the policy allows: `grace` proposes. @throws Failure, exit code 2,
 * if no keyed window fits or an event is found nowhere: then nothing is done.
 */
export async function amendWindows(
  control: Control,
  rollup: Rollup,
  amendment: Amendment,
  options: SpineOptions = {},
): Promise<AmendReport> {
  return await amendBy(runRollup, control, rollup, amendment, options);
}

/** The same, rolled back before it publishes: nothing is kept. @throws as amendWindows */
export async function planAmendment(
  control: Control,
  rollup: Rollup,
  amendment: Amendment,
  options: SpineOptions = {},
): Promise<AmendReport> {
  return await amendBy(planRollup, control, rollup, amendment, options);
}

async function amendBy(
  perform: typeof runRollup,
  control: Control,
  rollup: Rollup,
  amendment: Amendment,
  options: SpineOptions,
): Promise<AmendReport> {
  let amended = 0;
  const report = await perform(control, rollup, {
    ...options,
    verb: 'amend',
    actor: amendment.actor,
    reason: amendment.reason,
    before: async (run) => {
      const { rows } = await execute<{ keyed_windows: number; events: string[] }>(
        run.transaction,
        run.statements.amend,
        {
          bound: run.bound,
          window_from: amendment.windowFrom ?? null,
          window_to: amendment.windowTo ?? null,
          event_ids: amendment.eventIds ?? null,
          key: amendment.key === undefined ? null : JSON.stringify(amendment.key),
        },
      );
      const found = rows[0]?.events ?? [];
      const lost = (amendment.eventIds ?? []).filter((id) => !found.includes(id));
      if (lost.length > 0) throw eventsLost(rollup, lost);
      amended = rows[0]?.keyed_windows ?? 0;
      if (amended === 0) throw nothingFits(rollup);
      await execute(run.transaction, run.statements.queueAsked, { since: run.bound });
    },
  });
  return { ...report, amended };
}

export function eventsLost(rollup: Rollup, lost: readonly string[]): Failure {
  return new Failure(
    `rollup "${rollup.settings.name}" does not know where these events were: ${lost.join(', ')}`,
    {
      detail:
        'neither bronze nor the late events hold them there: an event that landed open and is deleted leaves no trace',
      hint: 'name its window with --window instead of --event; nothing was done',
      exitCode: 2,
    },
  );
}

export function nothingFits(rollup: Rollup): Failure {
  return new Failure(`rollup "${rollup.settings.name}" has no keyed window that fits`, {
    detail: 'nothing was recomputed and nothing published',
    hint: `the view ${rollup.settings.gold.schema}.${rollup.settings.gold.name}_latest lists the keyed windows`,
    exitCode: 2,
  });
}
