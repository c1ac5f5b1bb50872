/** What `check` says of bronze itself: how a run would reach its rows, and what a first run over it would cost. */
import type { Rollup } from '../catalog/rollup.ts';
import { formatTableName } from '../config/name.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { Findings } from './findings.ts';
import { estimateFirstRun, type FirstRun } from './first-run.ts';
import { checkIndexes, indexedColumns } from './indexes.ts';
import { plannedRead } from './planned-read.ts';

export async function checkBronze(
  transaction: ControlTransaction,
  rollup: Rollup,
  findings: Findings,
): Promise<FirstRun> {
  const isIndexed = await checkIndexes(transaction, rollup, findings);
  if (!rollup.hasRowAge)
    findings.warn(
      'bronze.table',
      `${formatTableName(rollup.settings.bronze.table)} is a view, a materialized view or a foreign table, whose rows say nothing of their transaction`,
      'rows that become visible with an ingested_at behind the frontier are not seen (R16); name the table behind it if you can',
    );
  return await estimateFirstRun(
    transaction,
    rollup,
    (await plannedRead(transaction, indexedColumns(rollup), rollup)).rows,
    isIndexed,
  );
}
