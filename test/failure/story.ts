/**
 * One history in three runs, of which the second is disturbed. A base database holds the first run and the rows of the
 * second; each disturbance works on a copy of it, and what comes out must equal a copy that nothing disturbed.
 */
import pg from 'pg';
import { expect } from 'vitest';
import { controlOf } from '../../src/db/control.ts';
import { createPool } from '../../src/db/pool.ts';
import type { RunReport } from '../../src/pipeline/report.ts';
import { runRollup, type SpineOptions } from '../../src/pipeline/run.ts';
import type { TestDatabase } from '../support/database.ts';
import { dailyPartitions, type Orders, openOrders } from '../support/orders.ts';
import { databaseUrl, execute } from '../support/template.ts';

export const bounds = ['2026-10-30T03:00Z', '2026-11-02T12:00Z', '2026-11-03T12:00Z'] as const;

export const storyOptions = {
  ddl: dailyPartitions,
  policy: 'grace',
  window: '{ calendar: 1 day, time_zone: Europe/Berlin }',
} as const;

/** Sealed, late, refused, copied, in conflict, quarantined, ahead of the bound: every stage has work. */
const secondRows = `
  insert into bronze.orders
  select 'o' || n, timestamptz '2026-10-30 02:00+00' + n * interval '7 minutes',
    timestamptz '2026-10-30 02:01+00' + n * interval '7 minutes', (array['EU', 'US', null])[1 + n % 3], n * 0.25
  from generate_series(1, 600) as n;
  insert into bronze.orders
  select 'late' || n, timestamptz '2026-10-29 03:00+00' + n * interval '20 minutes',
    timestamptz '2026-10-31 09:00+00' + n * interval '9 minutes', (array['EU', 'US'])[1 + n % 2], 3.10 * n
  from generate_series(1, 120) as n;
  insert into bronze.orders values
    ('o7', '2026-10-30T02:49Z', '2026-10-31T10:00Z', 'US', 1.75), ('o8', '2026-10-30T02:56Z', '2026-10-31T10:00Z', 'US', 99),
    ('ahead', '2026-12-30T00:00Z', '2026-10-31T10:00Z', 'US', 99), ('waits', '2026-11-02T12:01Z', '2026-11-02T12:02Z', 'EU', 1)`;
const thirdRow = `insert into bronze.orders values ('after', '2026-11-01T12:00Z', '2026-11-03T10:00Z', 'EU', 2.50)`;

export interface Story {
  /** A database of its own, about to make the second run. */
  copy(): Promise<Copy>;
}

export interface Copy {
  readonly url: string;
  readonly pool: pg.Pool;
  /** The second run. */
  run(options?: SpineOptions): Promise<RunReport>;
  /** The second run once more, then the third: each must say what an undisturbed copy says, and leave nothing behind. */
  mustHeal(disturbance: string): Promise<void>;
  close(): Promise<void>;
}

export async function openStory(database?: TestDatabase): Promise<Story> {
  const orders = await openOrders({ ...storyOptions, ...(database ? { database } : {}) });
  await orders.land(
    'a 10-29 10:00 10-29 10:01',
    'b 10-29 11:00 10-29 11:01 US 2.5',
    'pass 10-30 02:00 10-30 02:01 EU 1',
  );
  await orders.run({ bound: bounds[0] });
  await orders.rows(secondRows);
  await orders.database.close();
  const undisturbed = await copyOf(orders, 'undisturbed', ['', '']);
  await undisturbed.run();
  const second = await stateOf(undisturbed.pool);
  await undisturbed.third();
  const expected = [second, await stateOf(undisturbed.pool)] as const;
  await undisturbed.close();
  let copies = 0;
  return { copy: () => copyOf(orders, String(++copies), expected) };
}

async function copyOf(
  orders: Orders,
  suffix: string,
  [second, third]: readonly [string, string],
): Promise<Copy & { third(): Promise<void> }> {
  const base = new URL(orders.database.url).pathname.slice(1);
  const name = `${base}_${suffix}`;
  const server = databaseUrl(orders.database.url, 'postgres');
  await execute(server, `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(base)}`);
  const url = databaseUrl(orders.database.url, name);
  const pool = createPool(url);
  const control = controlOf(pool, 'errata');
  const run = (options: SpineOptions = {}) =>
    runRollup(control, orders.rollup, { bound: bounds[1], ...options });
  const runThird = async () => {
    await pool.query(thirdRow);
    await run({ bound: bounds[2] });
  };
  return {
    url,
    pool,
    run,
    third: runThird,
    mustHeal: async (disturbance) => {
      await untilAlone(pool);
      await run();
      expect(`${disturbance}\n${await stateOf(pool)}`).toBe(`${disturbance}\n${second}`);
      expect(await leftBehind(pool)).toEqual([]);
      await runThird();
      expect(`${disturbance}\n${await stateOf(pool)}`).toBe(`${disturbance}\n${third}`);
    },
    close: async () => {
      await pool.end();
      await execute(server, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
    },
  };
}

/** The server may notice late that its client is gone; nobody has to do anything about it. */
export async function untilAlone(pool: pg.Pool): Promise<void> {
  await expect.poll(async () => (await others(pool)).length, { timeout: 10_000, interval: 20 }).toBe(0);
}

async function others(pool: pg.Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and backend_type = 'client backend'`,
  );
  return rows;
}

/** Locks, temporary objects, prepared transactions and unfinished runs. */
export async function leftBehind(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(`
    select format('lock %s %s %s', l.classid, l.objid, l.mode) as what from pg_locks as l
    where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())
    union all
    select 'temporary ' || c.relname from pg_class as c where c.relpersistence = 't'
    union all
    select 'prepared ' || p.gid from pg_prepared_xacts as p where p.database = current_database()
    union all
    select 'run ' || r.run_id from errata.run as r where r.outcome = 'running'`);
  return rows.map((row) => row.what);
}

/** Which run, when by the clock, which partitions it read again, and numbers that a run rolled back has used up. */
const passing = [
  ...[
    'run_id',
    'first_run_id',
    'state_run_id',
    'gone_run_id',
    'known_from_run_id',
    'until_run_id',
    'proposal_id',
    'emission_id',
    'stamp',
    'sealed_at',
  ],
  ...[
    'corrected_at',
    'proposed_at',
    'decided_at',
    'received_at',
    'created_at',
    'settled_until',
    'last_stamp',
    'states_since',
  ],
  ...[
    'system_identifier',
    'relation_id',
    'horizon',
    'seen',
    'activity',
    'bound',
    'last_examined_at',
    'database_id',
  ],
];
const relations = [
  ...[
    'gold.daily_orders',
    'gold.daily_orders_late_event',
    'errata.daily_orders_touched',
    'errata.daily_orders_copy',
  ],
  ...[
    'errata.daily_orders_emission',
    'errata.daily_orders_source_change',
    'errata.rollup',
    'errata.watermark_step',
  ],
  ...['errata.proposal', 'errata.ingestion_partition'],
  ...['errata.past_proposal', 'errata.daily_orders_past_state'],
];

/** Everything that a run decides, as text: one line a row, in the order of the text. */
export async function stateOf(pool: pg.Pool): Promise<string> {
  const texts = relations.map(
    (relation) => `select '${relation} ' || (to_jsonb(t) - $1::text[])::text as line from ${relation} as t`,
  );
  const { rows } = await pool.query<{ line: string }>(
    `select s.line from (${texts.join(' union all ')}) as s order by s.line collate "C"`,
    [passing],
  );
  return rows.map((row) => row.line).join('\n');
}
