/** What a person does to a rollup as a whole. On record, append-only: who, by which role, why and when. */
import { relationsOf } from '../catalog/relations.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import type { Control } from '../db/control.ts';
import { quoteName } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import { type ControlTransaction, inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { publishedRollup } from '../report/published-rollup.ts';
import type { Speaker } from './speaker.ts';

export interface Act extends Speaker {
  readonly act: 'pause' | 'resume' | 'rename' | 'drop';
  readonly old_name: string;
  readonly new_name: string;
  readonly db_role: string;
  readonly acted_at: string;
}

/** A run of a paused rollup does nothing; by cron that is no failure, so `run` ends with 0. */
export class PausedRollup extends Failure {}

/** The pause that stands, if any. */
export async function standingPause(
  transaction: ControlTransaction,
  schema: string,
  rollupId: number,
): Promise<Act | null> {
  const [last] = await query<Act>(
    transaction,
    `select a.act, a.old_name, a.new_name, a.actor, a.reason, a.db_role, a.acted_at::text as acted_at
     from ${quoteName(schema)}.rollup_act as a
     where a.rollup_id = $1 and a.act in ('pause', 'resume')
     order by a.act_id desc limit 1`,
    [rollupId],
  );
  return last?.act === 'pause' ? last : null;
}

export function pausedText({ actor, acted_at: at, reason }: Act): string {
  return `paused by ${actor} since ${at}: ${reason}`;
}

/** Nothing of it is run or published until it is resumed; a run under way comes to its end. @throws Failure, exit code 2. */
export async function pauseRollup(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  speaker: Speaker,
): Promise<Act> {
  return await pauseOrResume(control, settings, chosen, 'pause', speaker);
}

/** @throws Failure, exit code 2, if it is not paused. */
export async function resumeRollup(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  speaker: Speaker,
): Promise<Act> {
  return await pauseOrResume(control, settings, chosen, 'resume', speaker);
}

async function pauseOrResume(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  act: 'pause' | 'resume',
  speaker: Speaker,
): Promise<Act> {
  return await inTransaction(
    control,
    'read committed',
    async (transaction) => {
      const { id } = await publishedRollup(transaction, settings, chosen);
      await refuseDropped(transaction, settings.schema, chosen.name);
      const pause = await standingPause(transaction, settings.schema, id);
      if ((pause !== null) === (act === 'pause')) {
        throw new Failure(`rollup "${chosen.name}" is ${pause ? 'paused already' : 'not paused'}`, {
          detail: pause ? pausedText(pause) : undefined,
          hint: 'nothing was done',
          exitCode: 2,
        });
      }
      return await record(transaction, settings.schema, id, act, chosen.name, chosen.name, speaker);
    },
    settings.limits,
  );
}

/**
 * What reads bronze or hears of it goes: the live view, the functions over bronze, the trigger of `track_changes`. The
 * ledger, the late events, the views over them and the record of runs stay; the ledger takes nothing more.
 * @throws Failure, exit code 4 while a run holds the rollup.
 */
export async function dropRollup(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  speaker: Speaker,
): Promise<Act> {
  return await inTransaction(
    control,
    'read committed',
    async (transaction) => {
      const rollup = await publishedRollup(transaction, settings, chosen);
      await refuseDropped(transaction, settings.schema, chosen.name);
      await holdRollupForAct(transaction, settings.schema, rollup.id, chosen.name);
      const names = relationsOf(rollup);
      const statements = [
        `drop view if exists ${names.live}`,
        `drop function if exists ${names.open_windows}()`,
        // with the trigger on bronze that calls it
        `drop function if exists ${names.track_changes}() cascade`,
        `drop function if exists ${names.source}()`,
        `truncate ${names.touched}`,
      ];
      for (const statement of statements) await query(transaction, statement);
      const act = await record(
        transaction,
        settings.schema,
        rollup.id,
        'drop',
        chosen.name,
        chosen.name,
        speaker,
      );
      await query(
        transaction,
        `update ${quoteName(settings.schema)}.rollup set dropped_at = $2::timestamptz where rollup_id = $1`,
        [rollup.id, act.acted_at],
      );
      return act;
    },
    settings.limits,
  );
}

/** As a run does, so that none is under way. */
export async function holdRollupForAct(
  transaction: ControlTransaction,
  schema: string,
  id: number,
  name: string,
): Promise<void> {
  const [lock] = await query<{ taken: boolean }>(
    transaction,
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as taken',
    [rollupLock(schema, id)],
  );
  if (lock?.taken) return;
  throw new Failure(`a run holds rollup "${name}"`, {
    hint: 'nothing was done; run the command again when it is over',
    exitCode: 4,
  });
}

/** What a run's lock hashes: the number, not the name, so that a renamed rollup has the same. */
export function rollupLock(schema: string, id: number): string {
  return `errata ${schema} rollup ${id}`;
}

export async function record(
  transaction: ControlTransaction,
  schema: string,
  id: number,
  act: Act['act'],
  oldName: string,
  newName: string,
  { actor, reason }: Speaker,
): Promise<Act> {
  const [row] = await query<Act>(
    transaction,
    `insert into ${quoteName(schema)}.rollup_act as a (rollup_id, act, old_name, new_name, actor, reason, acted_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp())
     returning a.act, a.old_name, a.new_name, a.actor, a.reason, a.db_role, a.acted_at::text as acted_at`,
    [id, act, oldName, newName, actor, reason],
  );
  return row as Act;
}

/** @throws Failure, exit code 2. */
export async function refuseDropped(
  transaction: ControlTransaction,
  schema: string,
  name: string,
): Promise<void> {
  const [act] = await query<Act>(
    transaction,
    `select a.actor, a.reason, a.acted_at::text as acted_at
     from ${quoteName(schema)}.rollup as r
     join ${quoteName(schema)}.rollup_act as a using (rollup_id)
     where r.name = $1 and r.dropped_at is not null and a.act = 'drop'`,
    [name],
  );
  if (!act) return;
  throw new Failure(`rollup "${name}" was dropped`, {
    detail: `by ${act.actor} at ${act.acted_at}: ${act.reason}; its ledger and its late events stay`,
    hint: 'take it out of the settings; for new numbers declare a rollup with another name and another gold table',
    exitCode: 2,
  });
}
