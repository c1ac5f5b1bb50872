/** A person's word on refused events: they enter the counted set, and their windows are published in the same run (R10). */
import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { execute } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { RunReport } from '../pipeline/report.ts';
import { planRollup, runRollup, type SpineOptions } from '../pipeline/run.ts';

export interface Release {
  readonly actor: string;
  readonly reason: string;
  /** Windows that start in here, half-open, instants; left out: no limit. */
  readonly windowFrom?: string | undefined;
  readonly windowTo?: string | undefined;
  /** Left out: all pending events of those windows. */
  readonly eventIds?: readonly string[] | undefined;
  /** Key columns and their values as text; null is the NULL key. Left out: all keys. */
  readonly key?: Readonly<Record<string, string | null>> | undefined;
}

export type ReleaseReport = RunReport & { readonly released: number };

/**
 * Releases and publishes in one commit. @throws Failure, exit code 2, if nothing pending fits: then nothing is done.
 */
export async function releaseEvents(
  control: Control,
  rollup: Rollup,
  release: Release,
  options: SpineOptions = {},
): Promise<ReleaseReport> {
  return await releaseBy(runRollup, control, rollup, release, options);
}

/** The same, rolled back before it publishes: nothing is kept, and no event stays released. @throws as releaseEvents */
export async function planRelease(
  control: Control,
  rollup: Rollup,
  release: Release,
  options: SpineOptions = {},
): Promise<ReleaseReport> {
  return await releaseBy(planRollup, control, rollup, release, options);
}

async function releaseBy(
  perform: typeof runRollup,
  control: Control,
  rollup: Rollup,
  release: Release,
  options: SpineOptions,
): Promise<ReleaseReport> {
  let released = 0;
  const report = await perform(control, rollup, {
    ...options,
    verb: 'publish',
    actor: release.actor,
    reason: release.reason,
    before: async (run) => {
      const { count } = await execute(run.transaction, run.statements.release, {
        run_id: run.runId,
        actor: release.actor,
        reason: release.reason,
        window_from: release.windowFrom ?? null,
        window_to: release.windowTo ?? null,
        event_ids: release.eventIds ?? null,
        key: release.key === undefined ? null : JSON.stringify(release.key),
      });
      released = count;
      if (count === 0) throw nothingPending(rollup);
    },
  });
  return { ...report, released };
}

function nothingPending(rollup: Rollup): Failure {
  return new Failure(`rollup "${rollup.settings.name}" has no pending event that fits`, {
    detail: 'nothing was released and nothing published',
    hint: `\`errata status ${rollup.settings.name}\` counts what is pending; the view ${rollup.settings.gold.schema}.${rollup.settings.gold.name}_side_output names it, and \`errata review ${rollup.settings.name}\` lists what is proposed`,
    exitCode: 2,
  });
}
