/** A rollup on a test's own database: made from `errata.yaml`'s text, migrated, and run at given bounds. */
import { applyRollup } from '../../src/catalog/apply.ts';
import { describedRollup } from '../../src/catalog/open.ts';
import type { Rollup } from '../../src/catalog/rollup.ts';
import { parseSettings } from '../../src/config/read-settings.ts';
import { type Control, controlOf } from '../../src/db/control.ts';
import { migrateControlTables } from '../../src/db/migrator.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import type { RunReport } from '../../src/pipeline/report.ts';
import { planRollup, runRollup, type SpineOptions } from '../../src/pipeline/run.ts';
import type { TestDatabase } from './database.ts';

export interface TestErrata {
  readonly control: Control;
  readonly rollup: Rollup;
  run(options?: SpineOptions): Promise<RunReport>;
  plan(options?: SpineOptions): Promise<RunReport>;
  /** Rows as the product's pool gives them: numbers, dates and times as text. */
  rows<Row = Record<string, unknown>>(sql: string, values?: unknown[]): Promise<Row[]>;
}

export async function openErrata(database: TestDatabase, yaml: string): Promise<TestErrata> {
  const settings = parseSettings(yaml, 'errata.yaml', {});
  const control = controlOf(database.pool, settings.schema);
  await migrateControlTables(control, settings.schema);
  const [first] = settings.rollups;
  if (!first) throw new Error('the settings declare no rollup');
  const rollup = await inTransaction(control, 'read committed', async (transaction) =>
    applyRollup(transaction, await describedRollup(transaction, settings, first)),
  );
  return {
    control,
    rollup,
    run: (options) => runRollup(control, rollup, options),
    plan: (options) => planRollup(control, rollup, options),
    rows: async (sql, values) => (await database.pool.query(sql, values)).rows,
  };
}
