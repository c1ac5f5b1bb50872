/** The tables that the stream writes for Errata to read: its result table, its log of watermarks, its refused rows. */
import { formatTableName } from '../config/name.ts';
import type { RefusedSettings, RollupSettings, TableName } from '../config/settings.ts';
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
  if (log) {
    const counter = log.dropped === undefined ? [] : [log.dropped];
    const types = await checkTable(
      transaction,
      'watermark.log',
      log.table,
      [log.at, log.sourcePartition, log.watermark, log.idle, ...counter],
      findings,
    );
    for (const name of counter) {
      const type = types.get(name);
      if (type !== undefined && alike(type) !== 'bigint')
        findings.fault(
          'watermark.log',
          `column "${name}" of ${formatTableName(log.table)} has type ${type}, which is no counter`,
          'make it bigint, or name a view that casts it',
        );
    }
  }
  const { refused } = watermark;
  if (refused) await checkRefused(transaction, settings, refused, findings);
}

/** R2: an entry finds its row by the id, so both have to be written alike; times are instants. */
async function checkRefused(
  transaction: ControlTransaction,
  { bronze }: RollupSettings,
  refused: RefusedSettings,
  findings: Findings,
): Promise<void> {
  const times = [
    refused.eventTime,
    refused.windowStart,
    refused.windowEnd,
    refused.watermark,
    refused.refusedAt,
  ].filter((name) => name !== undefined);
  const wanted = [...refused.eventId, ...times];
  const types = await checkTable(transaction, 'watermark.refused', refused.table, wanted, findings);
  const text = formatTableName(refused.table);
  for (const name of times) {
    const type = types.get(name);
    if (type !== undefined && type !== 'timestamp with time zone')
      findings.fault(
        'watermark.refused',
        `column "${name}" of ${text} has type ${type}, which is no instant`,
        'make it timestamptz, or name a view that casts it',
      );
  }
  const ofBronze = await typesOf(transaction, bronze.table);
  for (const [place, name] of refused.eventId.entries()) {
    const [type, other] = [types.get(name), ofBronze.get(bronze.eventId[place] ?? '')];
    if (type === undefined || other === undefined || alike(type) === alike(other)) continue;
    findings.fault(
      'watermark.refused',
      `column "${name}" of ${text} has type ${type}, and the id in bronze ${other}, so no entry would find its row`,
      `name a view that casts it to ${other}`,
    );
  }
}

/** Types whose values are written alike as text and compare with each other. */
function alike(type: string): string {
  if (['smallint', 'integer', 'bigint'].includes(type)) return 'bigint';
  if (['character varying', 'text'].includes(type)) return 'text';
  return type;
}

async function typesOf(transaction: ControlTransaction, table: TableName): Promise<Map<string, string>> {
  const { rows } = await execute<Found>(transaction, statement, { ...table });
  return mapOf(rows[0]);
}

interface Found {
  readonly is_there: boolean;
  readonly is_readable: boolean;
  readonly columns: readonly string[];
  readonly types: readonly string[];
}

function mapOf(found: Found | undefined): Map<string, string> {
  return new Map(found?.columns.map((name, place) => [name, found.types[place] as string]));
}

/** @returns the type of each of its columns. */
async function checkTable(
  transaction: ControlTransaction,
  path: string,
  table: TableName,
  wanted: readonly string[],
  findings: Findings,
): Promise<Map<string, string>> {
  const { rows } = await execute<Found>(transaction, statement, { ...table });
  const [found] = rows;
  const text = formatTableName(table);
  if (!found?.is_there) {
    findings.fault(path, `there is no table or view ${text}`, 'create it, or correct the name');
    return new Map();
  }
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
  return mapOf(found);
}
