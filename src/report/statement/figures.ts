/**
 * The figures of a statement: the versions and states of then are laid out as work tables, and the very views that people
 * read are made over them, so that a statement and the database cannot differ in how they reckon (R11, R14).
 */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { joinSql, quoteName, quoteText, type Sql, trustedSql } from '../../db/identifiers.ts';
import type { Bindings } from '../../db/sql.ts';
import { execute, prepare, query } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { citationOf } from '../find/citation.ts';
import { layOutThen } from '../then.ts';
import { type Basis, iso, type Sweep } from './basis.ts';

export type Kind = 'number' | 'date' | 'instant' | 'text' | 'boolean';

export interface Column {
  /** The header of the file. */
  readonly name: string;
  /** In the view; it differs where a key or measure has the name already. */
  readonly attribute: string;
  readonly kind: Kind;
}

export type Row = readonly (string | null)[];

export interface Listed {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

const byWindow = ['window_start', 'window_end', 'key'];

/** Each is a view of sql/report/statement/, and its order, which leaves no two rows to chance. */
const orders = {
  totals: ['measure'],
  bridge: ['measure', 'place'],
  days: ['day'],
  windows: byWindow,
  versions: [...byWindow, 'version'],
  corrections: [...byWindow, 'version'],
  events: [...byWindow, 'event_id', 'row_digest'],
  refused: [...byWindow, 'event_id', 'row_digest'],
  proposals: [...byWindow, 'errata_proposal_id'],
  adjustments: ['stamp', ...byWindow, 'version', 'errata_how'],
  unexplained: byWindow,
  acts: ['stamp', 'run_id', 'period'],
  settings: ['fingerprint', 'section', 'name'],
} as const;

export type ListName = keyof typeof orders;
export const listNames = Object.keys(orders) as readonly ListName[];

/** Lays out what was known then; the lists can be read until the transaction ends. @returns the basis with its sweep. */
export async function layOut(transaction: ControlTransaction, basis: Basis): Promise<Basis> {
  const { rollup } = basis;
  const published = bindingsOf(rollup);
  const span = { stamp: basis.stamp, period_start: basis.periodStart, period_end: basis.periodEnd };
  const stated = statedBindings(
    published,
    await layOutThen(transaction, rollup, basis.stamp, { from: basis.periodStart, to: basis.periodEnd }),
  );
  const run = async (file: string, bindings: Bindings, values = {}) =>
    await execute(transaction, prepare(file, bindings), values);
  await run('report/statement/basis.sql', published, {
    ...span,
    period: basis.period,
    time_zone: basis.timeZone,
    rollup_id: rollup.id,
  });
  await run('report/statement/version.sql', published, span);
  await run('report/statement/sweep.sql', published);
  await run('report/statement/ready.sql', published);
  await run('rollup/history.sql', stated);
  await run('rollup/reconciliation.sql', stated);
  await run('report/statement/reconciled.sql', stated);
  await run('report/statement/corrected.sql', stated);
  await run('report/statement/reckoned.sql', stated);
  for (const name of listNames) await run(`report/statement/${name}.sql`, stated);
  const [sweep] = await query<Sweep>(
    transaction,
    `select c.reconciliation_id::text as reconciliation_id, ${iso('c.swept_at')} as swept_at, ${iso('c.stamp')} as stamp, c.actor,
       c.counts ->> 'keyed_windows' as keyed_windows, c.counts ->> 'unexplained' as unexplained, encode(c.result_hash, 'hex') as result_hash
     from pg_temp.errata_statement as b
     join pg_temp.errata_stated_sweep as c on c.reconciliation_id = b.sweep_id`,
  );
  return { ...basis, sweep: sweep ?? null };
}

/** What stands in place of the rollup's own relations in the definitions of its views. */
function statedBindings(published: Bindings, then: Bindings): Bindings {
  const temporary = (name: string) => trustedSql(`pg_temp.errata_stated_${name}`);
  return {
    ...then,
    published_ledger: published.ledger as Sql,
    published_late_event: published.late_event as Sql,
    ledger: temporary('version'),
    sweep: temporary('sweep'),
    history: temporary('history'),
    reconciliation: temporary('reconciliation'),
  };
}

interface Plan {
  readonly sql: string;
  readonly columns: readonly Column[];
  /** Where a hash stands, which is shown as a citation too. */
  readonly hashAt: number;
}

/** `at_most`: so many rows from the first on. */
export async function readList(
  transaction: ControlTransaction,
  rollup: Rollup,
  name: ListName,
  atMost?: number,
): Promise<Listed> {
  const plan = await planOf(transaction, rollup, name);
  const limit = atMost === undefined ? '' : ` limit ${atMost}`;
  const found = await query<Cells>(transaction, `${plan.sql}${limit}`);
  return { columns: plan.columns, rows: found.map((cells) => rowOf(plan, cells)) };
}

const batchSize = 5000;

/** In batches, so that memory stays bounded however long the list is. */
export async function* streamList(
  transaction: ControlTransaction,
  rollup: Rollup,
  name: ListName,
): AsyncGenerator<Listed> {
  const plan = await planOf(transaction, rollup, name);
  await query(transaction, `declare errata_list no scroll cursor for ${plan.sql}`);
  for (;;) {
    const found = await query<Cells>(transaction, `fetch ${batchSize} from errata_list`);
    yield { columns: plan.columns, rows: found.map((cells) => rowOf(plan, cells)) };
    if (found.length < batchSize) break;
  }
  await query(transaction, 'close errata_list');
}

export async function countOf(transaction: ControlTransaction, name: ListName): Promise<number> {
  const [row] = await query<{ rows: string }>(
    transaction,
    `select count(*) as rows from pg_temp.${quoteName(`errata_stated_${name}`)}`,
  );
  return Number(row?.rows);
}

/** By place: names may be any. */
type Cells = Readonly<Record<string, string | null>>;

function rowOf({ hashAt }: Plan, byPlace: Cells): Row {
  const cells = Object.values(byPlace);
  if (hashAt < 0) return cells;
  const hash = cells[hashAt];
  return cells.toSpliced(hashAt, 0, hash ? citationOf(hash) : null);
}

/** Columns and their types are what the catalogue says of the view; every cell leaves as text, the same in any session. */
async function planOf(transaction: ControlTransaction, rollup: Rollup, name: ListName): Promise<Plan> {
  const view = trustedSql(`pg_temp.${quoteName(`errata_stated_${name}`)}`);
  const attributes = await query<{ name: string; type: string }>(
    transaction,
    `select a.attname as name, pg_catalog.format_type(a.atttypid, null) as type
     from pg_catalog.pg_attribute as a
     where a.attrelid = ${quoteText(view)}::regclass and a.attnum > 0 and not a.attisdropped
     order by a.attnum`,
  );
  const typeOf = new Map(attributes.map((attribute) => [attribute.name, attribute.type]));
  const own = new Set([...rollup.keys, ...rollup.measures].map((column) => column.name));
  const shown = (column: string) => {
    const short = column.replace(/^errata_/, '');
    return own.has(short) ? column : short;
  };
  const order = orders[name].flatMap((column) =>
    column === 'key' ? rollup.keys.map((key) => key.name) : [column],
  );
  const cells = attributes.map((attribute, place) =>
    trustedSql(`${textOf(trustedSql(`v.${quoteName(attribute.name)}`), attribute.type)} as "${place}"`),
  );
  const ordered = order.map((column) => {
    const value = trustedSql(`v.${quoteName(column)}`);
    const isNative = kindOf(typeOf.get(column) ?? 'text') !== 'text';
    return trustedSql(`${isNative ? value : `${value}::text collate "C"`} nulls first`);
  });
  const hashAt = attributes.findIndex((attribute) => attribute.name === 'errata_row_hash');
  return {
    sql: `select ${joinSql(cells, ', ')} from ${view} as v order by ${joinSql(ordered, ', ')}`,
    columns: attributes.flatMap((attribute): Column[] =>
      attribute.name === 'errata_row_hash'
        ? [
            { name: shown('errata_citation'), attribute: 'errata_citation', kind: 'text' },
            { name: shown('errata_sha256'), attribute: 'errata_sha256', kind: 'text' },
          ]
        : [{ name: shown(attribute.name), attribute: attribute.name, kind: kindOf(attribute.type) }],
    ),
    hashAt,
  };
}

function kindOf(type: string): Kind {
  if (/^(smallint|integer|bigint|numeric|real|double precision)$/.test(type)) return 'number';
  if (type === 'timestamp with time zone') return 'instant';
  if (type === 'date' || type === 'boolean') return type;
  return 'text';
}

function textOf(value: Sql, type: string): Sql {
  if (type === 'timestamp with time zone') return trustedSql(iso(value));
  if (type === 'bytea') return trustedSql(`encode(${value}, 'hex')`);
  if (type === 'text[]') return trustedSql(`array_to_string(${value}, '; ')`);
  return trustedSql(`${value}::text`);
}
