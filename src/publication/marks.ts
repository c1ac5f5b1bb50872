/** Marks: named stamps. What was known at one stays to be asked for by its name (R11). */
import { streamLock } from '../catalog/bindings.ts';
import type { Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName, trustedSql } from '../db/identifiers.ts';
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
      const ids: string[] = [];
      for (const chosen of settings.rollups) {
        const { id } = await publishedRollup(transaction, settings, chosen);
        await holdRollupForAct(transaction, settings.schema, id, chosen.name);
        ids.push(String(id));
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
      const { rows } = await execute<{ stamp: string }>(
        transaction,
        prepare('publication/mark.sql', { schema, stream_lock: trustedSql(String(streamLock)) }),
        { rollups: ids, name, actor },
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
