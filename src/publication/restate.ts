/** A person has windows recomputed and published, for a reason; only so does a changed definition enter them (R10). */
import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { execute } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { RunReport } from '../pipeline/report.ts';
import { planRollup, runRollup, type SpineOptions } from '../pipeline/run.ts';
import { nothingFits } from './amend.ts';
import type { Release } from './release.ts';
import { readUnanswered, refusal } from './unanswered.ts';

/** Which keyed windows; not by event. */
export type Restatement = Omit<Release, 'eventIds'>;
export type RestatementReport = RunReport & { readonly restated: number };

/**
 * Recomputes these keyed windows and no others, as of the frontier, and appends what differs. Rows that are pending stay
 * so. @throws Failure: exit code 2 if the rollup forbids it or no sealed keyed window fits; 3 if one of them cannot be
 * recomputed or has an open proposal. Then nothing is done.
 */
export async function restateWindows(
  control: Control,
  rollup: Rollup,
  restatement: Restatement,
  options: SpineOptions = {},
  perform: typeof runRollup = runRollup,
): Promise<RestatementReport> {
  const { name, publish } = rollup.settings;
  if (publish.restate === 'forbidden')
    throw new Failure(`rollup "${name}" forbids restating`, {
      detail: 'its settings say publish: { restate: forbidden }',
      exitCode: 2,
    });
  let restated = 0;
  const report = await perform(control, rollup, {
    ...options,
    verb: 'restate',
    actor: restatement.actor,
    reason: restatement.reason,
    isAsked: true,
    atFrontier: true,
    before: async (run) => {
      const { rows } = await execute<{ keyed_windows: number }>(run.transaction, run.statements.amend, {
        bound: run.bound,
        window_from: restatement.windowFrom ?? null,
        window_to: restatement.windowTo ?? null,
        event_ids: null,
        key: restatement.key === undefined ? null : JSON.stringify(restatement.key),
      });
      restated = rows[0]?.keyed_windows ?? 0;
      if (restated === 0) throw nothingFits(rollup);
    },
    judged: async (run) => {
      const unanswered = await readUnanswered(run);
      const unsealed = unanswered.filter(({ obstacle }) => obstacle === 'unsealed');
      const windows = unanswered.filter(({ obstacle }) => obstacle !== 'unsealed');
      if (windows.length > 0) throw refusal(windows, 'restated', name);
      restated -= unsealed.length;
      if (restated === 0) throw refusal(unsealed, 'restated', name);
    },
  });
  return { ...report, restated };
}

export const planRestatement = (
  control: Control,
  rollup: Rollup,
  restatement: Restatement,
  options?: SpineOptions,
) => restateWindows(control, rollup, restatement, options, planRollup);
