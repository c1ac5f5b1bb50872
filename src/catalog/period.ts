/** Periods: a name such as `2026-10` and the span of windows that it means (R12): those whose start lies in it. */
import type { PeriodSettings } from '../config/settings.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';

export interface Period {
  readonly name: string;
  /** Instants as text, half-open. */
  readonly from: string;
  readonly to: string;
}

/** A calendar month in the zone of the settings. @throws Failure, exit code 2, for a name that is no month. */
export async function periodOf(
  transaction: ControlTransaction,
  { timeZone }: PeriodSettings,
  name: string,
): Promise<Period> {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(name) || name.startsWith('0000'))
    throw new Failure(`${JSON.stringify(name)} is no period`, {
      hint: 'periods are calendar months; write one as 2026-10',
      exitCode: 2,
    });
  const [bounds] = await query<{ from: string; to: string }>(
    transaction,
    `select (m.start at time zone $2)::text as "from", ((m.start + interval '1 month') at time zone $2)::text as "to"
     from (select ($1 || '-01')::timestamp as start) as m`,
    [name, timeZone],
  );
  return { name, ...(bounds as { from: string; to: string }) };
}
