/**
 * The optional trigger on bronze, the one thing of ours that stands on a table of the user's: `track_changes: true` puts
 * it there, and leaving the setting out takes it away. Where `deletes: retention` says that rows are deleted when their time
 * is up, it follows updates only.
 *
 * Of each statement, with transition tables, and on the partitioned parent: rows of all partitions for the price of one
 * call. A statement that names a partition itself does not fire it (LIMITATIONS.md).
 */
import { quoteName, quoteTable } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { nameText } from './describe.ts';
import { relationsOf } from './relations.ts';
import type { Rollup } from './rollup.ts';

/** Before the definitions: a trigger that is not wanted, or stands on another table, goes with its function. */
export async function removeTracking(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const { track_changes: name } = relationsOf(rollup);
  const { deletes } = rollup.settings.bronze;
  const [found] = await query<{ is_unwanted: boolean }>(
    transaction,
    // bit 3 of the type: it follows deletes
    `select exists (
       select from pg_catalog.pg_trigger as t
       where t.tgfoid = p.oid and (t.tgrelid <> $2::oid or ($3::boolean and (t.tgtype & 8) > 0))
     ) as is_unwanted
     from pg_catalog.pg_proc as p where p.oid = to_regprocedure($1)`,
    [`${name}()`, rollup.relationId, deletes === 'retention'],
  );
  if (!found || (rollup.settings.bronze.trackChanges && !found.is_unwanted)) return;
  // With its function, since dropping a trigger takes the table's owner.
  await query(transaction, `drop function ${name}() cascade`);
}

/** After the definitions. A trigger that is there already is not made again: that would wait for all writers of bronze. */
export async function installTracking(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const { bronze, name } = rollup.settings;
  if (!bronze.trackChanges) return;
  await refuseForeignPartitions(transaction, rollup);
  const { track_changes: track } = relationsOf(rollup);
  const [row] = await query<{ names: string[]; tag: string }>(
    transaction,
    `select
       array(select t.tgname::text from pg_catalog.pg_trigger as t where t.tgfoid = to_regprocedure($1) and t.tgrelid = $2::oid) as names,
       left(md5($3), 8) as tag`,
    [`${track}()`, rollup.relationId, `${rollup.schema}.${name}`],
  );
  const kinds = [
    ['update', 'referencing old table as old_rows new table as new_rows'],
    ['delete', 'referencing old table as old_rows'],
  ] as const;
  for (const [kind, referencing] of kinds) {
    // Several rollups, and several installations, may follow one table.
    const trigger = `errata_track_${kind}_${row?.tag}`;
    if (row?.names.includes(trigger) || (kind === 'delete' && bronze.deletes === 'retention')) continue;
    await query(
      transaction,
      `create trigger ${quoteName(trigger)} after ${kind} on ${quoteTable(bronze.table)} ${referencing}
       for each statement execute function ${track}()`,
    );
  }
}

/** PostgreSQL collects no rows of foreign partitions: with the trigger a statement of the user's would fail. */
async function refuseForeignPartitions(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const [foreign] = await query<{ relation: string }>(
    transaction,
    `select t.relid::regclass::text as relation
     from pg_catalog.pg_partition_tree($1::oid::regclass) as t
     join pg_catalog.pg_class as c on c.oid = t.relid
     where c.relkind = 'f' limit 1`,
    [rollup.relationId],
  );
  if (!foreign) return;
  const table = nameText(rollup.settings.bronze.table);
  throw new Failure(`changes of ${table} cannot be tracked`, {
    detail: `its partition ${foreign.relation} is a foreign table, and a trigger would make updates of it fail`,
    hint: 'leave track_changes out, and say what changed with `errata amend`',
    exitCode: 2,
  });
}
