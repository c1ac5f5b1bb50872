/** Marks: named stamps. What was known at one stays to be asked for by its name (R11). */
import { streamLock } from '../catalog/bindings.ts';
import { relationsOf } from '../catalog/relations.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName, quoteText, trustedSql } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { publishedRollup } from '../report/published-rollup.ts';
import { holdRollupForAct } from './acts.ts';

export interface Mark {
  readonly name: string;
  readonly stamp: string;
  readonly actor: string;
  readonly made_at: string;
  /** Null: of all rollups; else of the one whose period was closed. */
  readonly rollup: string | null;
}

/** The latest first. */
export async function readMarks(transaction: ControlTransaction, schema: string): Promise<Mark[]> {
  return await query<Mark>(
    transaction,
    `select m.name, m.stamp::text as stamp, m.actor, m.made_at::text as made_at, r.name as rollup
     from ${quoteName(schema)}.mark as m
     left join ${quoteName(schema)}.rollup as r on r.rollup_id = m.rollup_id
     order by m.stamp desc, m.name`,
  );
}

/**
 * Pins what is known now of all rollups of the settings. The stamp is later than all that was published, and earlier than all
 * that will be.
 * @throws Failure, exit code 2, if the name is taken; 4 while a run, or an insert of a stream, is under way.
 */
export async function makeMark(
  control: Control,
  settings: Settings,
  name: string,
  actor: string,
): Promise<{ readonly name: string; readonly stamp: string }> {
  return await inTransaction(
    control,
    'read committed',
    async (transaction) => {
      const rollups: Rollup[] = [];
      const stamps: string[] = [];
      for (const chosen of settings.rollups) {
        const rollup = await publishedRollup(transaction, settings, chosen);
        await holdRollupForAct(transaction, settings.schema, rollup.id, chosen.name);
        rollups.push(rollup);
        stamps.push(await nextStamp(transaction, rollup));
      }
      const schema = quoteName(settings.schema);
      const [taken] = await query<{ stamp: string }>(
        transaction,
        `select m.stamp::text as stamp from ${schema}.mark as m where m.name = $1`,
        [name],
      );
      if (taken)
        throw new Failure(`there is a mark ${JSON.stringify(name)} already`, {
          detail: `it stands for ${taken.stamp}, and a mark never moves`,
          hint: 'nothing was done; choose another name',
          exitCode: 2,
        });
      const stamp = await latest(transaction, stamps);
      // Before it is asked whether a stream is inserting: one that begins from here on stamps after the mark.
      for (const rollup of rollups) await tellStamp(transaction, rollup, stamp);
      const { rows } = await execute<{ stamp: string }>(
        transaction,
        prepare('publication/mark.sql', { schema, stream_lock: trustedSql(String(streamLock)) }),
        { rollups: rollups.map(({ id }) => String(id)), name, actor, stamp },
      );
      const [made] = rows;
      if (made) return { name, stamp: made.stamp };
      throw new Failure('a stream is inserting at this moment', {
        detail: 'what it inserts may be stamped before the mark',
        hint: 'nothing was done; run the command again',
        exitCode: 4,
      });
    },
    settings.limits,
  );
}

async function nextStamp(transaction: ControlTransaction, rollup: Rollup): Promise<string> {
  const { touched, last_stamp } = relationsOf(rollup);
  const { rows } = await execute<{ stamp: string }>(
    transaction,
    prepare('pipeline/finish/stamp.sql', { schema: quoteName(rollup.schema), touched, last_stamp }),
    { rollup_id: rollup.id },
  );
  return rows[0]?.stamp as string;
}

async function tellStamp(transaction: ControlTransaction, rollup: Rollup, stamp: string): Promise<void> {
  const { last_stamp } = relationsOf(rollup);
  await execute(
    transaction,
    prepare('pipeline/finish/tell_stamp.sql', { last_stamp, last_stamp_name: quoteText(last_stamp) }),
    { stamp },
  );
}

/** The database compares: an instant is text here (R13). */
async function latest(transaction: ControlTransaction, instants: readonly string[]): Promise<string> {
  const [row] = await query<{ latest: string }>(
    transaction,
    'select max(i.instant)::text as latest from unnest($1::timestamptz[]) as i (instant)',
    [instants],
  );
  return row?.latest as string;
}
