/**
 * Another name for a rollup: of its row, of the private relations that are named after it, and of their functions, whose
 * bodies are written anew. Gold keeps its name, and so do the views that people read.
 */
import { applyRollup } from '../catalog/apply.ts';
import { describedRollup } from '../catalog/open.ts';
import { privateNames, relationsOf } from '../catalog/relations.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName, quoteTable } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { type Act, holdRollupForAct, record, refuseDropped } from '../publication/acts.ts';
import type { Speaker } from '../publication/speaker.ts';
import { actAsJob, grantRights, readRoles } from './roles.ts';

/** @param chosen the rollup as the settings have it, under either name. @throws Failure, exit code 2 or 4. */
export async function renameRollup(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  names: { readonly from: string; readonly to: string },
  speaker: Speaker,
): Promise<Act> {
  const { schema } = settings;
  return await inTransaction(
    control,
    'read committed',
    async (transaction) => {
      // Definitions may be made anew, with the settings as they are now.
      if (settings.roles) await actAsJob(transaction, settings, await readRoles(transaction, settings.roles));
      const known = await query<{ rollup_id: number; name: string }>(
        transaction,
        `select r.rollup_id, r.name from ${quoteName(schema)}.rollup as r where r.name in ($1, $2)`,
        [names.from, names.to],
      );
      const rollup = known.find(({ name }) => name === names.from);
      if (!rollup) throw refused(`the database has no rollup "${names.from}"`);
      if (known.length > 1) throw refused(`the database has a rollup "${names.to}" already`);
      await refuseDropped(transaction, schema, names.from);
      await holdRollupForAct(transaction, schema, rollup.rollup_id, names.from);
      await dropTracking(transaction, { settings: { ...chosen, name: names.from }, schema } as Rollup);
      await renamePrivate(transaction, schema, names);
      await query(transaction, `update ${quoteName(schema)}.rollup set name = $2 where rollup_id = $1`, [
        rollup.rollup_id,
        names.to,
      ]);
      await applyRollup(
        transaction,
        await describedRollup(transaction, settings, { ...chosen, name: names.to }),
      );
      await grantRights(transaction, {
        ...settings,
        rollups: [{ ...chosen, name: names.to }],
      });
      return await record(transaction, schema, rollup.rollup_id, 'rename', names.from, names.to, speaker);
    },
    settings.limits,
  );
}

function refused(message: string): Failure {
  return new Failure(message, { hint: 'nothing was done', exitCode: 2 });
}

/** The triggers on bronze bear a tag of the rollup's name: applying the rollup makes them anew. */
async function dropTracking(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  await query(transaction, `drop function if exists ${relationsOf(rollup).track_changes}() cascade`);
}

async function renamePrivate(
  transaction: ControlTransaction,
  schema: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const found = await query<{ kind: string; suffix: string }>(
    transaction,
    `with suffix as (select unnest($3::text[]) as suffix)
     select case c.relkind when 'i' then 'index' else 'table' end as kind, s.suffix
     from suffix as s
     join pg_catalog.pg_class as c on c.relname = $2::text || s.suffix and c.relkind in ('r', 'i', 'S')
     join pg_catalog.pg_namespace as n on n.oid = c.relnamespace and n.nspname = $1::text
     union all
     select 'routine', s.suffix
     from suffix as s
     join pg_catalog.pg_proc as p on p.proname = $2::text || s.suffix
     join pg_catalog.pg_namespace as n on n.oid = p.pronamespace and n.nspname = $1::text`,
    [schema, from, privateNames],
  );
  for (const { kind, suffix } of found) {
    const old = quoteTable({ schema, name: from + suffix });
    await query(transaction, `alter ${kind} ${old} rename to ${quoteName(to + suffix)}`);
  }
}
