/** A period by its name, such as `2026-10`: the windows that start in it (R12). */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import type { Span } from './sweep.ts';

/** @throws Failure, exit code 2, for a period that the calendar does not have. */
export async function spanOfPeriod(
  transaction: ControlTransaction,
  rollup: Rollup,
  period: string,
): Promise<Span> {
  const { periods, name } = rollup.settings;
  if (periods.calendar === 'month' && !/^(?!0000)\d{4}-(0[1-9]|1[0-2])$/.test(period))
    throw new Failure(`${JSON.stringify(period)} is not a month`, {
      hint: 'write one as in 2026-10',
      exitCode: 2,
    });
  const statement = prepare('report/reconcile/period.sql', bindingsOf(rollup));
  const { rows } = await execute<Span>(transaction, statement, { period });
  const [span] = rows;
  if (span) return span;
  throw new Failure(`rollup "${name}" has no period ${JSON.stringify(period)}`, {
    hint: 'name a period of the calendar',
    exitCode: 2,
  });
}
