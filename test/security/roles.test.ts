/** Each role does what it must, and is refused what it must not, by the catalogue and by trying (SECURITY.md). */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { openRollup } from '../../src/catalog/open.ts';
import type { Context } from '../../src/cli/context.ts';
import type { Outcome, Verb } from '../../src/cli/verb.ts';
import { check } from '../../src/commands/check.ts';
import { digest } from '../../src/commands/digest.ts';
import { events } from '../../src/commands/events.ts';
import { explain } from '../../src/commands/explain.ts';
import { find } from '../../src/commands/find.ts';
import { grants } from '../../src/commands/grants.ts';
import { lateness } from '../../src/commands/lateness.ts';
import { review } from '../../src/commands/review.ts';
import { status } from '../../src/commands/status.ts';
import { verify } from '../../src/commands/verify.ts';
import type { RollupSettings, Settings } from '../../src/config/settings.ts';
import { controlOf } from '../../src/db/control.ts';
import { migrateAll } from '../../src/install/install.ts';
import { renameRollup } from '../../src/install/rename.ts';
import type { RunReport } from '../../src/pipeline/report.ts';
import { planRollup, runRollup } from '../../src/pipeline/run.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { type Names, openSite, type Part, plainNames, type Site } from '../support/site.ts';

const quoted = pg.escapeIdentifier;

/** What quotes, comments, parameters, formats and templates would take for theirs; 63 bytes where that is allowed. */
const hostileNames: Names = {
  control: 'Odd "Name"; drop schema public; -- $1 \\ /*:schema*/ ü',
  gold: 'select $1 %I %s \\ /*:schema*/ü',
  ledger: `Gold "' $errata_guard$ $1`,
  bronze: 'user',
  table: `bronze /*:end*/ /*.*/ $$ "x"`,
  id: `${'ï'.repeat(31)}x`,
  key: `group "by" '; drop table x; -- $1 %L /*:each key*/ \\`,
  measure: 'user',
  role: (part) => `R "${part}"'; drop role x; -- é \\ %I $1 /*:x*/`,
};

const rollupOf = (settings: Settings): RollupSettings => settings.rollups[0] as RollupSettings;

async function run(site: Site, bound: string, settings = site.settings): Promise<RunReport> {
  const control = site.controls.job;
  return await runRollup(control, await openRollup(control, settings, rollupOf(settings)), { bound });
}

/** Calls a verb as a role. */
async function call<Options>(
  site: Site,
  part: Part,
  verb: Verb<Options>,
  args: readonly string[] = [],
  options = {} as Options,
  settings = site.settings,
): Promise<Outcome> {
  const context = {
    environment: {},
    directory: '/',
    signal: new AbortController().signal,
    logger: { info: () => {}, error: () => {}, warn: () => {} },
    isTerminal: false,
    say: () => {},
    settings: () => settings,
    open: async () => ({ control: site.controls[part], serverVersion: 180_000 }),
  };
  return await verb.execute(context as unknown as Context, args, options);
}

