import type { Transaction } from 'kysely';
import type { Control, ControlTables } from './control.ts';
import { query } from './statement.ts';

export type ControlTransaction = Transaction<ControlTables>;

/**
 * One transaction in which a name without a schema fails at once and every time is written in one way, whatever the
 * role, the database or the connection's last user has set. `set local` takes no snapshot, so under
 * `repeatable read` the snapshot is still that of the first statement of `work`.
 */
export async function inTransaction<Result>(
  control: Control,
  isolation: 'read committed' | 'repeatable read',
  work: (transaction: ControlTransaction) => Promise<Result>,
): Promise<Result> {
  return await control
    .transaction()
    .setIsolationLevel(isolation)
    .execute(async (transaction) => {
      for (const setting of settings) await query(transaction, setting);
      return await work(transaction);
    });
}

const settings = [
  // Compiling a plan over many ingestion partitions costs more than it saves: over 100 of them the range statement of
  // `errata lateness` took 220 s on PostgreSQL 15, and 0.6 s without.
  'set local jit = off',
  "set local search_path = ''",
  "set local timezone = 'UTC'",
  "set local datestyle = 'ISO, YMD'",
  "set local intervalstyle = 'postgres'",
  'set local extra_float_digits = 1',
  "set local bytea_output = 'hex'",
  // our own patterns have backslashes
  'set local standard_conforming_strings = on',
  // a policy that hides rows of bronze would make a silently partial number: PostgreSQL raises an error instead
  'set local row_security = off',
];
