/**
 * The only place where a name or a text becomes SQL. Everything behind it sees quoted text of the branded type `Sql`,
 * so an unquoted string cannot reach a statement by accident.
 */
export type Sql = string & { readonly __sql: unique symbol };

/** SQL that the project or the operator wrote: a constant of ours, or an expression of `errata.yaml`. */
export function trustedSql(text: string): Sql {
  return text as Sql;
}

/** `Odd "Name"` becomes `"Odd ""Name"""`. Always quoted: then reserved words and capitals need no thought. */
export function quoteName(name: string): Sql {
  if (name.length === 0 || name.includes('\0')) {
    throw new TypeError('a name is never empty and never holds a zero byte');
  }
  return trustedSql(`"${name.replaceAll('"', '""')}"`);
}

/** `"schema"."name"`. */
export function quoteTable(table: { readonly schema: string; readonly name: string }): Sql {
  return trustedSql(`${quoteName(table.schema)}.${quoteName(table.name)}`);
}

/**
 * A text constant, for the few places where SQL takes no parameter (comments, defaults, bodies of functions).
 * Backslashes are doubled under `E''`, so the result does not depend on `standard_conforming_strings`.
 */
export function quoteText(text: string): Sql {
  if (text.includes('\0')) throw new TypeError('a text constant never holds a zero byte');
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return trustedSql(text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted);
}

/**
 * A value as a constant, for a statement that is shown to people and runs as it is shown. Its type is the cast around it,
 * as that of a parameter is.
 */
export function quoteValue(value: string | number | boolean | null | readonly string[]): Sql {
  if (value === null) return trustedSql('null');
  if (typeof value === 'string') return quoteText(value);
  if (typeof value === 'object') {
    const items = value.map((item) => `"${item.replaceAll(/["\\]/g, '\\$&')}"`);
    return quoteText(`{${items.join(',')}}`);
  }
  return typeof value === 'number' ? quoteText(String(value)) : trustedSql(String(value));
}

/** Joins parts that are SQL already. */
export function joinSql(parts: readonly Sql[], separator: string): Sql {
  return trustedSql(parts.join(separator));
}
