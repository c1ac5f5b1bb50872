/**
 * What the roles of the settings may do, as one list: `migrate` grants it, `check` compares it, `grants` prints it.
 *
 *     stream    inserts version 1 where it seals, and entries of the log that `migrate` makes; reads nothing
 *     reader    the views and `_as_of`, and what `_live` calls; not the ledger, so that nobody adds up its versions
 *     auditor   reads what the reader reads, the ledger, late events, and Errata's private tables; writes nothing
 *
 * The job's role owns everything, so it needs no grant; views run with its rights.
 */
import type { RoleSettings, RollupSettings, TableName } from '../config/settings.ts';
import { joinSql, quoteName, quoteTable, type Sql, trustedSql } from '../db/identifiers.ts';
import { controlTables } from '../db/migrator.ts';
import { namesOf } from './relations.ts';

export interface Right {
  readonly role: string;
  readonly kind: 'schema' | 'table' | 'function';
  readonly schema: string;
  /** Empty for a schema. */
  readonly name: string;
  /** Empty: the whole table. */
  readonly columns: readonly string[];
  readonly privilege: 'usage' | 'select' | 'insert' | 'execute';
}

type Relation = keyof ReturnType<typeof namesOf>;

const views: readonly Relation[] = [
  'sealed',
  'latest',
  'live',
  'history',
  'journal',
  'side_output',
  'reconciliation',
];
/** `_live` calls the second: PostgreSQL asks for the reader's right on it, though the view is the job's. */
const readersFunctions: readonly Relation[] = ['as_of', 'as_of_mark', 'changes', 'open_windows'];
const auditedTables: readonly Relation[] = [
  'ledger',
  'late_event',
  'touched',
  'copy',
  'emission',
  'source_change',
  'evidence',
  'unchained',
  'past_state',
];
/** Where windows are sessions. */
const sessionTables: readonly Relation[] = ['session_key', 'session', 'session_row', 'session_part'];

const partialTables: readonly Relation[] = ['partial', 'partial_partition'];

function tablesOf({ watermark, window, partials }: RollupSettings): readonly Relation[] {
  return [
    ...auditedTables,
    ...(hasOwnLog(watermark) ? (['watermark_log'] as const) : []),
    ...(watermark.overrides ? (['override'] as const) : []),
    ...(window.kind === 'session' ? sessionTables : []),
    ...(partials ? partialTables : []),
  ];
}

/** The log that `migrate` makes. */
function hasOwnLog({ strategy, log }: RollupSettings['watermark']): boolean {
  return strategy === 'recorded' && log === undefined;
}

/** They run with the auditor's own rights: what reads bronze needs a right on bronze too. */
const auditedFunctions: readonly Relation[] = ['source', 'windows', 'unsealed_from', 'starting_from'];
/** What only the job calls, or a trigger. */
const jobsFunctions: readonly Relation[] = [
  'track_changes',
  'refuse_change',
  'accept_seal',
  'check_versions',
  'date_state',
  'keep_state',
  'regroup_sessions',
  'fold_sessions',
  'write_sessions',
];
const sharedFunctions = ['calendar_window_at_change', 'calendar_window'];
const jobsSharedFunctions = [
  'combine_watermark',
  'refuse_act_change',
  'refuse_period_change',
  'refuse_reconciliation_change',
  'keep_past_proposal',
];

/** @param rollups of the settings, migrated or not: what is not there is passed over by whoever grants. */
export function rightsOf(schema: string, roles: RoleSettings, rollups: readonly RollupSettings[]): Right[] {
  const { stream, reader, auditor } = roles;
  const readers = [reader, auditor].filter((role) => role !== undefined);
  const rights = rollups.flatMap((settings) => {
    const names = namesOf({ settings, schema });
    const usage = (role: string) => schemaRight(role, settings.gold.schema);
    return [
      ...(stream === undefined ? [] : streamRights(stream, settings, names)),
      ...readers.flatMap((role) => [
        usage(role),
        ...views.map((view) => tableRight(role, names[view], 'select')),
        ...readersFunctions.map((name) => functionRight(role, names[name])),
      ]),
      ...(auditor === undefined
        ? []
        : [
            ...tablesOf(settings).map((table) => tableRight(auditor, names[table], 'select')),
            ...auditedFunctions.map((name) => functionRight(auditor, names[name])),
          ]),
    ];
  });
  if (auditor !== undefined)
    rights.push(
      schemaRight(auditor, schema),
      ...controlTables().map((name) => tableRight(auditor, { schema, name }, 'select')),
      ...sharedFunctions.map((name) => functionRight(auditor, { schema, name })),
    );
  // Several rollups may lie in one schema.
  return [...new Map(rights.map((right) => [JSON.stringify(right), right])).values()];
}

function streamRights(role: string, settings: RollupSettings, names: ReturnType<typeof namesOf>): Right[] {
  const { seal, watermark, key, measures, gold } = settings;
  const rights: Right[] = [];
  if (seal.by === 'stream') {
    // No other column: `version`, `kind` and `run_id` are not the stream's to say. `event_count` serves where no measure counts.
    const columns = [
      'window_start',
      'window_end',
      ...key,
      ...measures.map(({ name }) => name),
      'event_count',
    ];
    rights.push({ ...tableRight(role, names.ledger, 'insert'), columns });
  }
  if (hasOwnLog(watermark)) rights.push(tableRight(role, names.watermark_log, 'insert'));
  return rights.length === 0 ? [] : [schemaRight(role, gold.schema), ...rights];
}

/** Every relation, sequence and function that Errata makes for these rollups, and the control tables. */
export function ownedNames(
  schema: string,
  rollups: readonly RollupSettings[],
): { readonly kind: 'table' | 'function'; readonly table: TableName }[] {
  const functions = [...readersFunctions, ...auditedFunctions, ...jobsFunctions];
  const as = (kind: 'table' | 'function') => (table: TableName) => ({ kind, table });
  const inControl = (names: readonly string[]) => names.map((name) => ({ schema, name }));
  return [
    ...rollups.flatMap((settings) => {
      const names = namesOf({ settings, schema });
      return [
        ...[...views, ...tablesOf(settings), 'last_stamp' as const]
          .map((name) => names[name])
          .map(as('table')),
        ...functions.map((name) => names[name]).map(as('function')),
      ];
    }),
    ...inControl([...controlTables(), 'kysely_migration', 'kysely_migration_lock']).map(as('table')),
    ...inControl([...sharedFunctions, ...jobsSharedFunctions]).map(as('function')),
  ];
}

export function grantSql({ role, kind, schema, name, columns, privilege }: Right): Sql {
  const what = columns.length === 0 ? privilege : `${privilege} (${joinSql(columns.map(quoteName), ', ')})`;
  return trustedSql(`grant ${what} on ${objectSql(kind, { schema, name })} to ${quoteName(role)}`);
}

export function objectSql(kind: Right['kind'], table: TableName): string {
  if (kind === 'schema') return `schema ${quoteName(table.schema)}`;
  return kind === 'function' ? `function ${quoteTable(table)}` : quoteTable(table);
}

function schemaRight(role: string, schema: string): Right {
  return { role, kind: 'schema', schema, name: '', columns: [], privilege: 'usage' };
}

function tableRight(role: string, table: TableName, privilege: 'select' | 'insert'): Right {
  return { role, kind: 'table', ...table, columns: [], privilege };
}

function functionRight(role: string, table: TableName): Right {
  return { role, kind: 'function', ...table, columns: [], privilege: 'execute' };
}
