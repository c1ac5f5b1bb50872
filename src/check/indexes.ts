/** Whether indexes serve the recompute, and the look-up of late ids. */
import { servingIndexes } from '../catalog/indexes.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { formatTableName } from '../config/name.ts';
import { quoteName, quoteTable, quoteText, type Sql } from '../db/identifiers.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { bytesText } from '../output/bytes.ts';
import type { Findings } from './findings.ts';
import { plannedRead } from './planned-read.ts';

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
  findings: Findings,
): Promise<boolean> {
  const { leaves, leadWithTime, serve, leadWithId } = await servingIndexes(transaction, rollup);
  if (leaves.length === 0) return leadWithTime;
  const { table } = rollup.settings.bronze;
  const isPartitioned = leaves.length > 1 || leaves[0] !== rollup.relationId;
  const propose = async (columns: readonly Sql[]) => {
    const size = await plannedRead(transaction, columns, rollup);
    const bytes = Math.ceil((size.rows * (entryBytes + size.width)) / 0.9);
    return `create index ${isPartitioned ? '' : 'concurrently '}on ${quoteTable(table)} (${columns.join(', ')}); about ${bytesText(bytes)}, and docs/operations.md has its price at load`;
  };
  if (!serve)
    findings.warn(
      'bronze.table',
      `no index of ${formatTableName(table)} serves the recompute, so each run that corrects reads all of it`,
      await propose(indexedColumns(rollup)),
    );
  const [id, ...more] = rollup.ids;
  if (id && more.length === 0 && !leadWithId && rollup.hasRowAge)
    findings.warn(
      'bronze.event_id',
      `no index of ${formatTableName(table)} begins with ${id.name}, so a run with late rows may read all of it for their copies, and asks for their ids in no other window`,
      await propose([quoteName(id.name)]),
    );
  return leadWithTime;
}
