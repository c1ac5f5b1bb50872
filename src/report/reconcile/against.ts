/** A table of totals kept elsewhere, such as what was mailed or what a warehouse holds: which of the figures it has. */
import { bindingsOf } from '../../catalog/bindings.ts';
import { nameText } from '../../catalog/describe.ts';
import type { Measure, Rollup } from '../../catalog/rollup.ts';
import { readTableName } from '../../config/name.ts';
import type { TableName } from '../../config/settings.ts';
import { joinSql, quoteName, quoteTable, type Sql, trustedSql } from '../../db/identifiers.ts';
import type { Bindings } from '../../db/sql.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import { attempt } from '../attempt.ts';
import type { Reach } from './sweep.ts';

export interface Outside {
  readonly table: TableName;
  /** A column of the rollup to one of the table, where they differ. */
  readonly columns: ReadonlyMap<string, string>;
}

/** Keyed windows, each counted once: where it equals several, as the first of them. */
export interface OutsideCounts {
  readonly latest: string;
  readonly sealed: string;
  readonly older_version: string;
  readonly bronze: string;
  readonly nothing_of_ours: string;
  readonly missing_outside: string;
  readonly only_outside: string;
}

/** Of one keyed window that does not equal the latest version. */
export interface OutsideFigures {
  readonly side: 'both' | 'ours' | 'outside';
  readonly equals: readonly ('sealed' | 'version' | 'latest' | 'bronze')[];
  /** The versions that it equals, and when each was the latest; null: it still is. */
  readonly versions: readonly {
    readonly version: number;
    readonly from: string;
    readonly until: string | null;
  }[];
  readonly measures: Readonly<
    Record<string, Readonly<Record<'outside' | 'sealed' | 'latest' | 'bronze', string | null>>>
  >;
}

/** @param columns `revenue=total_eur`, each a column of the rollup and its name in the table. @throws Failure, exit code 2. */
export function readOutside(table: string, columns: readonly string[]): Outside {
  const reading = readTableName(table);
  if ('wrong' in reading) throw refused(`--against ${JSON.stringify(table)} ${reading.wrong}`);
  const pairs = columns
    .flatMap((list) => list.split(','))
    .map((pair) => {
      const split = pair.indexOf('=');
      if (split <= 0 || split === pair.length - 1)
        throw refused(`--columns ${JSON.stringify(pair)} is no pair`, 'write revenue=total_eur');
      return [pair.slice(0, split).trim(), pair.slice(split + 1).trim()] as const;
    });
  return { table: reading.value, columns: new Map(pairs) };
}

/** Reads the table, and compares it with what `sweep` has judged. @throws Failure, exit code 2, if it does not fit. */
export async function compareOutside(
  transaction: ControlTransaction,
  rollup: Rollup,
  outside: Outside,
  reach: Reach,
  key: string | null,
): Promise<OutsideCounts> {
  const bindings = { ...bindingsOf(rollup), ...(await outsideBindings(transaction, rollup, outside)) };
  const run = async <Row>(file: string, values: Record<string, string | null> = {}) =>
    (await execute<Row>(transaction, prepare(`report/reconcile/${file}.sql`, bindings), values)).rows;
  const { error } = await attempt(transaction, () => run('outside_read'));
  if (error !== null)
    throw refused(
      `${nameText(outside.table)} cannot be read`,
      'name a view that has the types of the rollup',
      error,
    );
  const twice = await run<{ window_start: string; key: Record<string, string | null>; rows: string }>(
    'outside_twice',
  );
  const [first] = twice;
  if (first)
    throw refused(
      `${nameText(outside.table)} has keyed windows more than once`,
      'name a view that has each once',
      `such as ${first.window_start} ${Object.values(first.key).join(', ')}, ${first.rows} rows`,
    );
  const { window } = rollup.settings;
  await run('outside_compare', {
    swept_from: reach.swept_from,
    swept_to: reach.swept_to,
    zone: window.kind === 'calendar' ? window.timeZone : 'UTC',
    key,
  });
  return (await run<OutsideCounts>('outside_counts'))[0] as OutsideCounts;
}

