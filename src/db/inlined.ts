/** A statement with its parameters written as constants: what a page shows is then, letter for letter, what was executed. */
import { quoteValue, type Sql, trustedSql } from './identifiers.ts';
import type { Value } from './statement.ts';

/**
 * What stands in a comment, a name or a constant is no parameter: `$1` in `"a $1 b"` stays. In this order: a comment, a
 * quoted name, a constant with backslashes, a plain one, a body between dollars, a name, and at last a parameter.
 */
const pieces =
  /--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|(\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)[\s\S]*?\1|[a-z_\u0080-\uffff][\w$\u0080-\uffff]*|\$(\d+)/gi;

/** @throws Error if a parameter has no value, or where comments lie in comments, which are not told apart here. */
export function inlined(sql: string, values: readonly Value[]): Sql {
  return trustedSql(
    sql.replace(pieces, (piece: string, _tag: string | undefined, place: string | undefined) => {
      if (piece.startsWith('/*') && piece.includes('/*', 2)) throw new Error('a comment lies in another one');
      if (place === undefined) return piece;
      const value = values[Number(place) - 1];
      if (value === undefined) throw new Error(`parameter $${place} has no value`);
      return quoteValue(value);
    }),
  );
}
