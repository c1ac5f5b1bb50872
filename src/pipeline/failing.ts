/**
 * Failing: a measure that cannot be computed holds up its own keyed window and no other (R19).
 *
 *     as ever ──> it fails ──> back to the savepoint ──> which groups of rows fail? ──> set aside ──> again, without them
 *
 * A run in which nothing fails pays a savepoint a stage. One in which something does reads the rows of that stage once
 * more, into a work table, and halves them until the failing groups are left (probe.sql).
 */

import type { CountedRows } from '../catalog/statements.ts';
import { isFaultOfRow } from '../db/row-fault.ts';
import { execute, query, type Statement, type Value } from '../db/statement.ts';
import type { RunContext } from './context.ts';

type Values = Readonly<Record<string, Value>>;

/**
 * @param work what computes measures; told whether something was set aside, and then executed a second time
 * @param setAside finds what fails. @returns how much of it there is
 */
export async function withoutFailing<Result>(
  run: RunContext,
  work: (isWithout: boolean) => Promise<Result>,
  setAside: () => Promise<number>,
): Promise<Result> {
  const { transaction } = run;
  await query(transaction, 'savepoint errata_measures');
  try {
    const result = await work(false);
    await query(transaction, 'release savepoint errata_measures');
    return result;
  } catch (error) {
    if (!isFaultOfRow(error)) throw error;
    await query(transaction, 'rollback to savepoint errata_measures');
    await query(transaction, 'release savepoint errata_measures');
    // Where nothing fails by itself, what failed was no measure.
    if ((await setAside()) === 0) throw error;
    return await work(true);
  }
}

/** Keyed windows that fail stay in the queue with their error. @param statement whose rows are counted */
export async function setWindowsAside(
  run: RunContext,
  statement: Exclude<CountedRows, 'values'>,
  values: Values,
  isUnsealed: boolean,
): Promise<number> {
  const { failing, pipeline } = run.statements;
  const failed = await probe(run, failing.counted[statement], values, pipeline.probe);
  if (failed > 0) {
    await execute(run.transaction, pipeline.failing_windows);
    await queueFailing(run, isUnsealed);
  }
  return failed;
}

/** The same of sessions. */
export async function setSessionsAside(
  run: RunContext,
  values: Values,
  isUnsealed: boolean,
): Promise<number> {
  const { failing, pipeline, sessions } = run.statements;
  const failed = await probe(run, failing.counted.values, values, pipeline.probe);
  if (failed > 0) {
    await execute(run.transaction, sessions.failing);
    await queueFailing(run, isUnsealed);
  }
  return failed;
}

/** Rows whose own contributions fail are kept by name without. */
export async function setRowsAside(run: RunContext): Promise<number> {
  const { failing, pipeline } = run.statements;
  const failed = await probe(run, pipeline.rows, {}, failing.probeRows);
  if (failed > 0) await execute(run.transaction, pipeline.failing_rows);
  return failed;
}

async function queueFailing(run: RunContext, isUnsealed: boolean): Promise<void> {
  await execute(run.transaction, run.statements.pipeline.set_aside, {
    since: run.bound,
    is_unsealed: isUnsealed,
    run_id: run.runId,
  });
}

/** @returns how many groups fail; they stand in pg_temp.errata_probed. */
async function probe(
  run: RunContext,
  counted: Statement,
  values: Values,
  statement: Statement,
): Promise<number> {
  const { transaction } = run;
  await query(transaction, 'truncate pg_temp.errata_failing');
  await query(transaction, 'drop table if exists pg_temp.errata_counted, pg_temp.errata_probed');
  await execute(
    transaction,
    counted,
    Object.fromEntries(counted.parameters.map((name) => [name, values[name] as Value])),
  );
  await query(
    transaction,
    'create temp table errata_probed (place bigint not null, error text not null) on commit drop',
  );
  await query(transaction, 'create index on pg_temp.errata_counted (errata_place)');
  await query(transaction, 'analyze pg_temp.errata_counted');
  await execute(transaction, statement);
  const [row] = await query<{ failed: string }>(
    transaction,
    'select count(*) as failed from pg_temp.errata_probed',
  );
  return Number(row?.failed ?? 0);
}
