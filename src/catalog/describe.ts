/**
 * Reads from the catalogue what a rollup's bronze is, and says together everything that does not fit (R13, R16).
 * Nothing is written: probes are rolled back.
 */
import { whyUnusable } from '../config/ledger-column.ts';
import type { Duration, RollupSettings, TableName } from '../config/settings.ts';
import { quoteName, quoteTable } from '../db/identifiers.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { describeMeasures } from './measures.ts';
import { describeOverrides } from './overrides.ts';
import { probeExpression, whyNoKey } from './probe.ts';
import type { Column, Measure, Rollup } from './rollup.ts';

export interface Fault {
  /** As in `rollups.daily_orders.bronze.event_time`. */
  readonly place: string;
  readonly line: number;
  readonly fact: string;
  readonly hint: string;
}

interface RelationRow {
  readonly role: string;
  readonly relation_id: string;
  readonly kind: string;
  readonly is_readable: boolean;
  readonly is_reachable: boolean;
  readonly column_name: string;
  readonly column_type: string;
  readonly base_type: string;
  readonly type_id: string;
  readonly is_column_readable: boolean;
}

const relationStatement = prepare('catalog/relation.sql', {});
const partitionColumnStatement = prepare('catalog/partition_columns.sql', {});
const readableKinds = new Set(['r', 'p', 'v', 'm', 'f']);
const timeTypes = new Set(['timestamp with time zone', 'timestamp without time zone', 'date']);

export interface Description {
  /** Undefined where the faults leave nothing to work with. */
  readonly rollup: Rollup | undefined;
  readonly faults: readonly Fault[];
}

