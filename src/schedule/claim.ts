/**
 * A run answers the moments that are due in its own commit, while it holds the rollup. So each is answered once, whatever
 * dies and however many servers there are, and there is no lease that somebody would have to take over.
 */
import type { ScheduleSettings } from '../config/settings.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, prepare } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { RunContext } from '../pipeline/context.ts';
import { type Moments, readDue } from './due.ts';

/** Another run has answered what was due when we looked. */
export class NothingDue extends Failure {}

/** Called as soon as a run holds the rollup: what is due is read again, for another may have been faster. @throws NothingDue */
export async function claim(
  { transaction, rollup, runId }: RunContext,
  schedule: ScheduleSettings,
  now: string,
): Promise<Moments> {
  const { name } = rollup.settings;
  const due = await readDue(transaction, rollup.schema, name, schedule, now);
  const moments = due?.moments;
  if (!moments) throw nothingDue(name);
  const { rows } = await execute(
    transaction,
    prepare('schedule/claim.sql', { schema: quoteName(rollup.schema) }),
    {
      rollup_id: rollup.id,
      due_at: moments.lastDueAt,
      first_due_at: moments.firstDueAt,
      missed: moments.missed,
      run_id: runId,
    },
  );
  if (rows.length === 0) throw nothingDue(name);
  return moments;
}

function nothingDue(name: string): NothingDue {
  return new NothingDue(`nothing is due for rollup "${name}"`, {
    hint: 'another run has answered it; nothing was done',
    exitCode: 4,
  });
}
