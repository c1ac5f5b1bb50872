/** Overrides: delays and latenesses by key or source partition, from a table of the user's, read anew by every run (R2, R3). */
import { overrideFaults } from '../catalog/overrides.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupStatements } from '../catalog/statements.ts';
import { formatTableName } from '../config/name.ts';
import { execute } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';

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
