/** Overrides: delays and latenesses by key or source partition, from a table of the user's, read anew by every run (R2, R3). */
import { overrideFaults } from '../catalog/overrides.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupStatements } from '../catalog/statements.ts';
import { formatTableName } from '../config/name.ts';
import { execute, query, type Statement } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import type { RunContext } from './context.ts';

/** @throws Failure, exit code 2, if a key stands in the table twice, or with what is no span of time. */
export async function readOverrides(
  transaction: ControlTransaction,
  rollup: Rollup,
  statements: RollupStatements,
): Promise<void> {
  const { overrides } = rollup.settings.watermark;
  if (!overrides || !statements.overrides) return;
  const faults = await overrideFaults(transaction, rollup);
  if (faults.length > 0) {
    throw new Failure(`the overrides of rollup "${rollup.settings.name}" cannot be followed`, {
      detail: `in ${formatTableName(overrides.table)}: ${faults.join('; ')}`,
      hint: 'correct the table; nothing was done',
      exitCode: 2,
    });
  }
  await execute(transaction, statements.overrides.overrides);
}

/** Where nothing may be sealed: each key stays where it was, and its delay is taken up by a later run. */
export async function sealNoKey({ transaction }: RunContext, read: Statement): Promise<void> {
  await query(transaction, 'drop table pg_temp.errata_override');
  await execute(transaction, read);
  await query(
    transaction,
    'update pg_temp.errata_override set errata_sealed_until = errata_sealed_before, errata_is_listed = true',
  );
  await query(transaction, 'truncate pg_temp.errata_sealing_span');
}
