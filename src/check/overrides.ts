/** Whether a run could follow what the table of overrides says now. */
import { overrideFaults } from '../catalog/overrides.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { formatTableName } from '../config/name.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { Findings } from './findings.ts';

export async function checkOverrides(
  transaction: ControlTransaction,
  rollup: Rollup,
  findings: Findings,
): Promise<void> {
  const { overrides } = rollup.settings.watermark;
  if (!overrides) return;
  for (const said of await overrideFaults(transaction, rollup))
    findings.fault(
      'watermark.overrides.table',
      `in ${formatTableName(overrides.table)} ${said}`,
      'correct the table: a run would refuse to begin',
    );
}
