/**
 * Settings that `errata.yaml` may say and this version does not carry out. They are refused before anything is made:
 * a number published as if they had been heeded would be wrong.
 */
import { formatTableName } from '../config/name.ts';
import type { RollupSettings, TableName } from '../config/settings.ts';
import { quoteName, quoteTable } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { Fault } from './describe.ts';

/** Faults of the settings alone; empty: all of it is carried out. */
export function notCarriedOut(settings: RollupSettings): Fault[] {
  const { window, watermark, publish, bronze } = settings;
  const faults: Fault[] = [];
  const refuse = (path: string, what: string, instead: string) =>
    faults.push(faultOf(settings, path, `${what} not carried out yet`, instead));
  if (window.kind === 'session')
    refuse('window', 'session windows are', 'write tumbling, hopping or calendar windows');
  if (watermark.strategy === 'external')
    refuse('watermark.strategy', 'the strategy external is', 'write bounded, fixed_delay or recorded');
  if (watermark.combine !== 'min')
    refuse('watermark.combine', `combine: ${watermark.combine} is`, 'leave it out');
  if (watermark.hold.microseconds > 0n)
    refuse('watermark.hold', 'waiting for the log is', 'leave hold out, and let the schedule run later');
  if (publish.policy === 'review')
    refuse('publish.policy', 'the policy review is', 'write grace: refused rows then await a person');
  if (Object.keys(publish.reviewBeyond).length > 0)
    refuse('publish.review_beyond', 'thresholds are', 'leave review_beyond out');
  if (publish.horizon !== undefined) refuse('publish.horizon', 'a horizon is', 'leave it out');
  if (
    bronze.sourcePartition !== undefined &&
    watermark.idleAfter !== undefined &&
    watermark.strategy !== 'fixed_delay'
  )
    refuse('watermark.idle_after', 'idle source partitions are', 'leave idle_after out');
  return faults;
}

/** Rows looked at to find a second source partition: a few milliseconds, whatever the size of the table. */
const sampled = 10_000;

/**
 * One watermark serves all source partitions so far, so under `bounded` bronze, and under `recorded` the log, must have
 * no more than one. A second one that the sample misses, or that comes later, is not noticed here.
 */
export async function severalSourcePartitions(
  transaction: ControlTransaction,
  settings: RollupSettings,
): Promise<Fault[]> {
  const { bronze, watermark, gold } = settings;
  if (watermark.strategy === 'recorded') {
    const table = watermark.log?.table ?? { schema: gold.schema, name: `${gold.name}_watermark_log` };
    const column = watermark.log?.sourcePartition ?? 'source_partition';
    return await refuseSeveral(transaction, settings, 'watermark.log', table, column);
  }
  if (watermark.strategy !== 'bounded' || bronze.sourcePartition === undefined) return [];
  return await refuseSeveral(
    transaction,
    settings,
    'bronze.source_partition',
    bronze.table,
    bronze.sourcePartition,
  );
}

async function refuseSeveral(
  transaction: ControlTransaction,
  settings: RollupSettings,
  path: string,
  table: TableName,
  column: string,
): Promise<Fault[]> {
  const [there] = await query(
    transaction,
    'select from pg_catalog.pg_attribute as a where a.attrelid = to_regclass($1) and a.attname = $2 and not a.attisdropped',
    [quoteTable(table), column],
  );
  // Errata's own log comes with `migrate`; what is missing otherwise has a fault of its own.
  if (!there) return [];
  const [row] = await query<{ found: number }>(
    transaction,
    `select count(distinct b.source_partition)::integer as found
     from (select ${quoteName(column)}::text as source_partition from ${quoteTable(table)} limit ${sampled}) as b`,
  );
  if ((row?.found ?? 0) < 2) return [];
  const fact = `watermarks of several source partitions are not carried out yet, and ${formatTableName(table)} has ${row?.found} of them`;
  const instead =
    settings.watermark.strategy === 'bounded'
      ? 'leave source_partition out if the stream had one watermark over all rows, or write fixed_delay'
      : 'let the log hold the one watermark that the stream combined';
  return [faultOf(settings, path, fact, instead)];
}

function faultOf(settings: RollupSettings, path: string, fact: string, hint: string): Fault {
  return { place: `rollups.${settings.name}.${path}`, line: settings.position.line, fact, hint };
}
