/** After a failure a rollup waits: a minute, two, four, at most an hour. It stands in the database, so a restart keeps it. */
import { quoteName } from '../db/identifiers.ts';
import { type Executor, execute, prepare } from '../db/statement.ts';

export interface BackOff {
  /** In succession. */
  readonly failures: number;
  readonly next_attempt_at: string;
}

export async function backOff(
  executor: Executor,
  schema: string,
  rollupId: number,
  now: string,
  error: string,
): Promise<BackOff> {
  const { rows } = await execute<BackOff>(
    executor,
    prepare('schedule/back_off.sql', { schema: quoteName(schema) }),
    { rollup_id: rollupId, now, error },
  );
  return rows[0] as BackOff;
}
