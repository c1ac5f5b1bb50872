/** Two runs of one rollup never interleave, directly and behind a transaction pooler; other rollups go on (R18, B09). */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errata, startDirectly, workDirectory } from '../commands/command.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { ordersYaml, plainTable } from '../support/orders.ts';
import { pooled, program } from './pgbouncer.ts';

const settings = ordersYaml();
const second = settings
  .replace('\nrollups:\n', '')
  .replaceAll('daily_orders', 'weekly_orders')
  .replace('1 day', '1 week');
const directory = workDirectory(`${settings}${second}`);
const at = (hour: number) => ['--bound', `2026-11-09T${String(hour).padStart(2, '0')}:00:00Z`];

const ways = [
  { way: 'directly', connections: 0 },
  ...(program ? [{ way: 'through PgBouncer', connections: 3 }] : []),
];

test.skipIf(program !== undefined)(
  'through PgBouncer: skipped, since pgbouncer is not installed',
  ({ skip }) => skip(),
);

// Ten commands on a busy machine take their time.
describe.each(ways)('$way', { timeout: 120_000 }, ({ connections }) => {
  let database: TestDatabase;
  let url: string;
  let holder: pg.Client;

  beforeAll(async () => {
    database = await openTestDatabase();
    url = connections === 0 ? database.url : await pooled(database.url, connections);
    holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await database.pool.query(`${plainTable};
      insert into bronze.orders values ('a', '2026-11-02 10:00Z', '2026-11-02 10:01Z', 'EU', 10), ('pass', '2026-11-09 01:30Z', '2026-11-09 01:30Z', 'ZZ', 1)`);
    const made = await errata(directory, url, 'migrate');
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    const sealed = await errata(directory, url, 'run', ...at(2));
    expect(sealed).toMatchObject({ exitCode: 0 });
    await database.pool.query(
      `insert into bronze.orders values ('late', '2026-11-02 11:00Z', '2026-11-09 02:30Z', 'EU', 5)`,
    );
  });
  afterAll(() => holder.end());

  const ledger = async (name: string) =>
    (
      await database.pool.query(
        `select version, revenue from gold.${name} where region = 'EU' order by version`,
      )
    ).rows;
  const hold = (name: string) =>
    holder.query(`begin; lock table gold.${name}_late_event in access exclusive mode`);
  const untilHeld = () =>
    expect
      .poll(
        async () => {
          const { rows } = await database.pool.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          return rows.length;
        },
        { timeout: 60_000 },
      )
      .toBe(1);

  test('of ten runs at once one publishes, the others say that it holds the rollup; another rollup goes on', async () => {
    await hold('daily_orders');
    const runs = Array.from({ length: 10 }, () => errata(directory, url, 'run', 'daily_orders', ...at(3)));
    await untilHeld();
    const beside = await errata(directory, url, 'run', 'weekly_orders', ...at(3));
    expect(beside).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('corrected 1') });
    let ended = 0;
    for (const run of runs) void run.then(() => ended++);
    await expect.poll(() => ended, { timeout: 60_000 }).toBe(9);
    await holder.query('rollback');
    const ends = await Promise.all(runs);
    expect(ends.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
    for (const { exitCode, stdout } of ends)
      if (exitCode === 4) expect(stdout).toBe('another run holds daily_orders: nothing done there\n');
    const versions = [
      { version: 1, revenue: '10.00' },
      { version: 2, revenue: '15.00' },
    ];
    expect(await ledger('daily_orders')).toEqual(versions);
    expect(await ledger('weekly_orders')).toEqual(versions);
  });

  test('a run that is killed or interrupted frees the rollup, without anybody’s help', async () => {
    await database.pool.query(
      `insert into bronze.orders values ('later', '2026-11-02 12:00Z', '2026-11-09 03:30Z', 'EU', 2)`,
    );
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await hold('daily_orders');
      const started = startDirectly(directory, url, 'run', 'daily_orders', ...at(4));
      await untilHeld();
      started.signal(signal);
      expect((await started.ended).exitCode).toBe(signal === 'SIGKILL' ? null : 143);
      await holder.query('rollback');
      await expect
        .poll(
          async () =>
            (
              await database.pool.query(
                `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
              )
            ).rows,
        )
        .toEqual([]);
    }
    const ended = await errata(directory, url, 'run', 'daily_orders', ...at(4));
    expect(ended).toMatchObject({ exitCode: 0 });
    expect((await ledger('daily_orders')).at(-1)).toEqual({ version: 3, revenue: '17.00' });
  });
});

test.skipIf(program === undefined)(
  'what others leave on a pooled connection does not reach a run, and a run leaves nothing on it',
  async () => {
    const database = await openTestDatabase();
    await database.pool.query(`${plainTable}; insert into bronze.orders values ('a', '2026-11-02 10:00Z', '2026-11-02 10:01Z', 'EU', 10), ('pass', '2026-11-09 01:30Z', '2026-11-09 01:30Z', 'ZZ', 1);
    create schema trap; create table trap.orders (order_id text); create function trap.age(xid) returns integer language sql as 'select 1/0'`);
    const url = await pooled(database.url, 1);
    const names = [
      'search_path',
      'timezone',
      'datestyle',
      'intervalstyle',
      'extra_float_digits',
      'bytea_output',
      'standard_conforming_strings',
      'jit',
      'row_security',
    ];
    const dirty = `set search_path = trap, pg_catalog; set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set intervalstyle = 'iso_8601';
    set extra_float_digits = 0; set bytea_output = 'escape'; set standard_conforming_strings = off; set jit = on; set row_security = on;
    prepare stale as select 1`;
    const shown = `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}, (select count(*)::int from pg_prepared_statements) as prepared, (select count(*)::int from pg_class where relpersistence = 't') as temporary`;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(dirty);
    const before = (await client.query(shown)).rows;
    expect(before).toMatchObject([{ search_path: 'trap, pg_catalog', prepared: 1, temporary: 0 }]);
    const ended = [];
    for (const words of [
      ['migrate'],
      ['check'],
      ['run', ...at(2)],
      ['status', '--json'],
      ['explain', 'daily_orders', '2026-11-02', '--json'],
    ])
      ended.push(await errata(directory, url, ...words));
    expect(ended.map(({ exitCode, stderr }) => [exitCode, exitCode === 0 ? '' : stderr])).toEqual(
      Array.from({ length: 5 }, () => [0, '']),
    );
    expect((await client.query(shown)).rows).toEqual(before);
    await client.end();
    const clean = await errata(directory, database.url, 'explain', 'daily_orders', '2026-11-02', '--json');
    expect(ended.at(-1)?.stdout).toBe(clean.stdout);
  },
);
