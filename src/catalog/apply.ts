/** Makes a rollup's relations what its settings say: the row in the control tables, then the definitions of `sql/`. */

import { quoteName } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { refuseDropped } from '../publication/acts.ts';
import { commentOn } from './comments.ts';
import { findCompleteFrom } from './complete-from.ts';
import { type Definition, definitionOf, fingerprintOf, refuseOtherMeaning } from './definition.ts';
import { microseconds } from './describe.ts';
import { noteDelayOfSteps, retireOverrides } from './override-relation.ts';
import { relationsOf } from './relations.ts';
import { makeDefinitions } from './remake.ts';
import type { Rollup } from './rollup.ts';
import { installTracking, removeTracking } from './track-changes.ts';

/** @returns the rollup with its id. @throws Failure if it cannot be changed in place, or a name is taken. */
export async function applyRollup(transaction: ControlTransaction, rollup: Rollup): Promise<Rollup> {
  const definition = definitionOf(rollup);
  const fingerprint = fingerprintOf(definition);
  const known = await transaction
    .selectFrom('rollup')
    .innerJoin('definition', 'definition.fingerprint', 'rollup.definition_fingerprint')
    .select(['rollup_id', 'definition.fingerprint', 'definition.definition'])
    .where('name', '=', rollup.settings.name)
    .executeTakeFirst();
  await refuseDropped(transaction, rollup.schema, rollup.settings.name);
  if (known) refuseOtherMeaning(rollup.settings.name, known.definition as unknown as Definition, definition);
  else await refuseTakenName(transaction, rollup);

  if (known?.fingerprint !== fingerprint) {
    await query(
      transaction,
      `insert into ${quoteName(rollup.schema)}.definition (fingerprint, rollup, definition, first_applied_at)
       values ($1, $2, $3::jsonb, clock_timestamp()) on conflict do nothing`,
      [fingerprint, rollup.settings.name, JSON.stringify(definition)],
    );
  }
  const id = known?.rollup_id ?? (await insertRollup(transaction, rollup, fingerprint));
  if (known?.fingerprint !== fingerprint)
    await query(
      transaction,
      `insert into ${quoteName(rollup.schema)}.applied_definition (rollup_id, definition_fingerprint, applied_at)
       values ($1, $2, clock_timestamp())`,
      [id, fingerprint],
    );
  const applied: Rollup = { ...rollup, id };
  if (known) await updateRollup(transaction, applied, fingerprint);
  if (known && known.fingerprint !== fingerprint) {
    await retireOverrides(transaction, applied);
    await noteDelayOfSteps(transaction, applied, known.definition as unknown as Definition);
    // Before the definitions: the views name the new columns.
    await addMeasures(transaction, applied);
    await dropPartials(transaction, applied);
  }

  await createSchema(transaction, rollup.settings.gold.schema);
  await removeTracking(transaction, applied);
  await makeDefinitions(transaction, applied);
  if (known) await placeLateEvents(transaction, applied);
  await installTracking(transaction, applied);
  await commentOn(transaction, applied);
  return applied;
}

/** Asked first: `create schema if not exists` of one that is there takes a right that then nobody needs. */
export async function createSchema(transaction: ControlTransaction, name: string): Promise<void> {
  const found = await query(transaction, 'select from pg_catalog.pg_namespace as n where n.nspname = $1', [
    name,
  ]);
  if (found.length === 0) await query(transaction, `create schema ${quoteName(name)}`);
}

async function refuseTakenName(transaction: ControlTransaction, { settings }: Rollup): Promise<void> {
  const [taken] = await query(
    transaction,
    'select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2',
    [settings.gold.schema, settings.gold.name],
  );
  if (!taken) return;
  throw new Failure(`the gold table of rollup "${settings.name}" exists already`, {
    detail: `${settings.gold.schema}.${settings.gold.name} was not made by Errata`,
    hint: 'name a gold table that does not exist; to take over the totals of this one, use seal: { from: … }',
    exitCode: 2,
  });
}

async function insertRollup(
  transaction: ControlTransaction,
  rollup: Rollup,
  fingerprint: string,
): Promise<number> {
  const complete = await findCompleteFrom(transaction, rollup);
  const { settings } = rollup;
  const [row] = await query<{ rollup_id: number }>(
    transaction,
    `insert into ${quoteName(rollup.schema)}.rollup
       (name, gold_schema, gold_name, definition_fingerprint, seal_by, allowed_lateness, complete_from, complete_from_source, created_at)
     values ($1, $2, $3, $4, $5, $6::interval, $7::timestamptz, $8, clock_timestamp())
     returning rollup_id`,
    [
      settings.name,
      settings.gold.schema,
      settings.gold.name,
      fingerprint,
      settings.seal.by,
      microseconds(settings.allowedLateness),
      complete.instant,
      complete.source,
    ],
  );
  return row?.rollup_id as number;
}

async function updateRollup(
  transaction: ControlTransaction,
  rollup: Rollup,
  fingerprint: string,
): Promise<void> {
  const setting =
    rollup.settings.bronze.completeFrom === undefined
      ? undefined
      : await findCompleteFrom(transaction, rollup);
  await query(
    transaction,
    `update ${quoteName(rollup.schema)}.rollup
     set definition_fingerprint = $2, allowed_lateness = $3::interval,
       complete_from = coalesce($4::timestamptz, complete_from),
       complete_from_source = coalesce($5::text, complete_from_source)
     where rollup_id = $1`,
    [
      rollup.id,
      fingerprint,
      microseconds(rollup.settings.allowedLateness),
      setting?.instant ?? null,
      setting?.source ?? null,
    ],
  );
}

/** A measure added to a rollup is NULL in older versions. */
async function addMeasures(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const { ledger, late_event: lateEvent, past_state: pastState, emission } = relationsOf(rollup);
  for (const { name, type } of rollup.measures) {
    for (const table of [ledger, lateEvent, pastState, emission]) {
      await query(
        transaction,
        `alter table if exists ${table} add column if not exists ${quoteName(name)} ${type}`,
      );
    }
  }
}

/** They hold of one definition; a run makes them anew. */
async function dropPartials(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const names = relationsOf(rollup);
  await query(transaction, `drop table if exists ${names.partial}, ${names.partial_partition}`);
}

/** For tables made before rows could be released from quarantine: `create table if not exists` adds no constraint. */
async function placeLateEvents(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const { late_event: lateEvent } = relationsOf(rollup);
  const found = await query(
    transaction,
    `select from pg_catalog.pg_constraint as c where c.conrelid = to_regclass($1) and c.conname = 'late_event_placed'`,
    [lateEvent],
  );
  if (found.length > 0) return;
  await query(
    transaction,
    `alter table ${lateEvent} add constraint late_event_placed check (
       (landing = 'quarantined' and cause is null) = (window_start is null and window_end is null) or landing is null
     )`,
  );
}
