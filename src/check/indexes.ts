/** Whether an index serves the recompute: led by the event time, or by the key and then the event time. */
import { servingIndexes } from '../catalog/indexes.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { formatTableName } from '../config/name.ts';
import { quoteName, quoteTable, quoteText, type Sql } from '../db/identifiers.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { bytesText } from '../output/bytes.ts';
import type { Findings } from './findings.ts';
import type { PlannedRead } from './planned-read.ts';

/** A B-tree entry: 8 bytes of header and about as many of alignment, in pages that are 90 % full. */
const entryBytes = 16;

/** The key and the event time, as an index has to have them for the recompute: without a zone it is an expression. */
export function indexedColumns({ settings, keys, times }: Rollup): Sql[] {
  const name = quoteName(times.eventTime.name);
  const zone = quoteText(settings.bronze.timeZone ?? 'UTC');
  const type = times.eventTime.type;
  const time = type.endsWith('with time zone')
    ? name
    : `((${name}${type === 'date' ? '::timestamp' : ''} at time zone ${zone}))`;
  return [...keys.map((key) => quoteName(key.name)), time as Sql];
}

/** @returns whether every leaf of bronze has an index that begins with the event time. */
export async function checkIndexes(
  transaction: ControlTransaction,
  rollup: Rollup,
  size: PlannedRead,
  findings: Findings,
): Promise<boolean> {
  const { leaves, leadWithTime, serve } = await servingIndexes(transaction, rollup);
  if (leaves.length > 0 && !serve) {
    const { table } = rollup.settings.bronze;
    const partitioned = leaves.length > 1 || leaves[0] !== rollup.relationId;
    const bytes = Math.ceil((size.rows * (entryBytes + size.width)) / 0.9);
    findings.warn(
      'bronze.table',
      `no index of ${formatTableName(table)} serves the recompute, so each run that corrects reads all of it`,
      `create index ${partitioned ? '' : 'concurrently '}on ${quoteTable(table)} (${indexedColumns(rollup).join(', ')}); about ${bytesText(bytes)}`,
    );
  }
  return leadWithTime;
}
