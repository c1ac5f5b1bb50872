/** `errata verify`: what somebody did behind the guard is found and named (R8, R21). */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { linkHash, rowHash } from '../../src/catalog/canonical.ts';
import { digest } from '../../src/commands/digest.ts';
import { verify } from '../../src/commands/verify.ts';
import { controlOf } from '../../src/db/control.ts';
import { query } from '../../src/db/statement.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { type DigestEntry, digestText, readDigest } from '../../src/report/evidence/digest.ts';
import { evidenceRollup } from '../../src/report/evidence/evidence.ts';
import { verificationText } from '../../src/report/evidence/text.ts';
import { type Verification, verify as verifyRollup } from '../../src/report/evidence/verify.ts';
import { openTestDatabase } from '../support/database.ts';
import { type Orders, openOrders } from '../support/orders.ts';
import { call, settingsOf } from './verb-context.ts';

const directory = mkdtempSync(join(tmpdir(), 'errata-evidence-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Three links: version 1 of 10-29 and 10-30 in two keys, the NULL key among them; then two corrections. */
const history = (async () => {
  const orders = await openOrders();
  await orders.land(
    'a 10-29 10:00 10-29 10:01',
    'b 10-29 11:00 10-29 11:01 NULL',
    'c 10-30 10:00 10-30 10:01',
    'pass 10-31 02:00 10-31 02:01 ZZ 1',
  );
  await orders.run({ bound: '2026-10-31T03:00Z' });
  await orders.land('late 10-29 12:00 10-31 04:00 EU 7');
  await orders.run({ bound: '2026-10-31T05:00Z' });
  const earlier = await digestOf(orders);
  await orders.land('later 10-30 12:00 10-31 06:00 EU 8');
  await orders.run({ bound: '2026-10-31T07:00Z' });
  return { orders, earlier, now: await digestOf(orders) };
})();

async function digestOf(orders: Orders): Promise<DigestEntry> {
  return ((await call(digest, orders, [], {})).data as { rollups: DigestEntry[] }).rollups[0] as DigestEntry;
}

class Rollback extends Error {}

/** What verify says after these statements, which are rolled back. */
async function verifiedAfter(
  orders: Orders,
  sql: string,
  entry?: DigestEntry,
): Promise<Verification & { text: string }> {
  let found: Verification | undefined;
  await inTransaction(orders.control, 'repeatable read', async (transaction) => {
    await query(transaction, sql);
    const settings = settingsOf(orders);
    const rollup = await evidenceRollup(transaction, settings, orders.rollup.settings);
    found = await verifyRollup(transaction, rollup, entry);
    throw new Rollback();
  }).catch((error) => {
    if (!(error instanceof Rollback)) throw error;
  });
  const verification = found as Verification;
  return { ...verification, text: verificationText(verification, ['region'], entry !== undefined) };
}

const behind = (sql: string) => `
  alter table gold.daily_orders disable trigger user;
  ${sql};
  alter table gold.daily_orders enable always trigger errata_refuse_change, enable always trigger errata_refuse_truncate,
    enable always trigger errata_accept_seal, enable always trigger errata_check_versions;`;
const behindHashes = (sql: string) => `
  alter table errata.daily_orders_evidence disable trigger user;
  ${sql};
  alter table errata.daily_orders_evidence enable always trigger errata_refuse_change, enable always trigger errata_refuse_truncate;`;
const copied = (change: string) =>
  `create temp table forged on commit drop as select * from gold.daily_orders where version = 2 and window_start = '2026-10-29T00:00Z';
   update forged set ${change}`;

test('nothing was done: everything holds, with a digest of now and of earlier, as text and as JSON', async () => {
  const { orders, earlier, now } = await history;
  const outcome = await call(verify, orders, [], {});
  expect(outcome).toMatchObject({
    exitCode: 0,
    data: { rollups: [{ holds: true, versions_found: '0', links_found: '0', guard: [] }] },
  });
  expect(outcome.text).toBe(
    `daily_orders: 5 versions in 3 links, all as they were published\n  head     ${now.head}, run 3, ${now.stamp}`,
  );
  for (const [entry, place] of [
    [earlier, 2],
    [now, 3],
  ] as const) {
    for (const text of [digestText([entry]), JSON.stringify({ rollups: [entry] })]) {
      const path = join(directory, 'digest');
      writeFileSync(path, `${text}\n`);
      const { exitCode, text: said } = await call(verify, orders, [], { digest: path });
      expect(said).toContain(`digest   its head is link ${place} of 3, run ${place}, ${entry.stamp}`);
      expect(exitCode).toBe(0);
    }
  }
});

describe('a superuser disables the guard, and puts it back', () => {
  test.each<[string, string, string[]]>([
    [
      'one cell is edited',
      behind(`update gold.daily_orders set revenue = 10.01 where version = 1 and region is null`),
      ['altered  2026-10-29 00:00Z to 2026-10-30 00:00Z, region NULL, version 1: hashed by run 1'],
    ],
    [
      'digits without a value are added',
      behind(`update gold.daily_orders set revenue = 17.000 where version = 2 and revenue = 17`),
      ['altered  2026-10-29 00:00Z to 2026-10-30 00:00Z, region EU, version 2: hashed by run 2'],
    ],
    [
      'the actor is edited',
      behind(`update gold.daily_orders set actor = 'mallory' where run_id = 3`),
      ['altered  2026-10-30 00:00Z to 2026-10-31 00:00Z, region EU, version 2: hashed by run 3'],
    ],
    [
      'a row is removed',
      behind(`delete from gold.daily_orders where run_id = 2`),
      ['missing  2026-10-29 00:00Z to 2026-10-30 00:00Z, region EU, version 2: hashed by run 2'],
    ],
    [
      'a row is added',
      behind(`${copied('version = 3')}; insert into gold.daily_orders select * from forged`),
      ['added    2026-10-29 00:00Z to 2026-10-30 00:00Z, region EU, version 3: no run has hashed it'],
    ],
    [
      'a key is edited',
      behind(`update gold.daily_orders set region = 'AA' where region is null`),
      [
        'added    2026-10-29 00:00Z to 2026-10-30 00:00Z, region AA, version 1: no run has hashed it',
        'missing  2026-10-29 00:00Z to 2026-10-30 00:00Z, region NULL, version 1: hashed by run 1',
      ],
    ],
    [
      'two rows are swapped',
      behind(
        `update gold.daily_orders set revenue = case run_id when 2 then 18 else 17 end where version = 2`,
      ),
      [
        'altered  2026-10-29 00:00Z to 2026-10-30 00:00Z, region EU, version 2: hashed by run 2',
        'altered  2026-10-30 00:00Z to 2026-10-31 00:00Z, region EU, version 2: hashed by run 3',
      ],
    ],
    [
      'a row is there twice, its constraint dropped',
      behind(
        `alter table gold.daily_orders drop constraint daily_orders_version_key; ${copied('version = 2')}; insert into gold.daily_orders select * from forged`,
      ),
      ['added    2026-10-29 00:00Z to 2026-10-30 00:00Z, region EU, version 2: no run has hashed it'],
    ],
    [
      'a row and its hash are removed',
      behind(`delete from gold.daily_orders where region is null`) +
        behindHashes(`delete from errata.daily_orders_evidence where region is null`),
      ['link     run 1: the hashes of its versions are not those that it linked (3 then, 2 now)'],
    ],
    [
      'a row is added with a hash of its own',
      behind(`${copied('version = 3')}; insert into gold.daily_orders select * from forged`) +
        'insert into errata.daily_orders_evidence (run_id, window_start, window_end, region, version, row_hash) select 2, g.window_start, g.window_end, g.region, g.version, ROWHASH from gold.daily_orders as g where version = 3',
      ['link     run 2: the hashes of its versions are not those that it linked (1 then, 2 now)'],
    ],
    [
      'the same, of a run that is none',
      behind(`${copied('version = 3')}; insert into gold.daily_orders select * from forged`) +
        'insert into errata.daily_orders_evidence (run_id, window_start, window_end, region, version, row_hash) select 99, g.window_start, g.window_end, g.region, g.version, ROWHASH from gold.daily_orders as g where version = 3',
      ['link     run 99: 1 hash of versions name it, and it is no link'],
    ],
    [
      'the record of a run is edited',
      `update errata.run set actor = 'somebody else' where run_id = 2`,
      ['link     run 2: its record in the table of runs is not what it hashed'],
    ],
    [
      'a link is taken out of the middle, with its row',
      behind(`delete from gold.daily_orders where run_id = 2`) +
        behindHashes(`delete from errata.daily_orders_evidence where run_id = 2`) +
        'delete from errata.run where run_id = 2',
      ['link     run 3: the link before it is not the one that it followed'],
    ],
    [
      'the hash of a run is taken away',
      'update errata.run set hash = null, rows_hash = null, versions_hashed = null where run_id = 3',
      ['link     run 3: 1 hash of versions name it, and it is no link'],
    ],
  ])('%s', async (_, sql, lines) => {
    const { orders } = await history;
    const { text, holds, guard } = await verifiedAfter(
      orders,
      sql.replaceAll('ROWHASH', rowHash(orders.rollup)),
    );
    expect(text.split('\n').slice(1, -1)).toEqual(lines.map((line) => `  ${line}`));
    expect(text).toMatch(/^daily_orders: \d versions in \d links; not everything is as it was published\n/);
    expect([holds, guard]).toEqual([false, []]);
  });
});

describe('what the owner may do to a table, without touching a row', () => {
  test.each<[string, string, string[]]>([
    [
      'a trigger is disabled',
      'alter table gold.daily_orders disable trigger errata_refuse_change',
      ['guard    trigger errata_refuse_change of gold.daily_orders is disabled'],
    ],
    [
      'a trigger only fires in ordinary sessions',
      'alter table errata.daily_orders_evidence enable trigger errata_refuse_truncate',
      ['guard    trigger errata_refuse_truncate of errata.daily_orders_evidence does not always fire'],
    ],
    [
      'a trigger is dropped',
      'drop trigger errata_accept_seal on gold.daily_orders',
      ['guard    trigger errata_accept_seal of gold.daily_orders is missing'],
    ],
    [
      'a column is rewritten',
      'drop view gold.daily_orders_sealed, gold.daily_orders_latest, gold.daily_orders_history, gold.daily_orders_live, gold.daily_orders_journal, gold.daily_orders_reconciliation, gold.daily_orders_side_output; alter table gold.daily_orders alter column event_count type bigint using event_count + version - 1',
      [
        'altered  2026-10-29 00:00Z to 2026-10-30 00:00Z, region EU, version 2: hashed by run 2',
        'altered  2026-10-30 00:00Z to 2026-10-31 00:00Z, region EU, version 2: hashed by run 3',
      ],
    ],
    [
      'a table that inherits brings a row',
      `create table gold.forged () inherits (gold.daily_orders);
       insert into gold.forged select * from gold.daily_orders where run_id = 3`,
      [
        'added    2026-10-30 00:00Z to 2026-10-31 00:00Z, region EU, version 2: no run has hashed it',
        'guard    gold.forged inherits from the ledger',
      ],
    ],
    [
      'a run is made up, and the guard believes it',
      `insert into errata.run (rollup_id, verb, outcome, started_at, publishing_transaction) values (1, 'run', 'running', now(), pg_current_xact_id());
       ${copied("version = 3, run_id = currval('errata.run_run_id_seq')")}; insert into gold.daily_orders select * from forged`,
      ['added    2026-10-29 00:00Z to 2026-10-30 00:00Z, region EU, version 3: no run has hashed it'],
    ],
  ])('%s', async (_, sql, lines) => {
    const { orders } = await history;
    const { text, holds } = await verifiedAfter(orders, sql);
    expect(text.split('\n').filter((line) => /^ {2}(?!head|to put)/.test(line))).toEqual(
      lines.map((line) => `  ${line}`),
    );
    expect(holds).toBe(false);
  });
});

describe('whoever changes the row, its hash and the links after it', () => {
  const forge = (orders: Orders) =>
    behind(`update gold.daily_orders set revenue = 99 where run_id = 2`) +
    behindHashes(
      `update errata.daily_orders_evidence as e set row_hash = ${rowHash(orders.rollup)} from gold.daily_orders as g
       where g.run_id = 2 and e.run_id = 2`,
    ) +
    `update errata.run set rows_hash = (select sha256(sha256(row_hash)) from errata.daily_orders_evidence where run_id = 2) where run_id = 2;
     update errata.run as r set hash = ${linkHash()} where run_id = 2;
     update errata.run set previous_hash = (select hash from errata.run where run_id = 2) where run_id = 3;
     update errata.run as r set hash = ${linkHash()} where run_id = 3;`;

  test('is not found by the database alone; a digest kept elsewhere shows it', async () => {
    const { orders, earlier, now } = await history;
    expect(await verifiedAfter(orders, forge(orders))).toMatchObject({ holds: true });
    for (const entry of [earlier, now]) {
      const { holds, text } = await verifiedAfter(orders, forge(orders), entry);
      expect(holds).toBe(false);
      expect(text).toContain(
        `digest   the link of run ${entry.run_id} is another one: what was published by ${entry.stamp} has changed`,
      );
    }
  });

  test('and who takes away the last link with all that it published', async () => {
    const { orders, earlier, now } = await history;
    const cut =
      behind('delete from gold.daily_orders where run_id = 3') +
      behindHashes('delete from errata.daily_orders_evidence where run_id = 3') +
      'delete from errata.run where run_id = 3';
    expect(await verifiedAfter(orders, cut)).toMatchObject({ holds: true });
    expect(await verifiedAfter(orders, cut, earlier)).toMatchObject({ holds: true });
    const { holds, text } = await verifiedAfter(orders, cut, now);
    expect(holds).toBe(false);
    expect(text).toContain(
      `digest   run 3 of ${now.stamp} is no link any more: what was published by then has changed`,
    );
  });
});

test('many are counted, the first are named', async () => {
  const { orders } = await history;
  const {
    text,
    versions_found: found,
    wrong_versions: named,
  } = await verifiedAfter(
    orders,
    behind(
      `insert into gold.daily_orders (window_start, window_end, region, stamp, sealed_at) select '2020-01-01', '2020-01-02', 'x' || n, now(), now() from generate_series(10, 39) as n`,
    ),
  );
  expect([found, named.length, named[0]?.key]).toEqual(['30', 20, { region: 'x10' }]);
  expect(text).toContain('  and 10 versions more\n');
});

describe('what is no digest', () => {
  test.each([
    ['a file that is not there', undefined, 'the digest FILE cannot be read'],
    ['an empty file', '', 'it holds no line of a rollup'],
    [
      'a head that lost a digit',
      `${'a'.repeat(63)}  3  2026-10-31T00:00:00Z  5  0  daily_orders`,
      'line 1: aaa',
    ],
    [
      'JSON of something else',
      '{"rollups":[{"rollup":"daily_orders","outcome":"done","head":5}]}',
      'line 2: 5',
    ],
    ['JSON that is cut off', '{"rollups":[', 'JSON'],
    ['JSON without rollups', '{"error":{}}', 'it has no list "rollups"'],
    ['one of other rollups', `${'a'.repeat(64)}  3  2026-10-31T00:00:00Z  5  0  others`, 'it holds others'],
  ])('%s', async (_, text, said) => {
    const { orders } = await history;
    const path = join(directory, text === undefined ? 'nowhere' : 'wrong');
    if (text !== undefined) writeFileSync(path, text);
    const failure = await call(verify, orders, [], { digest: path }).catch((error) => error);
    expect(failure).toMatchObject({ name: 'Failure', exitCode: 2 });
    expect(`${failure.message}\n${failure.detail}`.replaceAll(path, 'FILE')).toContain(said);
  });

  test('the text is read back as it was', async () => {
    const { earlier } = await history;
    const none = { rollup: 'other', head: null, run_id: null, stamp: null, versions: '0', waiting: '3' };
    const path = join(directory, 'both');
    writeFileSync(path, digestText([earlier, none]));
    expect(readDigest(path, path)).toEqual([earlier, none]);
  });
});

describe('what cannot be verified', () => {
  test('a rollup that an earlier version migrated', async () => {
    const orders = await openOrders();
    await orders.rows('drop table errata.daily_orders_evidence cascade');
    await expect(call(verify, orders, [], {})).rejects.toMatchObject({
      message: 'the versions of rollup "daily_orders" are not hashed yet',
      exitCode: 2,
    });
  });

  test('settings that left out a measure', async () => {
    const { orders } = await history;
    const { settings } = orders.rollup;
    const narrower = {
      ...orders,
      rollup: { ...orders.rollup, settings: { ...settings, measures: settings.measures.slice(0, 1) } },
    };
    await expect(call(verify, narrower, [], {})).rejects.toMatchObject({
      message: 'rollup "daily_orders" has measures that the settings do not name',
      exitCode: 2,
    });
  });
});

const programs = process.env.ERRATA_TEST_POSTGRES_BIN;
// Where the tests run on the programs of a directory, and those that dump and restore are among them.
if (programs !== undefined && existsSync(join(programs, 'pg_restore'))) {
  const program = async (name: string, ...args: string[]) =>
    await promisify(execFile)(join(programs, name), args);

  test('a dump restored whole has the same head, verifies, and goes on', async () => {
    const { orders, now } = await history;
    const dump = join(directory, 'dump');
    await program('pg_dump', '-Fc', '-f', dump, orders.database.url);
    const empty = await openTestDatabase();
    // What a test database is a copy of has schemas of its own.
    await empty.pool.query('drop schema if exists bronze, gold, errata cascade');
    await program('pg_restore', '--no-owner', '--dbname', empty.url, dump);
    const control = controlOf(empty.pool, 'errata');
    const restored = { ...orders, database: empty, control } as Orders;
    expect(await digestOf(restored)).toEqual(now);
    expect((await call(verify, restored, [], {})).exitCode).toBe(0);
    await expect(empty.pool.query('update gold.daily_orders set revenue = 0')).rejects.toThrow('is refused');
    await empty.pool.query(
      `insert into bronze.orders values ('last', '2026-10-30 13:00Z', '2026-10-31 08:00Z', 'EU', 1)`,
    );
    const [bronze] = (await empty.pool.query(`select 'bronze.orders'::regclass::oid::text as id`)).rows;
    await runRollup(control, { ...orders.rollup, relationId: bronze.id }, { bound: '2026-10-31T09:00Z' });
    expect(await digestOf(restored)).toMatchObject({ versions: '6' });
    expect((await call(verify, restored, [], {})).exitCode).toBe(0);
  });

  test('data alone is refused by a guard; with the triggers disabled, verify says how the guard is left', async () => {
    const { orders } = await history;
    const dump = join(directory, 'dump-of-data');
    await program('pg_dump', '-Fc', '-f', dump, orders.database.url);
    const other = await openOrders();
    await other.land('x 10-20 10:00 10-20 10:01', 'pass 10-21 02:00 10-21 02:01 ZZ 1');
    await other.run({ bound: '2026-10-21T03:00Z' });
    const restore = (...args: string[]) =>
      program(
        'pg_restore',
        '--data-only',
        '--schema=gold',
        '--table=daily_orders',
        ...args,
        '--dbname',
        other.database.url,
        dump,
      );
    await expect(restore()).rejects.toThrow('a version that names a run is only accepted from that run');
    await restore('--disable-triggers');
    const { text } = await call(verify, other, [], {});
    expect(text).toContain('no run has hashed it');
    expect(text).toContain('guard    trigger errata_refuse_change of gold.daily_orders does not always fire');
  });
}
