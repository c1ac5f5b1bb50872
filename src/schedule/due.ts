/**
 * What is due, computed from the database: the moments of the schedule since the last one that a run has answered. Nothing
 * of it is in memory, so a restart, a tick that is missed or comes twice, and a second server change nothing.
 */
import { cronFields } from '../config/cron.ts';
import type { ScheduleSettings } from '../config/settings.ts';
import { quoteName } from '../db/identifiers.ts';
import { type Executor, execute, prepare } from '../db/statement.ts';

export interface Due {
  readonly rollupId: number;
  /** The database's clock, or the instant that stood in for it. */
  readonly now: string;
  /** The last attempts failed, and the next is not yet. */
  readonly backsOff: boolean;
  /** Null: nothing is due. */
  readonly moments: Moments | null;
}

/** All are answered by one run. */
export interface Moments {
  readonly firstDueAt: string;
  readonly lastDueAt: string;
  /** Those before the last: nothing ran when they were due. */
  readonly missed: string;
}

interface Standing {
  readonly rollup_id: number;
  readonly now: string;
  readonly after: string;
  readonly is_new: boolean;
  readonly backs_off: boolean;
}

/**
 * A schedule that is seen for the first time counts from then on.
 * @param now an instant; left out: the database's clock.
 * @returns undefined where the rollup is not in the database, or was dropped.
 */
export async function readDue(
  executor: Executor,
  schema: string,
  rollup: string,
  schedule: ScheduleSettings,
  now?: string,
): Promise<Due | undefined> {
  const bindings = { schema: quoteName(schema) };
  const about = { cron: schedule.cron, time_zone: schedule.timeZone };
  const { rows } = await execute<Standing>(executor, prepare('schedule/standing.sql', bindings), {
    ...about,
    rollup,
    now: now ?? null,
  });
  const [standing] = rows;
  if (standing === undefined) return undefined;
  const { rollup_id: rollupId, now: at, after, backs_off: backsOff } = standing;
  if (standing.is_new)
    await execute(executor, prepare('schedule/remember.sql', bindings), {
      ...about,
      rollup_id: rollupId,
      now: at,
    });
  const moments = standing.is_new ? null : await momentsOf(executor, schedule, after, at);
  return { rollupId, now: at, backsOff, moments };
}

/** After one instant, up to and with another. */
export async function momentsOf(
  executor: Executor,
  { cron, timeZone }: ScheduleSettings,
  after: string,
  until: string,
): Promise<Moments | null> {
  const fields = cronFields(cron);
  const { rows } = await execute<{
    moments: string;
    first_due_at: string | null;
    last_due_at: string | null;
  }>(executor, prepare('schedule/moments.sql', {}), {
    minutes: fields.minutes.map(String),
    hours: fields.hours.map(String),
    days: fields.days.map(String),
    months: fields.months.map(String),
    weekdays: fields.weekdays.map(String),
    either_day: fields.eitherDay,
    every_hour: fields.everyHour,
    time_zone: timeZone,
    after,
    until,
  });
  const [found] = rows;
  if (!found?.first_due_at || !found.last_due_at) return null;
  return {
    firstDueAt: found.first_due_at,
    lastDueAt: found.last_due_at,
    missed: String(BigInt(found.moments) - 1n),
  };
}
