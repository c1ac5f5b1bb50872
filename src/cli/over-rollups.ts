/** The same work for each of several rollups, one after the other; one that fails does not stop the others. */
import { openRollup, selectRollups } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupSettings } from '../config/settings.ts';
import type { Failure } from '../failure.ts';
import { databaseFailure } from '../output/database-failure.ts';
import { defect } from '../output/failure-text.ts';
import { type Progress, withProgress } from '../output/progress.ts';
import type { RollupResult } from '../output/rollup-result.ts';
import type { RunReport } from '../pipeline/report.ts';
import { PausedRollup } from '../publication/acts.ts';
import type { Context } from './context.ts';
import type { OpenDatabase } from './database.ts';
import { type ExitCode, smallestTrue } from './exit-code.ts';

export type RollupWork = (
  database: OpenDatabase,
  rollup: Rollup,
  onStage: (stage: string, detail?: string) => void,
) => Promise<RunReport>;

/** @param names rollups; none: all of the file. @throws Failure, exit code 2, for a name that the file does not have. */
export async function overRollups(
  context: Context,
  names: readonly string[],
  work: RollupWork,
): Promise<RollupResult[]> {
  const settings = context.settings();
  const chosen = selectRollups(settings, names);
  const database = await context.open();
  const one = async (rollup: RollupSettings, progress: Progress): Promise<RollupResult> => {
    try {
      const opened = await openRollup(database.control, settings, rollup);
      return { rollup: rollup.name, report: await work(database, opened, progress.stage) };
    } catch (error) {
      // What a signal cancelled is no failure of the rollup's; the frame says what happened.
      if (context.signal.aborted) throw error;
      return { rollup: rollup.name, failure: failureOf(error, rollup) };
    }
  };
  return await withProgress(context, chosen, one);
}

export function exitCodeOf(results: readonly RollupResult[]): ExitCode {
  return smallestTrue(
    results.map(({ report, failure }) =>
      failure instanceof PausedRollup ? 0 : (failure?.exitCode ?? (report?.needsAttention ? 3 : 0)),
    ),
  );
}

/** The failure with the rollup's name and measures in it. */
function failureOf(error: unknown, rollup: RollupSettings): Failure {
  const measures = rollup.measures.map(({ name, expression }) => `${name}: ${expression}`);
  return databaseFailure(error, { rollup: rollup.name, measures }) ?? defect(error);
}
