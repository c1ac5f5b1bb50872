/** Classify: each new row lands open, in a late firing, in the side output or in quarantine (R3, R4); most land open. */
import { microseconds } from '../catalog/describe.ts';
import { execute, query } from '../db/statement.ts';
import type { Reading, RunContext } from './context.ts';
import { recallRefused } from './refused.ts';
import { releasedCauses } from './released-causes.ts';
import { parametersOf } from './scan.ts';
import { hasSessions, joinSessions } from './sessions.ts';

/** @returns how many rows are late, straggling or quarantined; they stand in pg_temp.errata_candidate. */
export async function classify(run: RunContext, readings: readonly Reading[]): Promise<number> {
  const { settings, id } = run.rollup;
  const { strategy, delay } = settings.watermark;
  const isSession = hasSessions(run.rollup);
  const isExternal = strategy === 'external';
  if (isExternal) await recallRefused(run);
  let candidates = isSession
    ? await joinSessions(run, readings, releasedCauses[settings.publish.policy].includes('refused'))
    : 0;
  for (const reading of readings) {
    const { summary, partition } = reading;
    const parameters = parametersOf(run, reading);
    if (summary.oldest_ingested_at !== null && isExternal && !isSession) {
      const refused = run.statements.withConstraint('classify_refused', partition.constraint_text);
      const about = { ...parameters, rollup_id: id, sealed_before: run.sealedBefore };
      candidates += (await execute(run.transaction, refused, about)).count;
    } else if (summary.oldest_ingested_at !== null && !isSession) {
      const { count } = await execute(
        run.transaction,
        run.statements.withConstraint('classify', partition.constraint_text),
        {
          ...parameters,
          rollup_id: id,
          oldest: summary.oldest_ingested_at,
          allowed_lateness: microseconds(settings.allowedLateness),
          sealed_before: run.sealedBefore,
          fixed_delay: strategy === 'fixed_delay' && delay ? microseconds(delay) : null,
        },
      );
      candidates += count;
    }
    if (summary.quarantined !== '0') {
      const quarantine = run.statements.withConstraint('quarantine', partition.constraint_text);
      candidates += (await execute(run.transaction, quarantine, parameters)).count;
    }
  }
  if (candidates > 0 || isExternal) await query(run.transaction, 'analyze pg_temp.errata_candidate');
  return candidates;
}