async function outsideBindings(
  transaction: ControlTransaction,
  rollup: Rollup,
  { table, columns }: Outside,
): Promise<Bindings> {
  const { rows } = await execute<{ column_name: string; base_type: string; is_readable: boolean }>(
    transaction,
    prepare('catalog/relation.sql', {}),
    { schema: table.schema, name: table.name },
  );
  const text = nameText(table);
  if (rows.length === 0) throw refused(`there is no table or view ${text}`, 'correct --against');
  if (!rows.every(({ is_readable: isReadable }) => isReadable))
    throw refused(
      `${text} cannot be read by the connected role`,
      `grant select on ${quoteTable(table)} to it`,
    );
  const types = new Map(rows.map((row) => [row.column_name, row.base_type]));
  const keys = rollup.keys.map(({ name }) => name);
  const measures = rollup.measures.map(({ name }) => name);
  const known = ['window_start', 'window_end', 'local_date', ...keys, ...measures];
  const nameOf = (name: string) => columns.get(name) ?? name;
  const has = (name: string) => types.has(nameOf(name));
  const faults = [
    ...[...columns].flatMap(([name, column]) => [
      ...(known.includes(name) ? [] : [`--columns ${name}=${column}: the rollup has no column "${name}"`]),
      ...(types.has(column) ? [] : [`--columns ${name}=${column}: ${text} has no column "${column}"`]),
    ]),
    ...keys
      .filter((name) => !has(name) && !columns.has(name))
      .map((name) => `it has no key column "${name}"`),
    ...startFaults(rollup, has, (name) => types.get(nameOf(name))),
    ...(measures.some(has) ? [] : [`it has no measure: ${measures.join(', ')}`]),
  ];
  if (faults.length > 0)
    throw refused(
      `${text} does not fit rollup "${rollup.settings.name}"`,
      'say which column stands for which with --columns revenue=total_eur, or name a view',
      faults.join('\n'),
    );
  const isByStart = has('window_start');
  const column = (name: string) => quoteName(nameOf(name));
  const isEndKnown = isByStart && has('window_end');
  const compared = (bindingsOf(rollup).measure as readonly Readonly<Record<string, Sql>>[]).filter(
    (_, place) => has(measures[place] as string),
  );
  return {
    outside_table: quoteTable(table),
    outside_start: trustedSql(isByStart ? `t.${column('window_start')}::timestamptz` : 'null::timestamptz'),
    outside_end: trustedSql(isEndKnown ? `t.${column('window_end')}::timestamptz` : 'null::timestamptz'),
    outside_date: trustedSql(isByStart ? 'null::date' : `t.${column('local_date')}::date`),
    outside_is_same: joinSql(
      [
        trustedSql(isByStart ? 'c.window_start = o.window_start' : 'c.local_date = o.local_date'),
        ...(isEndKnown ? [trustedSql('c.window_end = o.window_end')] : []),
      ],
      ' and ',
    ),
    outside_key: rollup.keys.map((key) => ({
      key: quoteName(key.name),
      key_type: trustedSql(key.type),
      outside_column: column(key.name),
    })),
    outside_measure: compared.map((bound, place) => {
      const measure = rollup.measures.filter(({ name }) => has(name))[place] as Measure;
      const quoted = quoteName(measure.name);
      return {
        ...bound,
        outside_column: column(measure.name),
        same_as_version: same(measure, `a.${quoted}`, `g.${quoted}`),
        same_as_bronze: same(measure, `a.${quoted}`, `a.${bound.errata_bronze_measure}`),
      };
    }),
  };
}

/** Absent and void count as 0 of what adds up; a measure with a tolerance equals within it (R9). */
function same({ isAdditive, tolerance }: Measure, outside: string, ours: string): Sql {
  if (tolerance !== undefined)
    return trustedSql(
      `(abs(coalesce(${outside}, 0)::numeric - coalesce(${ours}, 0)::numeric) <= ${tolerance}::numeric)`,
    );
  return trustedSql(
    isAdditive
      ? `(coalesce(${outside}, 0) = coalesce(${ours}, 0))`
      : `(${outside} is not distinct from ${ours})`,
  );
}

/** A window is known by its start, a session by both ends; a local date serves where a day has one window. */
function startFaults(
  { settings: { window } }: Rollup,
  has: (name: string) => boolean,
  typeOf: (name: string) => string | undefined,
): string[] {
  if (window.kind === 'session')
    return has('window_start') && has('window_end')
      ? []
      : ['sessions are known by "window_start" and "window_end", and it lacks one'];
  if (has('window_start'))
    return typeOf('window_start') === 'timestamp with time zone'
      ? []
      : [`"window_start" has type ${typeOf('window_start')}, which is no instant; make it timestamptz`];
  const hasDates = window.kind === 'calendar' && window.unit !== 'hour';
  if (!has('local_date') || !hasDates)
    return [hasDates ? 'it has neither "window_start" nor "local_date"' : 'it has no "window_start"'];
  return [];
}

function refused(message: string, hint?: string, detail?: string): Failure {
  return new Failure(message, { detail, hint, exitCode: 2 });
}