export async function describeRollup(
  transaction: ControlTransaction,
  schema: string,
  settings: RollupSettings,
): Promise<Description> {
  const faults: Fault[] = [];
  const { bronze } = settings;
  const fault = (path: string, fact: string, hint: string) =>
    faults.push({ place: `rollups.${settings.name}.${path}`, line: settings.position.line, fact, hint });

  const { rows } = await execute<RelationRow>(transaction, relationStatement, { ...bronze.table });
  const relation = rows[0];
  const tableText = nameText(bronze.table);
  if (!relation || !readableKinds.has(relation.kind)) {
    fault('bronze.table', `there is no table or view ${tableText}`, 'create it, or correct the name');
    return { rollup: undefined, faults };
  }
  if (!relation.is_reachable || !rows.every((row) => row.is_readable || row.is_column_readable)) {
    fault(
      'bronze.table',
      `${tableText} cannot be read by the connected role`,
      `grant usage on schema ${quoteName(bronze.table.schema)} to ${quoteName(relation.role)}; grant select on ${quoteTable(bronze.table)} to ${quoteName(relation.role)}`,
    );
    return { rollup: undefined, faults };
  }

  if (bronze.trackChanges && !['r', 'p'].includes(relation.kind)) {
    fault(
      'bronze.track_changes',
      `${tableText} is no table, so no trigger can follow its changes`,
      'leave it out, and say what changed with `errata amend`',
    );
  }

  const byName = new Map(rows.map((row) => [row.column_name, row]));
  const column = (path: string, name: string): Column => {
    const row = byName.get(name);
    if (!row) {
      fault(path, `${tableText} has no column "${name}"`, `it has: ${[...byName.keys()].join(', ')}`);
      return { name, type: 'text' };
    }
    return { name, type: row.column_type };
  };
  const time = (path: string, name: string): Column => {
    const found = column(path, name);
    const type = byName.get(name)?.base_type;
    if (type && !timeTypes.has(type)) {
      fault(
        path,
        `column "${name}" has type ${found.type}, which is no instant`,
        'name a column of type timestamptz',
      );
    } else if (type && type !== 'timestamp with time zone' && !bronze.timeZone) {
      fault(
        path,
        `column "${name}" has type ${found.type}, which says no time zone`,
        'say which zone it is written in, with bronze.time_zone',
      );
    }
    return found;
  };

  const times = {
    eventTime: time('bronze.event_time', bronze.eventTime),
    ingestedAt: time('bronze.ingested_at', bronze.ingestedAt),
    arrivedAt: bronze.arrivedAt === undefined ? undefined : time('bronze.arrived_at', bronze.arrivedAt),
  };
  const ids = bronze.eventId.map((name) => column('bronze.event_id', name));
  const keys = settings.key.map((name) => column('key', name));
  for (const { name, type } of keys) {
    const row = byName.get(name);
    const reason = row && (await whyNoKey(transaction, row.type_id));
    if (reason)
      fault(
        'key',
        `column "${name}" has type ${type}, which ${reason}`,
        'cast it in a view over bronze, such as to text, and name the view',
      );
  }
  if (bronze.sourcePartition !== undefined) column('bronze.source_partition', bronze.sourcePartition);
  if (bronze.heartbeat !== undefined) {
    const probe = await probeExpression(transaction, bronze.table, `(${bronze.heartbeat})::boolean`);
    if ('refused' in probe)
      fault('bronze.heartbeat', `"${bronze.heartbeat}": ${probe.refused}`, 'write a condition');
  }
  const interval = (path: string, name: string | undefined) => {
    if (name === undefined) return;
    const { type } = column(path, name);
    if (byName.has(name) && byName.get(name)?.base_type !== 'interval')
      fault(
        path,
        `column "${name}" has type ${type}, which is no interval`,
        'name a column of type interval',
      );
  };
  interval('watermark.delay', settings.watermark.delayColumn);
  interval('allowed_lateness', settings.allowedLatenessColumn);
  const overrides = await describeOverrides(transaction, settings, keys, fault);
  const found = await describeMeasures(transaction, settings, fault);

  if (settings.partials) partialFaults(relation.kind, tableText, settings, found.measures, fault);

  const partitionColumns = await execute<{ column_name: string | null; is_expression: boolean }>(
    transaction,
    partitionColumnStatement,
    { relation_id: relation.relation_id },
  );
  const names = new Set([
    ...keys.map((key) => key.name),
    ...ids.map((id) => id.name),
    ...found.columns,
    ...partitionColumns.rows.flatMap((row) => row.column_name ?? []),
  ]);
  const columns = [...names].flatMap((name) => {
    const row = byName.get(name);
    return row ? [{ name, type: row.column_type }] : [];
  });
  for (const { name } of columns) {
    const reason = whyUnusable(name);
    if (reason)
      fault(
        'bronze.table',
        `column "${name}", which the rollup uses, ${reason}`,
        'rename it in a view over bronze, and name the view',
      );
  }
  const rollup: Rollup = {
    settings,
    schema,
    id: 0,
    relationId: relation.relation_id,
    hasRowAge: relation.kind === 'r' || relation.kind === 'p',
    isLockable: relation.is_readable && (relation.kind === 'r' || relation.kind === 'p'),
    keys,
    ids,
    measures: found.measures,
    measured: columns.filter(({ name }) => found.columns.includes(name)),
    columns,
    times,
    overrides,
  };
  return { rollup, faults };
}

function partialFaults(
  kind: string,
  table: string,
  { window }: RollupSettings,
  measures: readonly Measure[],
  fault: AddFault,
): void {
  if (kind !== 'p')
    fault(
      'partials',
      `${table} has no partitions, and partials are kept by ingestion partition`,
      'leave partials out',
    );
  if (window.kind === 'session')
    fault('partials', 'which session a row is in depends on the rows beside it', 'leave partials out');
  for (const { name, expression, mergedBy } of measures) {
    if (mergedBy === undefined)
      fault(
        'partials',
        `measure "${name}", "${expression}", cannot be made from its parts`,
        'write it as one count, min, max or exact sum without DISTINCT, or leave partials out',
      );
  }
}

export function nameText(table: TableName): string {
  return `${table.schema}.${table.name}`;
}

export function microseconds(duration: Duration): string {
  return `${duration.microseconds} microseconds`;
}

export type AddFault = (path: string, fact: string, hint: string) => void;
export type { Measure };
