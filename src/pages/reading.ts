/**
 * What a page reads with: one transaction that writes nothing, and a record of every statement as it was executed. Parameters
 * are written into the statement before it is sent, so what the page shows is that very text.
 */
import { CompiledQuery } from 'kysely';
import { durationOf } from '../config/duration.ts';
import type { Duration, RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteText } from '../db/identifiers.ts';
import { inlined } from '../db/inlined.ts';
import { type Bindings, readTemplate } from '../db/sql.ts';
import { execute, prepare, query, type Value } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';

/** Whose rights a statement needs, least first: views; the ledger and Errata's own tables too; bronze too. */
export type Whose = 'reader' | 'auditor' | 'job';

export interface Executed<Row = object> {
  readonly rows: readonly Row[];
  /** As it was sent. */
  readonly sql: string;
  /** What must run before it, and after: a temporary table that it reads. */
  readonly before?: string;
  readonly after?: string;
  readonly whose: Whose;
  /** Of the session in which it gives the same text. */
  readonly zone: string;
}

/** No statement of a page takes longer. */
export const pageTimeout = durationOf(10_000_000n);

export class Reading {
  readonly transaction: ControlTransaction;
  /** The database's clock at the beginning. */
  readonly at: string;
  #zone: string;

  constructor(transaction: ControlTransaction, zone: string, at: string) {
    this.transaction = transaction;
    this.#zone = zone;
    this.at = at;
  }

  get zone(): string {
    return this.#zone;
  }

  /** From here on every instant is written in that zone. */
  async setZone(zone: string): Promise<void> {
    await query(this.transaction, `set local timezone = ${quoteText(zone)}`);
    this.#zone = zone;
  }

  async figures<Row>(
    path: string,
    whose: Whose,
    bindings: Bindings,
    values: Readonly<Record<string, Value>> = {},
  ): Promise<Executed<Row>> {
    const record = this.recorder();
    const { rows } = await execute<Row>(record.transaction, prepare(path, bindings), values);
    return { rows, sql: record.statements.at(-1)?.sql as string, whose, zone: this.#zone };
  }

  /** For a report that runs several statements by itself. */
  recorder(): Recorder {
    return new Recorder(this.transaction);
  }
}

/** Stands in for the transaction where only statements are run. */
export class Recorder {
  readonly statements: { readonly sql: string; readonly rows: readonly Record<string, unknown>[] }[] = [];
  readonly transaction: ControlTransaction;

  constructor(transaction: ControlTransaction) {
    const executeQuery = async (asked: CompiledQuery) => {
      const sql = inlined(asked.sql, asked.parameters as readonly Value[]);
      const result = await transaction.executeQuery(CompiledQuery.raw(sql));
      this.statements.push({ sql, rows: (result.rows ?? []) as Record<string, unknown>[] });
      return result;
    };
    this.transaction = { executeQuery } as unknown as ControlTransaction;
  }

  /** Those that this file of `sql/` gave, in the order of execution. */
  of(path: string): readonly { readonly sql: string; readonly rows: readonly Record<string, unknown>[] }[] {
    const [first] = readTemplate(path).split('\n');
    return this.statements.filter(({ sql }) => sql.split('\n')[0] === first);
  }
}

export interface ReadOptions {
  readonly timeout?: Duration | undefined;
  /** Then `work` calls `readOnly` once the table is there. */
  readonly mayMakeTemporaryTable?: boolean;
}

export async function read<Result>(
  control: Control,
  zone: string,
  work: (reading: Reading) => Promise<Result>,
  { timeout = pageTimeout, mayMakeTemporaryTable = false }: ReadOptions = {},
): Promise<Result> {
  return await inTransaction(
    control,
    'repeatable read',
    async (transaction) => {
      if (!mayMakeTemporaryTable) await readOnly(transaction);
      await query(transaction, `set local timezone = ${quoteText(zone)}`);
      const [clock] = await query<{ now: string }>(transaction, 'select clock_timestamp()::text as now');
      return await work(new Reading(transaction, zone, clock?.now as string));
    },
    { statementTimeout: timeout, lockTimeout: timeout },
  );
}

export async function readOnly(transaction: ControlTransaction): Promise<void> {
  await query(transaction, 'set transaction read only');
}

/** That of its calendar, else that of the periods. */
export function zoneOf({ window, periods }: RollupSettings): string {
  return window.kind === 'calendar' ? window.timeZone : periods.timeZone;
}

/** Where several rollups stand on a page. */
export function zoneOfAll({ periods }: Settings): string {
  return periods.timeZone;
}
