/** A database of every earlier state of the control tables is brought up to date, and goes on (R8, R11, R14, R16, R21). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import type { Outcome, Verb } from '../../src/cli/verb.ts';
import { check } from '../../src/commands/check.ts';
import { close } from '../../src/commands/close.ts';
import { explain } from '../../src/commands/explain.ts';
import { plan } from '../../src/commands/plan.ts';
import { publish } from '../../src/commands/publish.ts';
import { reconcile } from '../../src/commands/reconcile.ts';
import { run } from '../../src/commands/run.ts';
import { statement } from '../../src/commands/statement.ts';
import { status } from '../../src/commands/status.ts';
import { verify } from '../../src/commands/verify.ts';
import { parseSettings } from '../../src/config/read-settings.ts';
import type { Settings } from '../../src/config/settings.ts';
import { type Control, controlOf } from '../../src/db/control.ts';
import { migrateAll, rehearse } from '../../src/install/install.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { statementDirectory } from '../support/statement.ts';
import { bronze, settingsAt, states } from './history.ts';

const directory = new URL('states/', import.meta.url);
const catalogue = readFileSync(new URL('catalogue.sql', import.meta.url), 'utf8');
const ledgers = ['daily_orders', 'shipped', 'meters', 'visits', 'told'];
const statements = statementDirectory();
/** All that is tried, in these states alone: it would take a minute in every one. */
const whole = new Set(
  process.env.ERRATA_STATES === 'whole' ? states.map(({ migration }) => migration) : ['0001', '0009', '0018'],
);

interface Upgraded {
  readonly database: TestDatabase;
  readonly control: Control;
  readonly settings: Settings;
  readonly yaml: string;
  lines(sql: string): Promise<string[]>;
}

async function loaded(migration: string): Promise<Upgraded> {
  const database = await openTestDatabase();
  await database.pool.query(gunzipSync(readFileSync(new URL(`${migration}.sql.gz`, directory))).toString());
  const { rows } = await database.pool.query<{ name: string }>('select name from errata.kysely_migration');
  const yaml = settingsAt(new Set(rows.map(({ name }) => name.slice(0, 4))));
  return withSettings(database, yaml);
}

function withSettings(database: TestDatabase, yaml: string): Upgraded {
  const settings = parseSettings(yaml, 'errata.yaml', {});
  return {
    database,
    yaml,
    settings,
    control: controlOf(database.pool, settings.schema),
    lines: async (sql) => (await database.pool.query<{ line: string }>(sql)).rows.map(({ line }) => line),
  };
}

/** In this process, so that a state takes a second and not ten. */
async function call<Options>(
  { settings, control, database }: Upgraded,
  verb: Verb<Options>,
  args: readonly string[],
  options: Options,
): Promise<Outcome> {
  const context = {
    environment: {},
    directory: '/',
    signal: new AbortController().signal,
    isTerminal: false,
    logger: pino({ level: 'silent' }),
    say: () => {},
    settings: () => settings,
    open: async () => ({ control, pool: database.pool, serverVersion: 180_000 }),
  };
  return await verb.execute(context as unknown as Context, args, options);
}

/** The catalogue after a fresh install, by the settings. */
const fresh = new Map<string, Promise<string[]>>();

async function freshCatalogue(yaml: string): Promise<string[]> {
  const database = await openTestDatabase();
  await database.pool.query(bronze);
  const install = withSettings(database, yaml);
  await migrateAll(install.control, install.settings);
  return await catalogueOf(database);
}

async function catalogueOf({ pool }: TestDatabase): Promise<string[]> {
  return (await pool.query<{ line: string }>(catalogue, [['errata', 'gold']])).rows.map(({ line }) => line);
}

const versionsOf = (name: string) =>
  `select to_jsonb(g)::text as line from gold.${name} as g order by window_start, window_end, to_jsonb(g)::text`;

/** Of orders by day in Berlin: what bronze gives for a day and region, over first copies. */
const sumOf = (day: string, region: string, without: string) =>
  `select count(*) || ' ' || sum(amount) as line from (
     select distinct on (order_id) amount from bronze.orders
     where (ordered_at at time zone 'Europe/Berlin')::date = '${day}' and region = '${region}' and order_id not in (${without})
     order by order_id, ingested_at) as o`;
const latestOf = (day: string, region: string) =>
  `select orders || ' ' || revenue as line from gold.daily_orders_latest where local_date = '${day}' and region = '${region}'`;

test('every migration has a state that was made before it', () => {
  const migrations = readdirSync(new URL('../../migrations/', import.meta.url)).map((file) =>
    file.slice(0, 4),
  );
  const made = readdirSync(directory).map((file) => file.slice(0, 4));
  expect(
    migrations
      .sort()
      .slice(0, -1)
      .filter((migration) => !made.includes(migration)),
  ).toEqual([]);
  expect(states.map(({ migration }) => migration)).toEqual(made.sort());
});

