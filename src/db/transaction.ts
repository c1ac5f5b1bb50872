import type { Transaction } from 'kysely';
import type { Duration } from '../config/settings.ts';
import type { Control, ControlTables } from './control.ts';
import { type Executor, query } from './statement.ts';

/** How long a transaction waits for a lock, and a statement of it may take; undefined: as the role says; 0: no limit. */
export interface Limits {
  readonly lockTimeout?: Duration | undefined;
  readonly statementTimeout?: Duration | undefined;
}

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
  limits?: Limits,
): Promise<Result> {
  return await control
    .transaction()
    .setIsolationLevel(isolation)
    .execute(async (transaction) => {
      for (const setting of settings) await query(transaction, setting);
      if (limits) await setLimits(transaction, limits);
      return await work(transaction);
    });
}

/** Of the transaction, so that they hold behind a transaction pooler; and like those below they take no snapshot. */
export async function setLimits(executor: Executor, limits: Limits): Promise<void> {
  if (limits.lockTimeout)
    await query(executor, `set local lock_timeout = ${milliseconds(limits.lockTimeout)}`);
  if (limits.statementTimeout)
    await query(executor, `set local statement_timeout = ${milliseconds(limits.statementTimeout)}`);
}

/** PostgreSQL counts in whole milliseconds, 24 days at most; what is above 0 stays above it. */
function milliseconds({ microseconds }: Duration): string {
  const rounded = (microseconds + 999n) / 1000n;
  return String(rounded < 2_147_483_647n ? rounded : 2_147_483_647n);
}

const settings = [
  // Compiling a plan over many ingestion partitions costs more than it saves: over 100 of them the range statement of
  // `errata lateness` took 220 s on PostgreSQL 15, and 0.6 s without.
  'set local jit = off',
  // Keys are compared as arrays, since one may be NULL, and a merge goes by the window alone: with 50 keys it compared each
  // keyed window 50 times, and took 30 to 50 s in three statements of a run over 427,356 keyed windows.
  'set local enable_mergejoin = off',
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
