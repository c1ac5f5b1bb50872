/** `errata migrate`: the control tables, then the relations of every rollup. All or nothing, and safe to repeat. */
import { applyRollup } from '../catalog/apply.ts';
import { describeRollup, type Fault } from '../catalog/describe.ts';
import { faultsFailure } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { notCarriedOut } from '../catalog/supported.ts';
import type { Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName, quoteText } from '../db/identifiers.ts';
import { migrateControlTables, pendingMigrations } from '../db/migrator.ts';
import { query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { exitCodeHelp } from './exit-code.ts';
import { completeText, type MigratedRollup, migratedRollup } from './migrated.ts';
import { type Change, recorded } from './recorded.ts';
import type { Verb } from './verb.ts';

export const migrate: Verb<{ dryRun?: boolean }> = {
  name: 'migrate',
  summary: 'make the control tables and the relations of every rollup, or bring them up to date',
  arguments: [],
  options: [{ flags: '--dry-run', description: 'print the SQL and write nothing' }],
  help: `${exitCodeHelp([0, 1, 2], { 2: 'wrong usage or configuration; nothing was made' })}

Safe to repeat, and for several at once: each waits for the one before. The dry run does everything and rolls it
back, so what would be refused is refused.

Example:
  errata migrate --dry-run > what-will-run.sql && errata migrate`,

  async execute(context, _names, { dryRun }) {
    const settings = context.settings();
    const { control } = await context.open();
    if (dryRun) {
      const changes = await rehearse(control, settings);
      return { exitCode: 0, text: sqlText(changes), data: { dryRun: true, statements: changes } };
    }
    const { migrations, rollups } = await migrateAll(control, settings);
    const made =
      migrations.length > 0 ? `made ${migrations.join(', ')}` : 'the control tables are up to date';
    return {
      exitCode: 0,
      text: [`${settings.schema}: ${made}`, ...rollups.map(completeText)].join('\n'),
      data: { migrations, rollups },
    };
  },
};

/**
 * Everything about all rollups is looked at before anything is made. One lock, held to the end, lets one installer at a
 * time; it is held by the transaction that makes the relations, since a pooler may give each transaction another session.
 * @throws Failure, exit code 2, with the faults of all rollups.
 */
export async function migrateAll(
  control: Control,
  settings: Settings,
): Promise<{ migrations: string[]; rollups: MigratedRollup[] }> {
  return await inTransaction(control, 'read committed', async (transaction) => {
    await holdInstallation(transaction, settings.schema);
    const rollups = await describeAll(transaction, settings);
    const migrations = await migrateControlTables(control, settings.schema);
    const applied: MigratedRollup[] = [];
    for (const rollup of rollups)
      applied.push(await migratedRollup(transaction, await applyRollup(transaction, rollup)));
    return { migrations, rollups: applied };
  });
}

class Rollback extends Error {}

async function rehearse(control: Control, settings: Settings): Promise<Change[]> {
  let changes: Change[] = [];
  try {
    await inTransaction(control, 'read committed', async (plain) => {
      await holdInstallation(plain, settings.schema);
      const rollups = await describeAll(plain, settings);
      const pending = await pendingMigrations(control, settings.schema);
      const recording = recorded(plain);
      changes = recording.changes;
      const { transaction } = recording;
      if (pending.length > 0)
        await query(transaction, `create schema if not exists ${quoteName(settings.schema)}`);
      for (const { sql } of pending) await query(transaction, sql);
      for (const rollup of rollups) await applyRollup(transaction, rollup);
      throw new Rollback();
    });
  } catch (error) {
    if (!(error instanceof Rollback)) throw error;
  }
  return changes;
}

async function holdInstallation(transaction: ControlTransaction, schema: string): Promise<void> {
  // The lock waits in a transaction that does nothing meanwhile, and may not be ended for it.
  await query(transaction, 'set local idle_in_transaction_session_timeout = 0');
  await query(transaction, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `errata ${schema} migrate`,
  ]);
}

async function describeAll(transaction: ControlTransaction, settings: Settings): Promise<Rollup[]> {
  const rollups: Rollup[] = [];
  const faults: Fault[] = [];
  for (const chosen of settings.rollups) {
    const found = await describeRollup(transaction, settings.schema, chosen);
    faults.push(...notCarriedOut(chosen), ...found.faults);
    if (!found.rollup || found.faults.length > 0) continue;
    rollups.push(found.rollup);
  }
  if (faults.length > 0) throw faultsFailure(`${settings.file} cannot be carried out`, settings.file, faults);
  return rollups;
}

/** A script that psql can read; values of parameters are written out where a statement has some. */
function sqlText(changes: readonly Change[]): string {
  const statements = changes.map(({ sql, parameters }) => {
    const text = sql.trim().replace(/;$/, '');
    if (parameters.length === 0) return `${text};`;
    return `${text.replaceAll(/\$(\d+)/g, (_, position: string) => valueText(parameters[Number(position) - 1]))};`;
  });
  const head = '-- What `errata migrate` would run, in one transaction; nothing was written.';
  return [head, ...statements].join('\n\n');
}

function valueText(value: unknown): string {
  return value === null || value === undefined ? 'null' : quoteText(String(value)).trim();
}
