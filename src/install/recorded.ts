/** A transaction that remembers what it was asked to change, for `migrate --dry-run`. */
import type { ControlTransaction } from '../db/transaction.ts';

export interface Change {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Statements that read, or that end with the transaction; as whom the rest is made belongs to it. */
const passing = /^\s*(--[^\n]*\n\s*)*(select|savepoint|rollback|release|set local (?!role)|create temp)/i;

/** Everything sent through the returned transaction is sent; what would stay is also kept in `changes`. */
export function recorded(transaction: ControlTransaction): {
  transaction: ControlTransaction;
  changes: Change[];
} {
  const changes: Change[] = [];
  const proxy = new Proxy(transaction, {
    get(target, name) {
      if (name === 'executeQuery') {
        return async (query: { sql: string; parameters: readonly unknown[] }) => {
          const result = await target.executeQuery(query as never);
          // What was refused is not made: another statement takes its place.
          if (!passing.test(query.sql)) changes.push({ sql: query.sql, parameters: query.parameters });
          return result;
        };
      }
      const member = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { transaction: proxy, changes };
}
