/**
 * A rollup as its own relations describe it. What only reads needs no more, and must work when bronze is gone or no
 * longer fits: that is when somebody asks for the status.
 */
import { relationsOf } from '../catalog/relations.ts';
import type { Column, Measure, Overrides, Rollup } from '../catalog/rollup.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import { quoteName } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';

interface PublishedColumn {
  readonly relation: 'ledger' | 'reconciliation';
  readonly column_name: string;
  readonly column_type: string;
}

const numericTypes = /^(smallint|integer|bigint|real|double precision|numeric(\(.*\))?)$/;

/** Fit for the statements of `sql/report/`; not for those that read bronze's columns. @throws Failure, exit code 2. */
export async function publishedRollup(
  transaction: ControlTransaction,
  settings: Settings,
  chosen: RollupSettings,
): Promise<Rollup> {
  const id = await knownId(transaction, settings.schema, chosen.name);
  if (id === undefined) throw notMigrated(settings, chosen);
  const { rows } = await execute<PublishedColumn>(transaction, prepare('report/published_columns.sql', {}), {
    gold_schema: chosen.gold.schema,
    gold_name: chosen.gold.name,
  });
  const types = new Map(
    rows.flatMap((row) => (row.relation === 'ledger' ? [[row.column_name, row.column_type] as const] : [])),
  );
  const reconciled = new Set(rows.flatMap((row) => (row.relation === 'ledger' ? [] : row.column_name)));
  const missing = chosen.key.filter((name) => !types.has(name));
  if (types.size === 0 || missing.length > 0) throw changed(settings, chosen);
  const overrides = await publishedOverrides(transaction, settings.schema, chosen);
  const time = (name: string): Column => ({ name, type: 'timestamp with time zone' });
  const { bronze } = chosen;
  return {
    settings: chosen,
    schema: settings.schema,
    id,
    relationId: '0',
    hasRowAge: false,
    isLockable: false,
    keys: chosen.key.map((name) => ({ name, type: types.get(name) as string })),
    ids: [],
    measures: chosen.measures.flatMap((measure): Measure[] => {
      const type = types.get(measure.name);
      if (type === undefined) return [];
      return [
        {
          name: measure.name,
          type,
          expression: measure.expression,
          tolerance: measure.tolerance,
          // The view splits corrections only of what adds up.
          isAdditive: reconciled.has(`corrections_${measure.name}`),
          isNumeric: numericTypes.test(type),
          isCountOfRows: false,
          mergedBy: undefined,
        },
      ];
    }),
    measured: [],
    columns: [],
    times: {
      eventTime: time(bronze.eventTime),
      ingestedAt: time(bronze.ingestedAt),
      arrivedAt: bronze.arrivedAt === undefined ? undefined : time(bronze.arrivedAt),
    },
    overrides,
  };
}

/** As they were when the rollup was migrated, whatever the file says now. */
async function publishedOverrides(
  transaction: ControlTransaction,
  schema: string,
  chosen: RollupSettings,
): Promise<Overrides | undefined> {
  const { rows } = await execute<{ column_name: string; column_type: string }>(
    transaction,
    prepare('catalog/relation.sql', {}),
    { schema, name: `${chosen.name}_override` },
  );
  if (rows.length === 0) return undefined;
  const by = rows
    .filter(({ column_name: name }) => !name.startsWith('errata_'))
    .map(({ column_name: name, column_type: type }) => ({ name, type }));
  const isByKey = by.some(({ name }) => name !== 'source_partition');
  return { by, isByKey, hasDelay: isByKey, hasLateness: true };
}

async function knownId(
  transaction: ControlTransaction,
  schema: string,
  name: string,
): Promise<number | undefined> {
  const table = `${quoteName(schema)}.rollup`;
  const [there] = await query<{ is_there: boolean }>(
    transaction,
    'select to_regclass($1) is not null as is_there',
    [table],
  );
  if (!there?.is_there) return undefined;
  const [row] = await query<{ id: number }>(
    transaction,
    `select r.rollup_id as id from ${table} as r where r.name = $1`,
    [name],
  );
  return row?.id;
}

function notMigrated(settings: Settings, chosen: RollupSettings): Failure {
  return new Failure(`rollup "${chosen.name}" is not in the database yet`, {
    detail: `schema "${settings.schema}" knows nothing of it (${settings.file}:${chosen.position.line})`,
    hint: 'run `errata migrate`',
    exitCode: 2,
  });
}

function changed(settings: Settings, chosen: RollupSettings): Failure {
  return new Failure(`the ledger of rollup "${chosen.name}" is not what the settings say`, {
    detail: `${relationsOf({ settings: chosen, schema: settings.schema } as Rollup).ledger} lacks a key column (${settings.file}:${chosen.position.line})`,
    hint: 'run `errata migrate`: it says what can be changed in place',
    exitCode: 2,
  });
}
