/** After a restore everything is read anew, nothing changes, and what comes then is counted as before (R15, R16, R17). */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { createPool } from '../../src/db/pool.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { openErrata } from '../support/errata.ts';
import { dailyPartitions, type Orders, openOrders, ordersYaml, plainTable } from '../support/orders.ts';
import { execute } from '../support/template.ts';
import { stateOf } from './story.ts';

const at = (hour: number) => ({ bound: `2026-10-31T${String(hour).padStart(2, '0')}:00Z` });
const run = promisify(execFile);

/** Sealed, corrected, pending, and half of the next day examined. */
async function published(ddl: string): Promise<Orders> {
  const orders = await openOrders({ ddl, policy: 'grace' });
  await orders.land(
    'a 10-29 10:00 10-29 10:01',
    'b 10-29 11:00 10-29 11:01',
    'pass 10-30 02:00 10-30 02:01',
    'firing 10-29 12:00 10-30 04:00 EU 7',
    'more 10-31 02:00 10-31 02:01',
    'refused 10-29 12:00 10-31 02:30 EU 9',
  );
  await orders.run(at(3));
  return orders;
}

/** What must hold in the restored database, and what must still be found there. */
async function mustGoOn(restored: TestDatabase, before: string, ddl: string): Promise<void> {
  const orders = await openErrata(restored, ordersYaml({ ddl, policy: 'grace' }));
  const first = await orders.run(at(4));
  expect(first).toMatchObject({
    gone: [],
    counts: { windows_corrected: 0, windows_blocked: 0, sealing_blocked: 0 },
  });
  expect(decided(await stateOf(restored.pool))).toEqual(decided(before));
  expect((await orders.run(at(4))).counts.rows_examined).toBe(0);
  await orders.rows(`insert into bronze.orders values ('new', '2026-10-30T23:00Z', '2026-10-31T04:30Z', 'EU', 1),
    ('seals', '2026-11-01T02:00Z', '2026-11-01T02:01Z', 'EU', 1)`);
  const report = await orders.run({ bound: '2026-11-01T03:00Z' });
  expect(report).toMatchObject({
    gone: [],
    counts: { sealing_blocked: 0, windows_sealed: 1, rows_examined: 2, late_firing: 1, windows_corrected: 1 },
  });
}

/** Without what a first reading counts anew: how many rows each partition gave. */
const decided = (state: string) =>
  state.split('\n').filter((line) => !/^errata\.(ingestion_partition|rollup) /.test(line));

describe.each([
  ['a plain table', plainTable],
  ['ingestion partitions', dailyPartitions],
])('%s', (_, ddl) => {
  test('a copy of the database whose bronze was made anew, as a restore makes it', async () => {
    const orders = await published(ddl);
    const before = await stateOf(orders.database.pool);
    await orders.database.close();
    const copy = await openTestDatabase();
    await copy.close();
    const server = inject('testServerUrl');
    const [name, source] = [copy.url, orders.database.url].map((url) =>
      pg.escapeIdentifier(new URL(url).pathname.slice(1)),
    );
    await execute(server, `drop database ${name}`);
    await execute(server, `create database ${name} template ${source}`);
    const pool = createPool(copy.url);
    try {
      await pool.query(
        'create schema kept; create table kept.orders as table bronze.orders; drop schema bronze cascade',
      );
      await pool.query(`${ddl}; insert into bronze.orders table kept.orders; drop schema kept cascade`);
      await mustGoOn({ url: copy.url, pool, close: () => pool.end() }, before, ddl);
    } finally {
      await pool.end();
    }
  });

  const programs = findPrograms();
  test.skipIf(programs === undefined)(
    'pg_dump into another database, and as if into another cluster (skipped where no pg_dump fits the server)',
    async ({ skip }) => {
      const orders = await published(ddl);
      const [server] = await orders.rows<{ major: number }>(
        `select current_setting('server_version_num')::int / 10000 as major`,
      );
      if (Number(server?.major) > Number(programs?.major))
        skip(`pg_dump ${programs?.major} cannot dump PostgreSQL ${server?.major}`);
      const before = await stateOf(orders.database.pool);
      for (const isElsewhere of [false, true]) {
        const restored = await openTestDatabase();
        const words = ['-c', 'set -o pipefail; "$0" "$1" | "$2" --quiet --no-psqlrc -v ON_ERROR_STOP=1 "$3"'];
        await run('bash', [
          ...words,
          join(programs?.directory ?? '', 'pg_dump'),
          orders.database.url,
          join(programs?.directory ?? '', 'psql'),
          restored.url,
        ]);
        if (isElsewhere) await restored.pool.query('update errata.rollup set system_identifier = 1');
        await mustGoOn(restored, before, ddl);
      }
    },
  );
});

/** The newest pg_dump that Debian's packages have put here. */
function findPrograms(): { directory: string; major: number } | undefined {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return undefined;
  const found = readdirSync(root)
    .map((name) => ({ directory: join(root, name, 'bin'), major: Number(name) }))
    .filter(({ directory }) => existsSync(join(directory, 'pg_dump')));
  return found.toSorted((a, b) => b.major - a.major)[0];
}
