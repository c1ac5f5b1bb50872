/** A person's word on quarantined rows: those whose event time is readable count in their windows after all (R4, R10). */
import type { Rollup } from '../catalog/rollup.ts';
import type { Control } from '../db/control.ts';
import { execute } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { RunReport } from '../pipeline/report.ts';
import { planRollup, runRollup, type SpineOptions } from '../pipeline/run.ts';

export interface QuarantineRelease {
  readonly actor: string;
  readonly reason: string;
  /** Left out: every row in quarantine whose event time is readable. */
  readonly eventIds?: readonly string[] | undefined;
  /** Key columns and their values as text; null is the NULL key. Left out: all keys. */
  readonly key?: Readonly<Record<string, string | null>> | undefined;
}

export interface QuarantineReport extends RunReport {
  readonly released: number;
  /** Of them, those whose id their window has already: they count nowhere (R5). */
  readonly copies: number;
}

/**
 * Releases and, under `auto`, publishes in one commit; `grace` proposes.
 * @throws Failure, exit code 2, if nothing in quarantine fits: then nothing is done.
 */
export async function releaseQuarantined(
  control: Control,
  rollup: Rollup,
  release: QuarantineRelease,
  options: SpineOptions = {},
): Promise<QuarantineReport> {
  return await releaseBy(runRollup, control, rollup, release, options);
}

/** The same, rolled back before it publishes. @throws as releaseQuarantined */
export async function planQuarantineRelease(
  control: Control,
  rollup: Rollup,
  release: QuarantineRelease,
  options: SpineOptions = {},
): Promise<QuarantineReport> {
  return await releaseBy(planRollup, control, rollup, release, options);
}

async function releaseBy(
  perform: typeof runRollup,
  control: Control,
  rollup: Rollup,
  release: QuarantineRelease,
  options: SpineOptions,
): Promise<QuarantineReport> {
  let found = { released: 0, copies: 0 };
  const report = await perform(control, rollup, {
    ...options,
    verb: 'release',
    actor: release.actor,
    reason: release.reason,
    before: async (run) => {
      const { rows } = await execute<{ released: number; copies: number; unreadable: number }>(
        run.transaction,
        run.statements.releaseQuarantined,
        {
          run_id: run.runId,
          actor: release.actor,
          reason: release.reason,
          event_ids: release.eventIds ?? null,
          key: release.key === undefined ? null : JSON.stringify(release.key),
          bound: run.bound,
        },
      );
      const [row] = rows;
      if (!row || row.released === 0) throw nothingQuarantined(rollup, row?.unreadable ?? 0);
      found = { released: row.released, copies: row.copies };
      await execute(run.transaction, run.statements.pipeline.released);
    },
  });
  return { ...report, ...found };
}

function nothingQuarantined({ settings }: Rollup, unreadable: number): Failure {
  return new Failure(`rollup "${settings.name}" has nothing in quarantine that fits`, {
    detail:
      unreadable > 0
        ? 'a row without a readable event time and ingestion time belongs to no window; nothing was released'
        : 'nothing was released and nothing published',
    hint: `\`errata events ${settings.name} --landing quarantined\` lists what is in quarantine`,
    exitCode: 2,
  });
}
