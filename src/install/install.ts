/** Installs what the settings declare: the control tables, then every rollup's relations; all or nothing, one at a time. */
import { applyRollup, createSchema } from '../catalog/apply.ts';
import { describeRollup, type Fault } from '../catalog/describe.ts';
import { faultsFailure } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import type { Sql } from '../db/identifiers.ts';
import { migrateControlTables, pendingMigrations } from '../db/migrator.ts';
import { query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction, setLimits } from '../db/transaction.ts';
import { type MigratedRollup, migratedRollup } from './migrated.ts';
import { type Change, recorded } from './recorded.ts';
import { actAsJob, grantRights, missingRoles, readRoles } from './roles.ts';

/**
 * Everything about all rollups is looked at before anything is made. One lock, held to the end, lets one installer at a
 * time; it is held by the one transaction that makes everything, since a pooler may give each transaction another session,
 * and may have no second one to give.
 * @returns `ungranted`: what another role has to grant.
 * @throws Failure, exit code 2, with the faults of the roles and all rollups.
 */
export async function migrateAll(
  control: Control,
  settings: Settings,
): Promise<{ migrations: string[]; rollups: MigratedRollup[]; ungranted: Sql[] }> {
  return await inTransaction(control, 'read committed', async (transaction) => {
    await holdInstallation(transaction, settings);
    const roleFaults = await takeRole(transaction, settings);
    const rollups = await describeAll(transaction, settings, roleFaults);
    const migrations = await migrateControlTables(transaction, settings.schema);
    const applied: MigratedRollup[] = [];
    for (const rollup of rollups)
      applied.push(await migratedRollup(transaction, await applyRollup(transaction, rollup)));
    return { migrations, rollups: applied, ungranted: await grantRights(transaction, settings) };
  });
}

class Rollback extends Error {}

/** Does everything and rolls it back. @returns every statement that would run, in order. */
export async function rehearse(control: Control, settings: Settings): Promise<Change[]> {
  let changes: Change[] = [];
  try {
    await inTransaction(control, 'read committed', async (plain) => {
      await holdInstallation(plain, settings);
      const recording = recorded(plain);
      changes = recording.changes;
      const { transaction } = recording;
      const roleFaults = await takeRole(transaction, settings);
      const rollups = await describeAll(plain, settings, roleFaults);
      const pending = await pendingMigrations(plain, settings.schema);
      await createSchema(transaction, settings.schema);
      for (const { sql } of pending) await query(transaction, sql);
      for (const rollup of rollups) await applyRollup(transaction, rollup);
      await grantRights(transaction, settings);
      throw new Rollback();
    });
  } catch (error) {
    if (!(error instanceof Rollback)) throw error;
  }
  return changes;
}

async function holdInstallation(
  transaction: ControlTransaction,
  { schema, limits }: Settings,
): Promise<void> {
  // The lock waits in a transaction that does nothing meanwhile, and may not be ended for it.
  await query(transaction, 'set local idle_in_transaction_session_timeout = 0');
  await query(transaction, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `errata ${schema} migrate`,
  ]);
  // From here on others may wait behind this transaction: the stream for its ledger, writers for bronze.
  await setLimits(transaction, limits);
}

/** @returns what is wrong with the roles, for the list of all faults; without any the transaction acts as the job's role. */
async function takeRole(transaction: ControlTransaction, settings: Settings): Promise<Fault[]> {
  if (!settings.roles) return [];
  const found = await readRoles(transaction, settings.roles);
  const faults = missingRoles(settings.roles, found);
  if (faults.length === 0) await actAsJob(transaction, settings, found);
  return faults;
}

async function describeAll(
  transaction: ControlTransaction,
  settings: Settings,
  roleFaults: readonly Fault[],
): Promise<Rollup[]> {
  const rollups: Rollup[] = [];
  const faults: Fault[] = [...roleFaults];
  for (const chosen of settings.rollups) {
    const found = await describeRollup(transaction, settings.schema, chosen);
    faults.push(...found.faults);
    if (!found.rollup || found.faults.length > 0) continue;
    rollups.push(found.rollup);
  }
  if (faults.length > 0) throw faultsFailure(`${settings.file} cannot be carried out`, settings.file, faults);
  return rollups;
}
