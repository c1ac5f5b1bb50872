/** From settings to rollups that can run: described from the catalogue, and known to the control tables. */
import type { RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { refusePending } from '../db/migrator.ts';
import { query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { refuseDropped } from '../publication/acts.ts';
import { type Definition, definitionOf, isMigrated } from './definition.ts';
import { describeRollup, type Fault } from './describe.ts';
import type { Rollup } from './rollup.ts';

/** The rollups of these names, in the order of the file; all where none is named. @throws Failure, exit code 2. */
export function selectRollups(settings: Settings, names: readonly string[]): RollupSettings[] {
  const known = settings.rollups.map((rollup) => rollup.name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Failure(`there is no rollup "${unknown.join('", "')}"`, {
      detail: `${settings.file} declares: ${known.join(', ')}`,
      hint: 'name one of these; `run`, `plan`, `check` and `status` take all where none is named',
      exitCode: 2,
    });
  }
  return settings.rollups.filter((rollup) => names.length === 0 || names.includes(rollup.name));
}

/** A rollup that has been migrated and still fits its bronze. @throws Failure, exit code 2, with every fault. */
export async function openRollup(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
): Promise<Rollup> {
  return await inTransaction(control, 'read committed', async (transaction) => {
    const rollup = await describedRollup(transaction, settings, chosen);
    const known = await knownRollup(transaction, settings.schema, chosen.name);
    if (!known) {
      await refuseRenamed(transaction, settings, chosen.name);
      throw new Failure(`rollup "${chosen.name}" is not in the database yet`, {
        detail: `schema "${settings.schema}" knows nothing of it (${settings.file}:${chosen.position.line})`,
        hint: 'run `errata migrate`',
        exitCode: 2,
      });
    }
    await refusePending(transaction, settings.schema);
    await refuseDropped(transaction, settings.schema, chosen.name);
    if (!isMigrated(known, definitionOf(rollup))) {
      throw new Failure(`rollup "${chosen.name}" has changed since it was migrated`, {
        detail: `its settings (${settings.file}:${chosen.position.line}) or the types of its bronze columns are others`,
        hint: 'run `errata migrate`: it says what can be changed in place',
        exitCode: 2,
      });
    }
    return { ...rollup, id: known.id };
  });
}

/** @throws Failure, exit code 2, if the rollup has another name by now. */
async function refuseRenamed(
  transaction: ControlTransaction,
  { schema, file }: Settings,
  name: string,
): Promise<void> {
  const [acts] = await query<{ there: boolean }>(transaction, 'select to_regclass($1) is not null as there', [
    `${quoteName(schema)}.rollup_act`,
  ]);
  if (!acts?.there) return;
  const [renamed] = await query<{ name: string; actor: string; acted_at: string }>(
    transaction,
    `select r.name, a.actor, a.acted_at::text as acted_at
     from ${quoteName(schema)}.rollup_act as a join ${quoteName(schema)}.rollup as r using (rollup_id)
     where a.act = 'rename' and a.old_name = $1 order by a.act_id desc limit 1`,
    [name],
  );
  if (!renamed) return;
  throw new Failure(`rollup "${name}" was renamed to "${renamed.name}"`, {
    detail: `by ${renamed.actor} at ${renamed.acted_at}`,
    hint: `write ${renamed.name} in place of ${name} in ${file}`,
    exitCode: 2,
  });
}

/** @throws Failure, exit code 2, that lists everything about the rollup that does not fit. */
export async function describedRollup(
  transaction: ControlTransaction,
  settings: Settings,
  chosen: RollupSettings,
): Promise<Rollup> {
  const { rollup, faults } = await describeRollup(transaction, settings.schema, chosen);
  if (rollup && faults.length === 0) return rollup;
  throw faultsFailure(`rollup "${chosen.name}" does not fit its bronze`, settings.file, faults);
}

export function faultsFailure(message: string, file: string, faults: readonly Fault[]): Failure {
  return new Failure(message, {
    detail: faults
      .map(({ line, place, fact, hint }) => `${file}:${line}  ${place}: ${fact}; ${hint}`)
      .join('\n'),
    hint: '`errata check` lists everything that does not fit',
    exitCode: 2,
  });
}

async function knownRollup(
  transaction: ControlTransaction,
  schema: string,
  name: string,
): Promise<{ id: number; fingerprint: string; definition: Definition } | undefined> {
  const [table] = await query<{ there: boolean }>(
    transaction,
    'select to_regclass($1) is not null as there',
    [`${quoteName(schema)}.rollup`],
  );
  if (!table?.there) return undefined;
  const [row] = await query<{ id: number; fingerprint: string; definition: Definition }>(
    transaction,
    `select r.rollup_id as id, d.fingerprint, d.definition
     from ${quoteName(schema)}.rollup as r
     join ${quoteName(schema)}.definition as d on d.fingerprint = r.definition_fingerprint
     where r.name = $1`,
    [name],
  );
  return row;
}
