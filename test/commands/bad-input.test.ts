/** The bad input of issue 2: one clear message, the right exit code, and nothing half written. */
import { describe, expect, test } from 'vitest';
import { refuseOldServer } from '../../src/cli/database.ts';
import { openTestDatabase } from '../support/database.ts';
import { databaseUrl } from '../support/template.ts';
import { errata, rowCounts, workDirectory } from './command.ts';
import { startOldServer } from './old-server.ts';

const rollup = (name: string, table: string, key: string, measures: string) => `
  ${name}:
    gold: gold.${name}
    bronze: { table: bronze.${table}, event_id: id, event_time: happened_at, ingested_at: ingested_at }
    window: { tumbling: 1 hour }
    key: [${key}]
    measures: { ${measures} }
    watermark: { strategy: bounded, delay: 0 }
    allowed_lateness: 0
    seal: { by: errata }
    publish: { policy: auto }`;

const settings = (...rollups: string[]) => `database: \${DATABASE_URL}\nrollups:${rollups.join('')}\n`;

const columns = `(
  id bigint, happened_at timestamptz, ingested_at timestamptz, region text, amount numeric, pieces numeric
)`;
const row = (id: number, hour: string, region: string, pieces: number) =>
  `(${id}, '2026-10-01 ${hour}:15Z', '2026-10-01 ${hour}:15Z', ${region}, 10, ${pieces})`;

describe('rows that are hard on a rollup', () => {
  const database = openTestDatabase();
  const yaml = settings(
    rollup('of_nothing', 'empty', 'region', 'rows: count(*)'),
    rollup('no_key', 'orders', '', 'rows: count(*), amount: sum(amount)'),
    rollup('null_key', 'orders', 'region', 'rows: count(*), amount: sum(amount)'),
    rollup('ratio', 'orders', 'region', 'rows: count(*), price: sum(amount / pieces)'),
  );
  const directory = workDirectory(yaml);

  test('one run: three come through, of the fourth the window that fails is set aside, with its error', async () => {
    const { url, pool } = await database;
    await pool.query(`create schema bronze;
      create table bronze.empty ${columns};
      create table bronze.orders ${columns};
      insert into bronze.orders values ${row(1, '10', 'null', 1)}, ${row(2, '10', "'eu'", 2)}, ${row(3, '11', "'eu'", 0)}, ${row(4, '13', "'eu'", 1)}`);
    const checked = await errata(directory, url, 'check');
    expect(checked.stdout).toContain('everything fits');
    expect(checked.exitCode).toBe(0);
    const migrated = await errata(directory, url, 'migrate');
    expect(migrated.stdout).toContain('of_nothing: gold.of_nothing is ready; bronze is empty');
    expect(migrated.exitCode).toBe(0);
    const ran = await errata(directory, url, 'run');
    expect(ran.exitCode).toBe(3);
    expect(ran.stdout).toBe(
      '4 rollups: sealed 7 keyed windows, corrected 0, no event newly pending, ' +
        '1 keyed window failing: a measure cannot be computed, nothing blocked\n',
    );
    const lines = ran.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ rollup: name, outcome }) => [name, outcome ?? 'starts'])).toEqual([
      ['of_nothing', 'starts'],
      ['of_nothing', 'done'],
      ['no_key', 'starts'],
      ['no_key', 'done'],
      ['null_key', 'starts'],
      ['null_key', 'done'],
      ['ratio', 'starts'],
      ['ratio', 'attention'],
    ]);
    expect(lines.at(-1).failing).toMatchObject([
      { key: { region: 'eu' }, is_unsealed: true, error: 'division by zero (22012)', tries: 1 },
    ]);
    const { rows: runs } = await pool.query(
      'select r.name, u.outcome from errata.run as u join errata.rollup as r using (rollup_id) order by u.run_id',
    );
    expect(runs).toEqual([
      { name: 'of_nothing', outcome: 'done' },
      { name: 'no_key', outcome: 'done' },
      { name: 'null_key', outcome: 'done' },
      { name: 'ratio', outcome: 'attention' },
    ]);
    const { rows: sealed } = await pool.query(
      'select region, rows, amount from gold.null_key where version = 1 order by window_start, region',
    );
    expect(sealed).toEqual([
      { region: 'eu', rows: '1', amount: '10' },
      { region: null, rows: '1', amount: '10' },
      { region: 'eu', rows: '1', amount: '10' },
    ]);
  });

  test('once the row is corrected, the window that failed comes through', async () => {
    const { url, pool } = await database;
    await pool.query('update bronze.orders set pieces = 5 where id = 3');
    const ran = await errata(directory, url, 'run', 'ratio');
    expect(ran.stdout).toBe(
      'ratio: sealed 1 keyed window, corrected 0, no event newly pending, nothing blocked\n',
    );
    expect(ran.exitCode).toBe(0);
  });

  test('a bronze table that vanished between check and run', async () => {
    const { url, pool } = await database;
    await pool.query('alter table bronze.orders rename to moved');
    const before = await rowCounts(pool);
    const ran = await errata(directory, url, 'run', 'no_key', '--json');
    expect(ran.exitCode).toBe(2);
    expect(JSON.parse(ran.stdout).rollups).toEqual([
      {
        rollup: 'no_key',
        outcome: 'failed',
        error: {
          message: 'rollup "no_key" does not fit its bronze',
          detail:
            'errata.yaml:13  rollups.no_key.bronze.table: there is no table or view bronze.orders; create it, or correct the name',
          hint: '`errata check` lists everything that does not fit',
          exitCode: 2,
        },
      },
    ]);
    expect(await rowCounts(pool)).toEqual(before);
  });
});

