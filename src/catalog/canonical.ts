/**
 * The canonical form (R21): one JSON object of the columns that are not NULL, in the order of their names' bytes, each as
 * `to_json` writes it. No session setting changes it, and a column added later leaves the form of older rows as it was.
 * docs/evidence.md describes it for whoever verifies with SQL alone.
 */
import { joinSql, quoteName, quoteText, type Sql, trustedSql } from '../db/identifiers.ts';
import type { Column, Rollup } from './rollup.ts';

/** Columns of every ledger beside its key and measures. */
const ledgerColumns: readonly Column[] = [
  ...['window_start', 'window_end', 'stamp', 'sealed_at', 'corrected_at'].map(instant),
  { name: 'local_date', type: 'date' },
  { name: 'version', type: 'integer' },
  { name: 'event_count', type: 'bigint' },
  { name: 'is_void', type: 'boolean' },
  { name: 'causes', type: 'text[]' },
  { name: 'run_id', type: 'bigint' },
  { name: 'replaces', type: 'jsonb' },
  ...['kind', 'reason', 'actor', 'db_role', 'approver', 'posting_period', 'definition_fingerprint'].map(text),
];

/** Columns of `errata.run` that a link covers; `rows_hash` stands for the versions. */
const linkColumns: readonly Column[] = [
  ...['bound', 'stamp'].map(instant),
  ...['run_id', 'versions_hashed'].map((name) => ({ name, type: 'bigint' })),
  { name: 'rollup_id', type: 'integer' },
  { name: 'counts', type: 'jsonb' },
  ...['verb', 'actor', 'reason', 'db_role'].map(text),
  ...['previous_hash', 'rows_hash'].map((name) => ({ name, type: 'bytea' })),
];

/** SHA-256 of a ledger row `g`. */
export function rowHash({ keys, measures }: Rollup): Sql {
  return hashOf('g', [...ledgerColumns, ...keys, ...measures]);
}

/** SHA-256 of the record of a run `r`, in which the hash of the link before and that of the versions stand. */
export function linkHash(): Sql {
  return hashOf('r', linkColumns);
}

function hashOf(alias: string, columns: readonly Column[]): Sql {
  return trustedSql(`sha256(convert_to(${canonicalForm(alias, columns)}, 'UTF8'))`);
}

function canonicalForm(alias: string, columns: readonly Column[]): Sql {
  const members = [...columns]
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .map(({ name, type }) => {
      const value = trustedSql(`${alias}.${quoteName(name)}`);
      return trustedSql(`${quoteText(`${JSON.stringify(name)}:`)} || ${jsonOf(value, type)}::text`);
    });
  // NULL columns fall out here. Not concat_ws: a function takes no more than 100 arguments.
  return trustedSql(`'{' || array_to_string(array[\n    ${joinSql(members, ',\n    ')}\n  ], ',') || '}'`);
}

/** What `to_json` would write by the session's settings is written without them. */
function jsonOf(value: Sql, type: string): string {
  if (/^timestamp(\(\d\))? with time zone$/.test(type)) return `to_json(${value} at time zone 'UTC')`;
  if (type === 'bytea') return `to_json(encode(${value}, 'hex'))`;
  const send = binaryForm(type);
  return send ? `to_json(encode(${send}(${value}), 'hex'))` : `to_json(${value})`;
}

/** Types whose text follows the session: as they are sent in binary, in hexadecimal digits. */
function binaryForm(type: string): string | undefined {
  if (type === 'real') return 'float4send';
  if (type === 'double precision') return 'float8send';
  if (type === 'money') return 'cash_send';
  if (type.startsWith('interval')) return 'interval_send';
  return /^time(\(\d\))? with time zone$/.test(type) ? 'timetz_send' : undefined;
}

function instant(name: string): Column {
  return { name, type: 'timestamp with time zone' };
}

function text(name: string): Column {
  return { name, type: 'text' };
}