/** Each attempt in a transaction that is rolled back; what came of it: `refused` with the words, or `done`. */
async function attempt(site: Site, part: Part, sql: string): Promise<string> {
  const client = await site.pools[part].connect();
  try {
    await client.query('begin');
    await client.query(sql);
    return 'done';
  } catch (error) {
    return `${(error as { code?: string }).code} ${(error as Error).message}`;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

async function rows<Row = Record<string, unknown>>(site: Site, part: Part, sql: string): Promise<Row[]> {
  return (await site.pools[part].query(sql)).rows;
}

const emit = (site: Site, values: string, more = '') =>
  `insert into ${site.gold()} (window_start, window_end, ${quoted(site.names.key)}, orders, ${quoted(site.names.measure)}${more}) values (${values})`;
const day = `'2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU'`;
const views = ['_sealed', '_latest', '_live', '_history', '_journal', '_side_output', '_reconciliation'];

/** The stream seals and writes the log; one event is refused. */
async function openStreaming(names: Names): Promise<Site> {
  const site = await openSite({
    names,
    seal: '{ by: stream }',
    watermark: '{ strategy: recorded }',
    policy: 'grace',
  });
  await site.land('a 10-29 10:00 10-29 10:01', 'b 10-29 11:00 10-29 11:01');
  const log = (at: string, watermark: string) =>
    site.pools.stream.query(
      `insert into ${site.gold('_watermark_log')} (source_partition, at, watermark) values (null, '${at}', '${watermark}')`,
    );
  await log('2026-10-29T12:00Z', '2026-10-29T11:00Z');
  await log('2026-10-30T01:00Z', '2026-10-30T00:30Z');
  // A retry, in the same words, and another value later.
  expect((await site.pools.stream.query(emit(site, `${day}, 2, 20`))).rowCount).toBe(1);
  expect((await site.pools.stream.query(emit(site, `${day}, 2, 20`))).rowCount).toBe(0);
  await site.land('late 10-29 12:00 10-30 02:00 EU 5');
  await run(site, '2026-10-30T03:00Z');
  return site;
}

const sites = [
  { kind: 'plain', opening: openStreaming(plainNames) },
  { kind: 'hostile', opening: openStreaming(hostileNames) },
];

describe.each(sites)('$kind names', ({ opening }) => {
  test('the catalogue: each role holds what it needs and no more, and PUBLIC nothing', async () => {
    const site = await opening;
    const { roles, names } = site;
    const relations = await site.database.pool.query<{
      schema: string;
      name: string;
      kind: string;
      held: string[];
    }>(
      `select n.nspname as schema, c.relname as name, c.relkind as kind,
         array(
           select r.part || ' ' || p.privilege
           from unnest($1::text[], $2::text[]) as r (part, role)
           cross join unnest('{select,insert,update,delete,truncate,references,trigger}'::text[]) as p (privilege)
           where has_table_privilege(r.role, c.oid, p.privilege)
           union all
           select 'public ' || g.privilege_type from aclexplode(c.relacl) as g where g.grantee = 0
           union all
           select r.part || ' ' || p.privilege || ' ' || a.attname
           from unnest($1::text[], $2::text[]) as r (part, role)
           cross join unnest('{select,insert,update,references}'::text[]) as p (privilege)
           join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
           where has_column_privilege(r.role, c.oid, a.attnum, p.privilege) and not has_table_privilege(r.role, c.oid, p.privilege)
           order by 1
         ) as held
       from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
       where n.nspname = any ($3) and c.relkind in ('r', 'v', 'p', 'm') order by 1, 2`,
      [
        ['stream', 'reader', 'auditor'],
        [roles.stream, roles.reader, roles.auditor],
        [names.control, names.gold, names.bronze],
      ],
    );
    expect(relations.rows.length).toBeGreaterThan(25);
    const inserted = ['event_count', 'orders', 'window_end', 'window_start', names.key, names.measure];
    for (const { schema, name, kind, held } of relations.rows) {
      const ending = name.slice(names.ledger.length);
      const expected =
        schema === names.bronze || name.startsWith('kysely_')
          ? []
          : [
              'auditor select',
              ...(kind === 'v' ? ['reader select'] : []),
              ...(schema === names.gold && ending === ''
                ? inserted.map((column) => `stream insert ${column}`)
                : []),
              ...(ending === '_watermark_log' ? ['stream insert'] : []),
            ];
      expect([schema, name, [...held].sort()]).toEqual([schema, name, expected.sort()]);
    }

    const functions = await site.database.pool.query<{ name: string; held: string[]; path: string | null }>(
      `select p.proname as name,
         array(
           select r.part from unnest($1::text[], $2::text[]) as r (part, role) where has_function_privilege(r.role, p.oid, 'execute')
         ) as held,
         case when p.prosecdef then array_to_string(p.proconfig, ' ') end as path
       from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace where n.nspname = any ($3) order by 1`,
      [
        ['public', 'stream', 'reader', 'auditor'],
        ['public', roles.stream, roles.reader, roles.auditor],
        [names.control, names.gold],
      ],
    );
    const called = functions.rows.filter(({ held }) => held.length > 0);
    expect(Object.fromEntries(called.map(({ name, held }) => [name, held]))).toEqual({
      [`${names.ledger}_as_of`]: ['reader', 'auditor'],
      [`${names.ledger}_as_of_mark`]: ['reader', 'auditor'],
      [`${names.ledger}_changes`]: ['reader', 'auditor'],
      daily_orders_open_windows: ['reader', 'auditor'],
      daily_orders_source: ['auditor'],
      daily_orders_windows: ['auditor'],
      daily_orders_unsealed_from: ['auditor'],
      daily_orders_starting_from: ['auditor'],
      calendar_window: ['auditor'],
      calendar_window_at_change: ['auditor'],
    });
    expect(functions.rows.length).toBeGreaterThan(called.length);
    // What runs with its owner's rights looks into the caller's temporary schema last.
    for (const { path } of functions.rows)
      if (path !== null) expect(path).toContain('search_path=pg_catalog, pg_temp');

    const schemas = await site.database.pool.query<{ schema: string; held: string[] }>(
      `select n.nspname as schema, array(
         select r.part || ' ' || p.privilege
         from unnest($1::text[], $2::text[]) as r (part, role) cross join unnest('{usage,create}'::text[]) as p (privilege)
         where has_schema_privilege(r.role, n.oid, p.privilege) order by 1
       ) as held from pg_namespace as n where n.nspname = any ($3)`,
      [
        ['public', 'stream', 'reader', 'auditor'],
        ['public', roles.stream, roles.reader, roles.auditor],
        [names.control, names.gold, names.bronze],
      ],
    );
    expect(Object.fromEntries(schemas.rows.map(({ schema, held }) => [schema, held]))).toEqual({
      [names.control]: ['auditor usage'],
      [names.gold]: ['auditor usage', 'reader usage', 'stream usage'],
      [names.bronze]: [],
    });
  });

  test('the job is no superuser, owns what Errata makes and nothing of bronze', async () => {
    const site = await opening;
    const { names, roles } = site;
    const owners = await site.database.pool.query(
      `select n.nspname as schema, array_agg(distinct o.owner::text) as owners
       from pg_namespace as n
       join (
         select relnamespace as schema, pg_get_userbyid(relowner) as owner from pg_class
         union all select pronamespace, pg_get_userbyid(proowner) from pg_proc
       ) as o on o.schema = n.oid
       where n.nspname = any ($1) group by n.nspname`,
      [[names.control, names.gold, names.bronze]],
    );
    const tester = (await site.database.pool.query('select current_user::text as name')).rows[0].name;
    expect(Object.fromEntries(owners.rows.map(({ schema, owners: all }) => [schema, all]))).toEqual({
      [names.control]: [roles.job],
      [names.gold]: [roles.job],
      [names.bronze]: [tester],
    });
    expect(
      (
        await site.database.pool.query(
          'select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = $1',
          [roles.job],
        )
      ).rows,
    ).toEqual([{ rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolbypassrls: false }]);
    expect(await attempt(site, 'job', `insert into ${site.bronze} values ('x')`)).toContain('42501');
    expect(await attempt(site, 'job', `delete from ${site.bronze}`)).toContain('42501');
    expect(await attempt(site, 'job', `update ${site.gold()} set orders = 1`)).toContain(
      'update of a published version is refused',
    );
    expect(await attempt(site, 'job', `set session_replication_role = replica`)).toContain('42501');
  });

  test('the stream inserts version 1, and nothing else', async () => {
    const site = await opening;
    const [first] = await rows(
      site,
      'auditor',
      `select version, orders, ${quoted(site.names.measure)} as measure, db_role, run_id from ${site.gold()}`,
    );
    expect(first).toEqual({
      version: 1,
      orders: '2',
      measure: '20',
      db_role: site.roles.stream,
      run_id: null,
    });
    const next = `'2026-10-30T00:00Z', '2026-10-31T00:00Z', 'EU', 1, 1`;
    const denied: string[] = [
      emit(site, `${next}, 2`, ', version'),
      emit(site, `${next}, 1`, ', version'),
      emit(site, `${next}, 1`, ', run_id'),
      emit(site, `${next}, 'correction'`, ', kind'),
      emit(site, `${next}, true`, ', is_void'),
      emit(site, `${next}, now()`, ', stamp'),
      emit(site, `${next}, 'me'`, ', db_role'),
      emit(site, `${next}, 'me'`, ', actor'),
      `${emit(site, next)} returning version`,
      `${emit(site, next)} on conflict (window_start, window_end, ${quoted(site.names.key)}, version) do update set orders = 3`,
      `update ${site.gold()} set orders = 3`,
      `delete from ${site.gold()}`,
      `truncate ${site.gold()}`,
      `merge into ${site.gold()} as g using (values (1)) as v (n) on true when matched then delete`,
      `select * from ${site.gold()}`,
      `select count(*) from ${site.gold()}`,
      `copy ${site.gold()} (window_start, orders) to stdout`,
      `lock table ${site.gold()} in access share mode`,
      ...views.map((view) => `select * from ${site.gold(view)}`),
      `select * from ${site.gold('_as_of')}('2026-01-01')`,
      `select * from ${site.gold('_late_event')}`,
      `select * from ${site.gold('_watermark_log')}`,
      `delete from ${site.gold('_watermark_log')}`,
      `select * from ${site.control('run')}`,
      `insert into ${site.control('run')} (rollup_id, verb, outcome, started_at) values (1, 'run', 'running', now())`,
      `insert into ${site.control('daily_orders_emission')} (window_start) values (now())`,
      `select * from ${site.bronze}`,
    ];
    for (const sql of denied)
      expect([sql, await attempt(site, 'stream', sql)]).toEqual([
        sql,
        expect.stringContaining('42501 permission denied'),
      ]);
    // A row that the columns alone allow, and the guard does not.
    expect(
      await attempt(site, 'stream', emit(site, `'2026-10-30T01:00Z', '2026-10-31T00:00Z', 'EU', 1, 1`)),
    ).toContain('the row names a window that this rollup does not have');
  });

  test('the reader selects each view, and never the ledger, late events, control tables or bronze', async () => {
    const site = await opening;
    for (const view of views)
      expect(await attempt(site, 'reader', `select * from ${site.gold(view)}`)).toBe('done');
    expect(
      await rows(site, 'reader', `select count(*) as n from ${site.gold('_as_of')}('2026-01-01')`),
    ).toEqual([{ n: '0' }]);
    const denied = [
      `select * from ${site.gold()}`,
      `select sum(orders) from ${site.gold()}`,
      `select count(*) from ${site.gold()}`,
      `select * from ${site.gold('_late_event')}`,
      `select * from ${site.gold('_watermark_log')}`,
      `select * from ${site.control('rollup')}`,
      `select * from ${site.control('run')}`,
      `select * from ${site.control('daily_orders_evidence')}`,
      `select * from ${site.control('daily_orders_open_windows')}()`,
      `select * from ${site.control('daily_orders_source')}()`,
      `select * from ${site.bronze}`,
      // It can be updated, as far as PostgreSQL is concerned.
      `update ${site.gold('_sealed')} set orders = 1`,
      `insert into ${site.gold('_sealed')} (orders) values (1)`,
      `delete from ${site.gold('_sealed')}`,
      emit(site, `${day}, 1, 1`),
    ];
    for (const sql of denied)
      expect([sql, await attempt(site, 'reader', sql)]).toEqual([
        sql,
        expect.stringContaining('42501 permission denied'),
      ]);
  });

  test('the auditor verifies and explains, and writes nothing', async () => {
    const site = await opening;
    expect((await call(site, 'auditor', verify)).exitCode).toBe(0);
    expect((await call(site, 'auditor', verify)).text).toContain('1 version');
    expect((await call(site, 'auditor', digest)).text).toMatch(/^[0-9a-f]{64}/m);
    expect((await call(site, 'auditor', status)).text).toContain('1 refused event awaits a person');
    expect((await call(site, 'auditor', events, ['daily_orders'])).text).toContain('late');
    expect((await call(site, 'auditor', find, ['20'])).exitCode).toBe(0);
    const told = await call(site, 'auditor', explain, ['daily_orders', '2026-10-29', 'EU']);
    expect(told.text).toContain('version 1 shipped');
    expect(told.text).toContain('Bronze could not be counted anew: permission denied for schema');
    const known = { at: '2026-01-01T00:00Z' };
    expect((await call(site, 'auditor', events, ['daily_orders'], known)).text).toContain('nothing of it');
    expect((await call(site, 'auditor', review, ['daily_orders'], known)).text).toContain(
      'nothing was proposed',
    );
    expect(
      (await call(site, 'auditor', explain, ['daily_orders', '2026-10-29', 'EU'], known)).text,
    ).toContain('Nothing of it had been published by then.');
    const refusal = {
      message: expect.stringContaining('does not fit its bronze'),
      detail: expect.stringContaining(
        `grant usage on schema ${quoted(site.names.bronze)} to ${quoted(site.roles.auditor)}; grant select on ${site.bronze} to ${quoted(site.roles.auditor)}`,
      ),
      exitCode: 2,
    };
    await expect(call(site, 'auditor', lateness, ['daily_orders'])).rejects.toMatchObject(refusal);
    for (const view of [...views, '', '_late_event', '_watermark_log'])
      expect(await attempt(site, 'auditor', `select * from ${site.gold(view)}`)).toBe('done');
    const denied = [
      `select * from ${site.bronze}`,
      `select * from ${site.control('daily_orders_source')}()`,
      emit(site, `${day}, 1, 1`),
      `update ${site.gold()} set orders = 1`,
      `delete from ${site.gold('_late_event')}`,
      `insert into ${site.gold('_watermark_log')} (at) values (now())`,
      `update ${site.control('rollup')} set frontier = null`,
      `insert into ${site.control('run')} (rollup_id, verb, outcome, started_at) values (1, 'run', 'running', now())`,
      `delete from ${site.control('daily_orders_evidence')}`,
      `truncate ${site.control('daily_orders_touched')}`,
      `select * from ${site.control('rollup')} for update`,
      // A trigger of its own would run as the job.
      `create temp table mine (run_id bigint); create trigger t before insert on mine for each row execute function ${site.control('daily_orders_accept_seal')}()`,
    ];
    for (const sql of denied)
      expect([sql, await attempt(site, 'auditor', sql)]).toEqual([
        sql,
        expect.stringContaining('42501 permission denied'),
      ]);
  });

  test('with a right on bronze the auditor counts it anew, and still writes nothing', async () => {
    const site = await opening;
    const auditor = quoted(site.roles.auditor);
    await site.database.pool.query(
      `grant usage on schema ${quoted(site.names.bronze)} to ${auditor}; grant select on ${site.bronze} to ${auditor}`,
    );
    try {
      expect((await call(site, 'auditor', explain, ['daily_orders', '2026-10-29', 'EU'])).text).toContain(
        'It adds up',
      );
      expect((await call(site, 'auditor', lateness, ['daily_orders'])).exitCode).toBe(0);
      const opened = await openRollup(site.controls.auditor, site.settings, rollupOf(site.settings));
      await expect(planRollup(site.controls.auditor, opened)).rejects.toThrow(
        'permission denied for table rollup',
      );
    } finally {
      await site.database.pool.query(
        `revoke usage on schema ${quoted(site.names.bronze)} from ${auditor}; revoke select on ${site.bronze} from ${auditor}`,
      );
    }
  });

  test.each(['stream', 'reader', 'auditor'] as const)('the %s takes no other way either', async (part) => {
    const site = await opening;
    const denied = [
      'set session_replication_role = replica',
      `set role ${quoted(site.roles.job)}`,
      `alter table ${site.gold()} disable trigger errata_accept_seal`,
      `alter table ${site.gold()} disable trigger all`,
      `drop trigger errata_refuse_change on ${site.gold()}`,
      `drop table ${site.gold()} cascade`,
      `drop view ${site.gold('_live')}`,
      `alter table ${site.gold()} owner to ${quoted(site.roles[part])}`,
      `create rule r as on insert to ${site.gold()} do instead nothing`,
      `create index on ${site.gold()} (orders)`,
      `create table ${quoted(site.names.gold)}.mine (n integer)`,
      `create table ${quoted(site.names.control)}.mine (n integer)`,
      `create function ${quoted(site.names.control)}.f() returns integer language sql return 1`,
      `create or replace view ${site.gold('_latest')} as select 1 as n`,
      `create or replace function ${site.gold('_as_of')}(t timestamptz) returns integer language sql as 'select 1'`,
      `select ${site.control('daily_orders_accept_seal')}()`,
      `select ${site.control('combine_watermark')}()`,
      `truncate ${site.gold()}`,
      `lock table ${site.gold()} in exclusive mode`,
    ];
    for (const sql of denied)
      expect([sql, await attempt(site, part, sql)]).toEqual([sql, expect.not.stringMatching(/^done$/)]);
  });

  test('check is content, and migrate leaves everything as it is', async () => {
    const site = await opening;
    const checked = await call(site, 'job', check);
    expect(checked.text).not.toContain('roles (');
    expect(checked.exitCode).toBe(0);
    expect(await migrateAll(site.controls.job, site.settings)).toMatchObject({
      migrations: [],
      ungranted: [],
    });
    const printed = await call(site, 'job', grants);
    expect(printed.text).toContain(
      '-- Before `errata migrate`, by a role that may: what is missing.\n-- Nothing.\n',
    );
    for (const { isHeld } of (printed.data as { rights: { isHeld: boolean }[] }).rights)
      expect(isHeld).toBe(true);
  });
});

test('a type of the caller’s own in a function that runs as the job', async () => {
  const site = await (sites[0] as (typeof sites)[number]).opening;
  const client = await site.pools.reader.connect();
  try {
    await client.query(`
      create function pg_temp.seize(t pg_catalog.text) returns boolean language plpgsql as
        $$ begin if current_user <> session_user then raise exception 'runs as %', current_user; end if; return true; end $$;
      create domain pg_temp.text as pg_catalog.text check (pg_temp.seize(value));
      create function pg_temp.seize(t pg_catalog.timestamptz) returns boolean language plpgsql as
        $$ begin if current_user <> session_user then raise exception 'runs as %', current_user; end if; return true; end $$;
      create domain pg_temp.timestamptz as pg_catalog.timestamptz check (pg_temp.seize(value))`);
    await client.query(`select * from ${site.gold('_as_of')}('2026-01-01'::pg_catalog.timestamptz)`);
    await client.query(`select * from ${site.gold('_live')}`);
  } finally {
    client.release(true);
  }
});

test('a condition of the reader’s own sees no late event that the view leaves out', async () => {
  const site = await openSite({ policy: 'grace' });
  await site.land(
    'a 10-29 10:00 10-29 10:01',
    'pass 10-30 02:00 10-30 02:01 ZZ',
    'ahead 11-20 00:00 10-30 02:02 EU',
    'late 10-29 12:00 10-30 02:03 EU',
  );
  await run(site, '2026-10-30T03:00Z');
  const client = await site.pools.reader.connect();
  try {
    await client.query(`create temp table seen (id text);
      create function pg_temp.look(id text) returns boolean language plpgsql cost 0.0000001 as
        $$ begin insert into pg_temp.seen values (id); return true; end $$`);
    await client.query(`select * from ${site.gold('_side_output')} as o where pg_temp.look(o.event_id)`);
    expect((await client.query('select distinct id from seen')).rows).toEqual([{ id: 'late' }]);
  } finally {
    client.release(true);
  }
  expect(await rows(site, 'auditor', `select event_id from ${site.gold('_late_event')} order by 1`)).toEqual([
    { event_id: 'ahead' },
    { event_id: 'late' },
  ]);
});

test('the view that BI reads has one row a keyed window: 150, where the ledger’s versions sum to 375 (B27)', async () => {
  const site = await openSite();
  await site.land(
    'a 10-29 10:00 10-29 10:01 EU 60',
    'b 10-29 11:00 10-29 11:01 EU 40',
    'pass 10-30 02:00 10-30 02:01 ZZ 0',
  );
  await run(site, '2026-10-30T03:00Z');
  await site.land('c 10-29 12:00 10-30 04:00 EU 25');
  await run(site, '2026-10-30T05:00Z');
  await site.land('d 10-29 13:00 10-30 06:00 EU 25');
  await run(site, '2026-10-30T07:00Z');
  const sum = async (part: Part, column: string, relation: string) =>
    (await rows<{ sum: string }>(site, part, `select sum(${column})::text as sum from ${relation}`))[0]?.sum;
  expect(await rows(site, 'auditor', `select version, revenue from ${site.gold()} order by version`)).toEqual(
    [
      { version: 1, revenue: '100.00' },
      { version: 2, revenue: '125.00' },
      { version: 3, revenue: '150.00' },
    ],
  );
  expect(await sum('auditor', 'revenue', site.gold())).toBe('375.00');
  expect(await sum('reader', 'revenue', site.gold('_latest'))).toBe('150.00');
  expect(await sum('reader', 'revenue', site.gold('_sealed'))).toBe('100.00');
  expect(await sum('reader', 'revenue', site.gold('_side_output'))).toBe('50.00');
  expect(
    await rows(
      site,
      'reader',
      `select sealed_revenue, refused_revenue, latest_revenue from ${site.gold('_reconciliation')} where region = 'EU'`,
    ),
  ).toEqual([{ sealed_revenue: '100.00', refused_revenue: '50.00', latest_revenue: '150.00' }]);
  expect(
    await rows(
      site,
      'reader',
      `select count(*)::int as rows, count(distinct (window_start, region))::int as keyed_windows from ${site.gold('_latest')}`,
    ),
  ).toEqual([{ rows: 1, keyed_windows: 1 }]);
  expect(await attempt(site, 'reader', `select sum(revenue) from ${site.gold()}`)).toContain(
    'permission denied for table',
  );
});

test('what is made anew is granted anew: a further measure, another name, a view that somebody replaced', async () => {
  const site = await openSite({ seal: '{ by: stream }' });
  const reads = async () => {
    for (const view of views)
      expect([view, await attempt(site, 'reader', `select * from ${site.gold(view)}`)]).toEqual([
        view,
        'done',
      ]);
    expect(await attempt(site, 'reader', `select * from ${site.gold('_as_of')}('2026-01-01')`)).toBe('done');
  };
  await site.land('a 10-29 10:00 10-29 10:01', 'pass 10-30 02:00 10-30 02:01 ZZ');
  await run(site, '2026-10-30T03:00Z');
  await reads();
  const wider = site.changed((yaml) => yaml.replace('sum(amount) }', 'sum(amount), biggest: max(amount) }'));
  await migrateAll(site.controls.job, wider);
  await reads();
  expect(await attempt(site, 'stream', emit(site, `${day}, 1, 1, 1`, ', biggest'))).toBe('done');

  const renamed = site.changed((yaml) =>
    yaml
      .replace('sum(amount) }', 'sum(amount), biggest: max(amount), smallest: min(amount) }')
      .replace('  daily_orders:', '  by_day:'),
  );
  // By the superuser of the tests, who acts as the job: the views are made anew, too.
  await renameRollup(
    controlOf(site.database.pool, 'errata'),
    renamed,
    rollupOf(renamed),
    { from: 'daily_orders', to: 'by_day' },
    { actor: 'ada', reason: 'shorter' },
  );
  await reads();
  expect(await attempt(site, 'stream', emit(site, `${day}, 1, 1, 1, 1`, ', biggest, smallest'))).toBe('done');
  expect((await call(site, 'auditor', verify, [], {}, renamed)).exitCode).toBe(0);

  const owners = await site.database.pool.query(
    `select distinct relowner::regrole::text as owner from pg_class where relnamespace = 'gold'::regnamespace`,
  );
  expect(owners.rows).toEqual([{ owner: site.roles.job }]);

  await site.pools.job.query(`drop view ${site.gold('_live')}`);
  await migrateAll(site.controls.job, renamed);
  await reads();
  await run(site, '2026-10-30T04:00Z', renamed);
});

test('the job by itself, in schemas that are there, without a right to make any: migrate, run, amend', async () => {
  const site = await openSite();
  const job = quoted(site.roles.job);
  await site.database.pool.query(`drop schema gold cascade; drop schema errata cascade;
    create schema gold; create schema errata; grant usage, create on schema gold, errata to ${job}`);
  expect(await attempt(site, 'job', 'create schema further')).toContain('42501');
  // It owns neither schema: what it may not grant is said, with the statement.
  const migrated = await migrateAll(site.controls.job, site.settings);
  expect(migrated.ungranted).toEqual([
    `grant usage on schema "gold" to ${quoted(site.roles.reader)}`,
    `grant usage on schema "gold" to ${quoted(site.roles.auditor)}`,
    `grant usage on schema "errata" to ${quoted(site.roles.auditor)}`,
  ]);
  await site.database.pool.query(migrated.ungranted.join(';'));
  expect(await migrateAll(site.controls.job, site.settings)).toMatchObject({ ungranted: [] });
  await site.land(
    'a 10-29 10:00 10-29 10:01',
    'b 10-29 11:00 10-29 11:01',
    'pass 10-30 02:00 10-30 02:01 ZZ',
  );
  await run(site, '2026-10-30T03:00Z');
  await site.database.pool.query(`delete from ${site.bronze} where order_id = 'b'`);
  const amended = await amendWindows(
    site.controls.job,
    await openRollup(site.controls.job, site.settings, rollupOf(site.settings)),
    { actor: 'ada', reason: 'b was a test', windowFrom: '2026-10-29T00:00Z', windowTo: '2026-10-30T00:00Z' },
    { bound: '2026-10-30T04:00Z' },
  );
  expect(amended.amended).toBe(1);
  expect(
    await rows(site, 'reader', `select orders, version from ${site.gold('_latest')} where region = 'EU'`),
  ).toEqual([{ orders: '1', version: 2 }]);
});

test('check names what is missing and what is too much, with the statement for each', async () => {
  const site = await openSite();
  const { reader, auditor, stream, job } = site.roles;
  await site.database.pool.query(`
    revoke select on gold.daily_orders_latest from ${quoted(reader)};
    grant select, update on gold.daily_orders to ${quoted(reader)};
    grant delete on errata.run to public;
    grant ${quoted(job)} to ${quoted(auditor)};
    alter role ${quoted(stream)} superuser;
    revoke select on bronze.orders from ${quoted(job)};
    alter view gold.daily_orders_live owner to current_user`);
  const checked = await call(site, 'job', check);
  const said = checked.text.split('\n').map((line) => line.trim());
  expect(checked.exitCode).toBe(2);
  for (const line of [
    `fault    errata.yaml:3  roles.job: the role ${job} lacks a right that every run needs`,
    `grant select on "bronze"."orders" to ${quoted(job)}`,
    `warning  errata.yaml:3  roles.reader: the role ${reader} lacks select on "gold"."daily_orders_latest"`,
    `grant select on "gold"."daily_orders_latest" to ${quoted(reader)}; \`errata migrate\` does so too`,
    `warning  errata.yaml:3  roles.reader: the role ${reader} holds select, update on gold.daily_orders, beyond what it needs`,
    `revoke select, update on "gold"."daily_orders" from ${quoted(reader)}, or from PUBLIC or the role by which it has that`,
    `warning  errata.yaml:3  roles.reader: the role ${reader} holds delete on errata.run, beyond what it needs`,
    `warning  errata.yaml:3  roles.auditor: the role ${auditor} is a member of ${job}, so it may do all that the job may`,
    `revoke ${quoted(job)} from ${quoted(auditor)}`,
    `warning  errata.yaml:3  roles.stream: the role ${stream} is a superuser`,
    `alter role ${quoted(stream)} nosuperuser`,
    `warning  errata.yaml:3  roles.job: \`errata migrate\` as ${job} needs more`,
    `alter view "gold"."daily_orders_live" owner to ${quoted(job)}; or migrate as a role that may`,
  ])
    expect(said).toContain(line);
  await site.database.pool.query(
    `alter role ${quoted(stream)} nosuperuser; revoke ${quoted(job)} from ${quoted(auditor)}`,
  );
});

test('a role that is not there: migrate and check say so, with what makes it; grants prints it first', async () => {
  const site = await openSite();
  const settings = site.changed((yaml) =>
    yaml.replace(JSON.stringify(site.roles.reader), '"no \\"such\\" role"'),
  );
  const fault = `roles.reader: there is no role no "such" role`;
  await expect(migrateAll(site.controls.job, settings)).rejects.toMatchObject({
    detail: `errata.yaml:3  ${fault}; create role "no ""such"" role" nologin`,
    exitCode: 2,
  });
  expect((await call(site, 'job', check, [], {}, settings)).text).toContain(fault);
  expect((await call(site, 'job', grants, [], {}, settings)).text).toMatch(
    /^-- Before .*\ncreate role "no ""such"" role" nologin;\n\n/,
  );
});

test('who may not act as the job cannot migrate; nothing is made', async () => {
  const site = await openSite();
  const auditor = site.controls.auditor;
  await expect(migrateAll(auditor, site.settings)).rejects.toMatchObject({
    message: `the role ${site.roles.auditor} may not act as ${site.roles.job}`,
    hint: `connect as ${site.roles.job}, or grant ${quoted(site.roles.job)} to ${quoted(site.roles.auditor)}`,
    exitCode: 2,
  });
});

test('what an earlier migrate made as another role is handed over to the job', async () => {
  const site = await openSite();
  const { job } = site.roles;
  await site.database.pool.query(`reassign owned by ${quoted(job)} to current_user`);
  await expect(migrateAll(site.controls.job, site.settings)).rejects.toMatchObject({
    message: `${job} does not own all that Errata has made`,
    hint: expect.stringContaining(`owner to ${quoted(job)}, …`),
    exitCode: 2,
  });
  await migrateAll(controlOf(site.database.pool, 'errata'), site.settings);
  const others = await site.database.pool.query(
    `select relname from pg_class where relnamespace in ('gold'::regnamespace, 'errata'::regnamespace) and relkind in ('r', 'v', 'S') and relowner <> $1::regrole
     union all select proname from pg_proc where pronamespace in ('gold'::regnamespace, 'errata'::regnamespace) and proowner <> $1::regrole`,
    [quoted(job)],
  );
  expect(others.rows).toEqual([]);
  await site.land('a 10-29 10:00 10-29 10:01', 'pass 10-30 02:00 10-30 02:01 ZZ');
  await run(site, '2026-10-30T03:00Z');
});

test('a measure expression runs as the job, whoever asks, and may do what the job may', async () => {
  const site = await openSite();
  await site.database.pool.query(`
    create schema fun;
    create function fun.who(text) returns text language sql immutable as 'select current_user::text';
    grant usage on schema fun to ${quoted(site.roles.job)}`);
  const measured = (expression: string) => (yaml: string) =>
    yaml.replace('sum(amount) }', `sum(amount), told: '${expression}' }`);
  const asked = site.changed(measured('max(fun.who(region))'));
  await migrateAll(controlOf(site.database.pool, 'errata'), asked);
  await site.land('a 10-29 10:00 10-29 10:01', 'pass 10-30 02:00 10-30 02:01 ZZ');
  await run(site, '2026-10-30T03:00Z', asked);
  expect(await rows(site, 'reader', `select is_open, told from ${site.gold('_live')} order by 1`)).toEqual([
    { is_open: false, told: site.roles.job },
    { is_open: true, told: site.roles.job },
  ]);

  const peeking = await openSite();
  await peeking.database.pool.query(`
    create schema fun; create table fun.secret (n integer);
    create function fun.peek(text) returns integer language sql stable as 'select n from fun.secret';
    grant usage on schema fun to ${quoted(peeking.roles.job)}`);
  const settings = peeking.changed(measured('max(fun.peek(region))'));
  await migrateAll(controlOf(peeking.database.pool, 'errata'), settings);
  await peeking.land('a 10-29 10:00 10-29 10:01', 'pass 10-30 02:00 10-30 02:01 ZZ');
  await expect(run(peeking, '2026-10-30T03:00Z', settings)).rejects.toThrow(
    'permission denied for table secret',
  );
});

test('a policy that hides rows of bronze from the job is an error, to a run and to whoever reads _live', async () => {
  const site = await openSite();
  await site.land('a 10-29 10:00 10-29 10:01');
  await site.database.pool.query(`
    create policy few on bronze.orders using (region = 'US');
    alter table bronze.orders enable row level security`);
  await expect(run(site, '2026-10-29T12:00Z')).rejects.toThrow('would be affected by row-level security');
  await expect(rows(site, 'reader', `select * from ${site.gold('_live')}`)).rejects.toThrow(
    'would be affected by row-level security',
  );
});

test('sessions, with hostile names and overrides by key: each role has what it needs', async () => {
  const site = await openSite({
    names: hostileNames,
    window: '{ session_gap: 30 minutes }',
    watermark: `{ strategy: bounded, delay: 1 hour, overrides: { table: ops.delays, by: [${JSON.stringify(hostileNames.key)}], delay: delay } }`,
    before: (job) =>
      `create schema ops; create table ops.delays (${quoted(hostileNames.key)} text, delay interval); grant usage on schema ops to ${job}; grant select on ops.delays to ${job}`,
  });
  await site.land(
    'a 10-29 10:00 10-29 10:01',
    'pass 10-29 14:00 10-29 14:01 ZZ',
    'late 10-29 10:10 10-29 14:02',
  );
  await run(site, '2026-10-29T15:00Z');
  for (const view of views)
    expect(await attempt(site, 'reader', `select * from ${site.gold(view)}`)).toBe('done');
  for (const table of ['session', 'session_key', 'session_row', 'session_part', 'override']) {
    expect(await attempt(site, 'auditor', `select * from ${site.control(`daily_orders_${table}`)}`)).toBe(
      'done',
    );
    expect(await attempt(site, 'reader', `select * from ${site.control(`daily_orders_${table}`)}`)).toContain(
      '42501',
    );
  }
  expect((await call(site, 'auditor', verify)).exitCode).toBe(0);
  const checked = await call(site, 'job', check);
  expect(checked.text).not.toContain('roles (');
  const open = await site.database.pool.query(
    `select p.proname from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
     where n.nspname = any ($1) and has_function_privilege('public', p.oid, 'execute')`,
    [[site.names.control, site.names.gold]],
  );
  expect(open.rows).toEqual([]);
});
