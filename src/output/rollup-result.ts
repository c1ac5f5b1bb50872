/** What came of one rollup: a report, or the failure that stopped it. */
import type { Environment } from '../config/environment.ts';
import type { Failure } from '../failure.ts';
import type { RunReport } from '../pipeline/report.ts';
import { PausedRollup } from '../publication/acts.ts';
import { failureData } from './failure-text.ts';

export type RollupResult =
  | { readonly rollup: string; readonly report: RunReport; readonly failure?: undefined }
  | { readonly rollup: string; readonly report?: undefined; readonly failure: Failure };

/** As `--json` prints it. `changes` are left out where one line must stay short. */
export function resultData(
  result: RollupResult,
  environment: Environment,
  parts: { readonly changes: boolean },
): object {
  if (result.failure) {
    return {
      rollup: result.rollup,
      outcome: outcomeOf(result),
      error: failureData(result.failure, environment),
    };
  }
  const { changes, rollup, ...report } = result.report;
  return { rollup, outcome: outcomeOf(result), ...report, ...(parts.changes ? { changes } : {}) };
}

/** `done`, `attention` (something needs a person), `paused`, `locked` (another run holds it) or `failed`. */
export function outcomeOf({
  report,
  failure,
}: RollupResult): 'done' | 'attention' | 'paused' | 'locked' | 'failed' {
  if (failure instanceof PausedRollup) return 'paused';
  if (failure) return failure.exitCode === 4 ? 'locked' : 'failed';
  return report.needsAttention ? 'attention' : 'done';
}