test('a database that another version has migrated is left alone, with one error', async () => {
  const database = await openTestDatabase('migrated');
  await database.pool.query(
    `insert into errata.kysely_migration (name, timestamp) values ('0015_session_proposals', '2026-11-30T11:37:00Z')`,
  );
  await database.pool.query(bronze);
  const { control, settings } = withSettings(database, settingsAt(new Set()));
  for (const attempt of [migrateAll, rehearse])
    await expect(attempt(control, settings)).rejects.toMatchObject({
      message: 'another version of Errata has migrated this database',
      detail: 'schema "errata" has 0015_session_proposals, which this version does not know',
      exitCode: 2,
    });
});

test('nothing runs on the control tables of an earlier version', async () => {
  const state = await loaded('0018');
  const outcome = await call(state, plan, ['daily_orders'], {});
  expect(outcome.exitCode).toBe(2);
  expect(JSON.stringify(outcome)).toContain('schema \\"errata\\" lacks 0019_thinning');
});

describe.each(readdirSync(directory).map((file) => file.slice(0, 4)))('%s', (migration) => {
  test('is brought up to date, and goes on', async () => {
    const state = await loaded(migration);
    const { control, settings, yaml, lines, database } = state;
    const isWhole = whole.has(migration);
    const rollups = ledgers.filter((name) => settings.rollups.some((rollup) => rollup.name === name));
    const before = new Map<string, Record<string, unknown>[]>();
    for (const name of rollups)
      before.set(
        name,
        (await lines(versionsOf(name))).map((line) => JSON.parse(line)),
      );

    await migrateAll(control, settings);
    for (const name of rollups) {
      const columns = Object.keys(before.get(name)?.[0] ?? {});
      const after = (await lines(versionsOf(name))).map((line) => JSON.parse(line));
      const kept = after.map((version) =>
        Object.fromEntries(columns.map((column) => [column, version[column]])),
      );
      expect(kept, name).toEqual(before.get(name));
    }

    if (!fresh.has(yaml)) fresh.set(yaml, freshCatalogue(yaml));
    const [made, upgraded] = [await fresh.get(yaml), await catalogueOf(database)];
    expect({
      missing: made?.filter((line) => !upgraded.includes(line)),
      left: upgraded.filter((line) => !made?.includes(line)),
    }).toEqual({ missing: [], left: [] });
    expect(await call(state, check, [], {})).toMatchObject({ exitCode: 0 });

    // What lands now: late for a sealed day, refused, late by its commit, and rows that seal.
    await database.pool.query(`insert into bronze.orders values
      ('new refused', '2026-11-01T13:00Z', '2027-01-09T10:00Z', 'EU', 100),
      ('new straggler', '2026-11-02T13:00Z', '2026-11-02T13:30Z', 'EU', 1000),
      ('new seal', '2027-01-08T10:00Z', '2027-01-08T10:00Z', 'EU', 1), ('us seal', '2027-01-08T12:00Z', '2027-01-08T12:00Z', 'US', 1);
      insert into bronze.readings values (101, 'd0', 's0', '2026-10-26T10:45Z', '2027-01-05T10:00Z', 99);
      insert into bronze.visits values (101, '/p0', '2026-10-26T12:20Z', '2027-01-05T10:00Z')`);
    const first = await call(state, run, [], { bound: '2027-01-10T00:00Z' });
    expect([0, 3], first.text).toContain(first.exitCode);
    expect(await lines(latestOf('2026-11-02', 'EU')), first.text).toEqual(
      await lines(sumOf('2026-11-02', 'EU', `''`)),
    );
    const spoken = { actor: 'ada', reason: 'upgraded' };
    await call(state, publish, ['daily_orders'], { ...spoken, event: ['new refused'] });
    expect(await lines(latestOf('2026-11-01', 'EU'))).toEqual(await lines(sumOf('2026-11-01', 'EU', `''`)));
    const second = await call(state, run, isWhole ? [] : ['daily_orders'], { bound: '2027-01-10T01:00Z' });
    expect(second.data).toMatchObject({
      totals: { windows_corrected: '0', windows_sealed: '0', windows_blocked: '0' },
    });

    expect(await call(state, verify, [], {})).toMatchObject({ exitCode: 0 });
    for (const name of isWhole ? rollups : ['daily_orders', 'meters']) {
      const swept = await call(state, reconcile, [name], { from: '2026-10-01', to: '2027-01-01' });
      const { windows } = swept.data as { windows: { unexplained: string[] }[] };
      // The copy of order b with another amount was never anybody's to explain.
      const unexplained = windows
        .flatMap((window) => window.unexplained)
        .filter((what) => what !== 'conflict');
      expect(unexplained, swept.text).toEqual([]);
    }
    const explained = await call(state, explain, ['daily_orders', '2026-11-01', 'EU'], {});
    expect(explained.text).toContain('new refused');
    const shut = await call(state, close, ['daily_orders', '2026-11'], { ...spoken, hard: true });
    expect(shut.exitCode, shut.text).toBe(0);
    if (!isWhole) return;
    const out = join(statements, migration);
    const written = await call(state, statement, ['daily_orders'], { period: '2026-11', out });
    expect(written.exitCode, written.text).toBe(0);
    expect(await call(state, statement, [], { verify: out })).toMatchObject({ exitCode: 0 });
    expect([0, 3]).toContain((await call(state, status, [], {})).exitCode);
  }, 120_000);
});
