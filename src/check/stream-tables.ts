/** The tables that the stream writes for Errata to read: its result table, and its log of watermarks. */
import { formatTableName } from '../config/name.ts';
import type { RollupSettings, TableName } from '../config/settings.ts';
import { quoteTable } from '../db/identifiers.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { Findings } from './findings.ts';

const statement = prepare('check/columns.sql', {});

/** Whether they are there, can be read, and have the columns that are read. */
export async function checkStreamTables(
  transaction: ControlTransaction,
  settings: RollupSettings,
  findings: Findings,
): Promise<void> {
  const { seal, watermark, key, measures } = settings;
  if (seal.by === 'table')
    await checkTable(
      transaction,
      'seal.from',
      seal.table,
      ['window_start', ...key, ...measures.map(({ name }) => name)],
      findings,
    );
  const { log } = watermark;
  if (log)
    await checkTable(
      transaction,
      'watermark.log',
      log.table,
      [log.at, log.sourcePartition, log.watermark, log.idle],
      findings,
    );
}

async function checkTable(
  transaction: ControlTransaction,
  path: string,
  table: TableName,
  wanted: readonly string[],
  findings: Findings,
): Promise<void> {
  const { rows } = await execute<{ is_there: boolean; is_readable: boolean; columns: string[] }>(
    transaction,
    statement,
    { ...table },
  );
  const [found] = rows;
  const text = formatTableName(table);
  if (!found?.is_there)
    return findings.fault(path, `there is no table or view ${text}`, 'create it, or correct the name');
  if (!found.is_readable)
    findings.fault(
      path,
      `${text} cannot be read by the connected role`,
      `grant usage on its schema and select on ${quoteTable(table)} to it`,
    );
  const missing = wanted.filter((name) => !found.columns.includes(name));
  if (missing.length > 0)
    findings.fault(
      path,
      `${text} has no column "${missing.join('", "')}"`,
      `it has: ${found.columns.join(', ')}`,
    );
}
