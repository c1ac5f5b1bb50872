/**
 * A file of `sql/` ready to be sent: placeholders filled, parameters known by name. Its header declares them, one
 * `$n name` each, so that the file explains itself and a call cannot mix up two positions.
 */
import type { CompiledQuery, QueryResult } from 'kysely';
import { CompiledQuery as Query } from 'kysely';
import type { Sql } from './identifiers.ts';
import { type Bindings, loadStatement, readTemplate } from './sql.ts';

export interface Statement {
  /** As in `pipeline/scan/scan.sql`. */
  readonly path: string;
  readonly sql: Sql;
  readonly parameters: readonly string[];
}

/** What a value may be on its way into a statement; numbers and instants travel as text (R13). */
export type Value = string | number | boolean | null | readonly string[];

/** Whatever can run a compiled query: a Kysely or one of its transactions. */
export interface Executor {
  executeQuery<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>>;
}

/** @throws Error if the placeholders or the parameters of the file do not fit: a defect, found at start-up. */
export function prepare(path: string, bindings: Bindings): Statement {
  return { path, sql: loadStatement(path, bindings), parameters: declaredParameters(path) };
}

/** Runs the statement with its parameters by name. @throws Error if one is missing or not declared. */
export async function execute<Row = Record<string, unknown>>(
  executor: Executor,
  statement: Statement,
  values: Readonly<Record<string, Value>> = {},
): Promise<{ rows: Row[]; count: number }> {
  for (const name of Object.keys(values)) {
    if (!statement.parameters.includes(name))
      throw new Error(`sql/${statement.path} has no parameter "${name}"`);
  }
  const ordered = statement.parameters.map((name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`sql/${statement.path}: parameter "${name}" has no value`);
    return value;
  });
  const result = await executor.executeQuery<Row>(Query.raw(statement.sql, ordered) as CompiledQuery<Row>);
  // A file of several statements answers with none of their rows.
  const rows = result.rows ?? [];
  return { rows, count: Number(result.numAffectedRows ?? rows.length) };
}

/** Runs SQL that has no file of its own: a command of the server, a single value. */
export async function query<Row = Record<string, unknown>>(
  executor: Executor,
  sql: string,
  values: readonly Value[] = [],
): Promise<Row[]> {
  return (await executor.executeQuery<Row>(Query.raw(sql, [...values]) as CompiledQuery<Row>)).rows;
}

function declaredParameters(path: string): readonly string[] {
  const text = readTemplate(path);
  const lines = text.split('\n');
  const header = lines.filter((line) => line.startsWith('--')).join('\n');
  const body = lines.filter((line) => !line.startsWith('--')).join('\n');
  const names: string[] = [];
  for (const [, position, name] of header.matchAll(/\$(\d+) ([a-z_]+)/g))
    names[Number(position) - 1] = name as string;
  const used = new Set([...body.matchAll(/\$(\d+)(?=\D)/g)].map(([, position]) => Number(position)));
  for (let position = 1; position <= Math.max(names.length, ...used); position++) {
    if (!names[position - 1])
      throw new Error(`sql/${path}: $${position} is used, and its header does not name it`);
    if (!used.has(position)) throw new Error(`sql/${path}: its header names $${position}, which is not used`);
  }
  return names;
}