describe('nothing to work with', () => {
  const yaml = settings(rollup('daily', 'orders', '', 'rows: count(*)'));

  test('a database that is not there', async () => {
    const { url } = await openTestDatabase();
    const elsewhere = new URL(databaseUrl(url, 'no_such_database'));
    // a server that asks for none takes any password; one that asks must get its own, or it says less
    elsewhere.password ||= 'open-sesame';
    const ended = await errata(workDirectory(yaml), elsewhere.href, 'run');
    expect(ended.stderr).toMatch(
      /^there is no database at \S+, database no_such_database, user \S+\n {2}detail: database "no_such_database" does not exist \(3D000\)\n {2}hint: {3}create it, or correct `database` or DATABASE_URL\n$/,
    );
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ended.stderr).not.toContain(elsewhere.password);
  });

  test('no server answers', async () => {
    const url = 'postgres://etl:open-sesame@127.0.0.1:9/orders';
    const ended = await errata(workDirectory(yaml), url, 'plan', '--json');
    expect(ended.stderr).toBe(
      'no database answers at 127.0.0.1:9, database orders, user etl\n' +
        '  detail: connect ECONNREFUSED 127.0.0.1:9 (ECONNREFUSED)\n' +
        '  hint:   start the server, or correct `database` in the settings, DATABASE_URL or the PG* variables\n',
    );
    expect(JSON.parse(ended.stdout)).toEqual({
      error: {
        message: 'no database answers at 127.0.0.1:9, database orders, user etl',
        detail: 'connect ECONNREFUSED 127.0.0.1:9 (ECONNREFUSED)',
        hint: 'start the server, or correct `database` in the settings, DATABASE_URL or the PG* variables',
        exitCode: 1,
      },
    });
    expect(ended.exitCode).toBe(1);
  });

  test('settings that are not YAML', async () => {
    const ended = await errata(workDirectory('rollups: [ { a: }'), 'postgres://127.0.0.1:9/x', 'check');
    expect(ended.stderr).toMatch(/^errata\.yaml has /);
    expect(ended.stderr).toMatch(/errata\.yaml:1:\d+ /);
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('no settings at all', async () => {
    const ended = await errata(workDirectory(), undefined, 'run');
    expect(ended.stderr).toBe(
      'there is no file errata.yaml\n' +
        '  hint:   run `errata init` to write a starting file, or name yours with --config\n',
    );
    expect(ended.exitCode).toBe(2);
  });

  test('a PostgreSQL that is too old', async () => {
    const old = await startOldServer();
    const ended = await errata(workDirectory(yaml), old.url, 'migrate');
    old.close();
    expect(ended.stderr).toBe(
      'PostgreSQL 14 is too old\n' +
        '  detail: the server runs version 14.11; Errata needs PostgreSQL 15 or newer\n' +
        '  hint:   upgrade the server, or name another one as `database` in the settings\n',
    );
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
    expect(() => refuseOldServer(149999)).toThrow('PostgreSQL 14 is too old');
    expect(() => refuseOldServer(150000)).not.toThrow();
  });
});
