/** Servers on a clock of the test's own, over a small bronze: rollups with schedules, and what has been answered. */
import { type Logger, pino } from 'pino';
import { parseSettings } from '../../src/config/read-settings.ts';
import type { ScheduleSettings, Settings } from '../../src/config/settings.ts';
import { type Control, controlOf } from '../../src/db/control.ts';
import { createPool } from '../../src/db/pool.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { migrateAll } from '../../src/install/install.ts';
import { momentsOf } from '../../src/schedule/due.ts';
import { Loop } from '../../src/schedule/loop.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { onFileEnd } from '../support/file-end.ts';

/** One rollup a schedule, named as given, all over `bronze.orders`. */
export function scheduledYaml(schedules: Readonly<Record<string, ScheduleSettings>>, more = ''): string {
  const rollups = Object.entries(schedules).map(
    ([name, { cron, timeZone }]) => `
  ${name}:
    gold: gold.${name}
    bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }
    window: { calendar: 1 day, time_zone: UTC }
    key: [region]
    measures: { orders: count(*), revenue: sum(amount) }
    watermark: { strategy: bounded, delay: 1 hour }
    seal: { by: errata }
    publish: { policy: grace }
    schedule: { cron: "${cron}", time_zone: ${timeZone} }`,
  );
  return `rollups:${rollups.join('')}\n${more}`;
}

export const orders = `create schema bronze;
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2));
  insert into bronze.orders values ('1', '2026-01-05 10:00Z', '2026-01-05 10:00Z', 'EU', 10), ('2', '2026-01-07 10:00Z', '2026-01-07 10:00Z', 'EU', 10)`;

export interface Answered {
  readonly rollup: string;
  readonly first_due_at: string;
  readonly due_at: string;
  readonly missed: string;
  readonly run_id: string;
  readonly outcome: string;
}

export interface Servers {
  readonly database: TestDatabase;
  readonly settings: Settings;
  readonly yaml: string;
  readonly control: Control;
  /** Another one, with connections and a memory of its own. */
  start(logger?: Logger): Server;
  answered(rollup?: string): Promise<Answered[]>;
  /** What the schedule asks for, one by one. */
  momentsOf(rollup: string, after: string, until: string): Promise<string[]>;
}

export interface Server {
  readonly loop: Loop;
  tick(now?: string): Promise<void>;
  /** Its backends end in whatever they do, and it says nothing any more. */
  kill(): Promise<void>;
  stop(): void;
}

export async function openServers(
  schedules: Readonly<Record<string, ScheduleSettings>>,
  more = '',
): Promise<Servers> {
  const database = await openTestDatabase();
  await database.pool.query(orders);
  const yaml = scheduledYaml(schedules, more);
  const settings = parseSettings(yaml, 'errata.yaml', {});
  const control = controlOf(database.pool, settings.schema);
  await migrateAll(control, settings);
  let servers = 0;
  return {
    database,
    settings,
    yaml,
    control,
    start: (logger = pino({ level: 'silent' })) => {
      const name = `server ${++servers}`;
      const url = new URL(database.url);
      url.searchParams.set('application_name', name);
      const pool = createPool(url.href, { max: 4 });
      onFileEnd(async () => void pool.end().catch(() => {}));
      const [stop, cancelled] = [new AbortController(), new AbortController()];
      const loop = new Loop({
        control: controlOf(pool, settings.schema),
        settings,
        logger,
        stop: stop.signal,
        cancelled: cancelled.signal,
      });
      return {
        loop,
        tick: (now) => loop.tick(now),
        kill: async () => {
          stop.abort();
          cancelled.abort();
          await database.pool.query(
            'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and application_name = $1',
            [name],
          );
        },
        stop: () => stop.abort(),
      };
    },
    answered: async (rollup) => {
      const { rows } = await database.pool.query<Answered>(
        `select r.name as rollup, m.first_due_at::text, m.due_at::text, m.missed, m.run_id, u.outcome
         from errata.due_moment as m join errata.rollup as r using (rollup_id) join errata.run as u using (run_id)
         where $1::text is null or r.name = $1 order by r.name, m.due_at`,
        [rollup ?? null],
      );
      return rows;
    },
    momentsOf: async (rollup, after, until) => {
      const schedule = schedules[rollup] as ScheduleSettings;
      return await inTransaction(control, 'read committed', async (transaction) => {
        const found: string[] = [];
        for (let from = after; ; ) {
          const moments = await momentsOf(transaction, schedule, from, until);
          if (moments === null) return found;
          found.push(moments.firstDueAt);
          from = moments.firstDueAt;
        }
      });
    },
  };
}
