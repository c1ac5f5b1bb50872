/** The ledger defends itself (R8): against its owner and a superuser in an ordinary session, and against a stream. */

import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { describe, expect, test } from 'vitest';
import { verify } from '../../src/commands/verify.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';

const sealedByErrata = (async () => {
  const orders = await openOrders();
  await orders.land(
    'a 10-29 10:00 10-29 10:01',
    'b 10-29 11:00 10-29 11:01',
    'pass 10-30 02:00 10-30 02:01 ZZ 1',
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land('late 10-29 12:00 10-30 04:00 EU 7');
  await orders.run({ bound: '2026-10-30T05:00Z' });
  return orders;
})();
const sealedByStream = (async () => {
  const orders = await openOrders({ seal: '{ by: stream, after: 15 minutes }' });
  await orders.land(
    'a 10-29 10:00 10-29 10:01',
    'b 10-29 11:00 10-29 11:01',
    'pass 10-30 02:00 10-30 02:01 ZZ 1',
  );
  await orders.rows(
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', 2, 20.00)`,
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  return orders;
})();

type Who = 'owner' | 'superuser';

/** As a role of its own that owns every relation and function, or as the superuser of the tests; always rolled back. */
async function attempt(
  orders: Orders,
  who: Who,
  statement: string,
): Promise<{ refusal?: string; ledger: string[] }> {
  const client = await orders.database.pool.connect();
  let refusal: string | undefined;
  try {
    await client.query('begin');
    if (who === 'owner') {
      const role = `errata_owner_${randomBytes(4).toString('hex')}`;
      await client.query(`
        create role ${role};
        grant usage, create on schema gold, errata to ${role};
        alter table gold.daily_orders owner to ${role};
        alter table errata.daily_orders_evidence owner to ${role};
        alter table errata.run owner to ${role};
        grant select, insert, update, delete on all tables in schema errata, gold to ${role};
        set local role ${role}`);
    }
    await client.query('savepoint before');
    await client.query(statement).catch(async (error: Error) => {
      refusal = error.message;
      await client.query('rollback to before');
    });
    const { rows } = await client.query<{ line: string }>(
      `select concat_ws(' ', region, 'v' || version, orders, revenue) as line from gold.daily_orders order by region, version, revenue`,
    );
    return { ...(refusal === undefined ? {} : { refusal }), ledger: rows.map(({ line }) => line) };
  } finally {
    await client.query('rollback');
    client.release();
  }
}

const columns =
  'window_start, window_end, region, version, orders, revenue, kind, run_id, stamp, sealed_at, corrected_at';
const row = (version: number, run: string, start = '2026-10-29') =>
  `insert into gold.daily_orders as g (${columns}) select '${start} 00:00Z'::timestamptz, '${start} 00:00Z'::timestamptz + interval '1 day', 'EU', ${version}, 1, 1, '${version === 1 ? 'seal' : 'correction'}', ${run}, now(), now(), ${version === 1 ? 'null' : 'now()'}`;
/** The owner of the control tables makes up a run of this very transaction: it still may not break what versions are. */
const madeUp = (statement: string) =>
  `insert into errata.run (run_id, rollup_id, verb, outcome, started_at, publishing_transaction) overriding system value values (77, 1, 'run', 'running', now(), pg_current_xact_id()); ${statement}`;

const refused: readonly [string, string, string][] = [
  ['update', 'update gold.daily_orders set orders = 3', 'update of a published version is refused'],
  [
    'update of nothing',
    'update gold.daily_orders set orders = orders',
    'update of a published version is refused',
  ],
  [
    'update of the key',
    `update gold.daily_orders set region = 'US'`,
    'update of a published version is refused',
  ],
  ['delete', 'delete from gold.daily_orders', 'delete of a published version is refused'],
  ['truncate', 'truncate gold.daily_orders', 'truncate of a published version is refused'],
  [
    'truncate with all that depends',
    'truncate gold.daily_orders cascade',
    'truncate of a published version is refused',
  ],
  [
    'merge that updates',
    'merge into gold.daily_orders as g using (values (1)) as v (n) on true when matched then update set revenue = 0',
    'update of a published version is refused',
  ],
  [
    'merge that deletes',
    'merge into gold.daily_orders as g using (values (1)) as v (n) on true when matched then delete',
    'delete of a published version is refused',
  ],
  [
    'merge that inserts',
    `merge into gold.daily_orders as g using (values (1)) as v (n) on false when not matched then insert (window_start, window_end, region, orders, revenue) values ('2026-10-28 00:00Z', '2026-10-29 00:00Z', 'EU', 1, 1)`,
    'a version without a run is refused',
  ],
  [
    'insert that updates what is there',
    `${row(1, '1')} on conflict on constraint daily_orders_version_key do update set revenue = 0`,
    'update of a published version is refused',
  ],
  ['a version 1 without a run', row(1, 'null', '2026-10-28'), 'a version without a run is refused'],
  ['a correction without a run', row(3, 'null'), 'a version without a run is refused'],
  [
    'a version 1 of a run of the past',
    row(1, '1', '2026-10-28'),
    'a version that names a run is only accepted from that run',
  ],
  [
    'a correction of a run of the past',
    row(3, '2'),
    'a version that names a run is only accepted from that run',
  ],
  [
    'a correction of a run to come',
    row(3, '99'),
    'a version that names a run is only accepted from that run',
  ],
  [
    'a version of a run that has ended in this transaction',
    madeUp(`update errata.run set outcome = 'done' where run_id = 77; ${row(3, '77')}`),
    'a version that names a run is only accepted from that run',
  ],
  ['a gap', madeUp(row(4, '77')), 'versions count up without a gap'],
  [
    'a gap, in another order',
    madeUp(`${row(5, '77')} union all ${row(4, '77').slice(row(4, '77').indexOf('select'))}`),
    'versions count up without a gap',
  ],
  [
    'a duplicate',
    madeUp(row(2, '77')),
    'duplicate key value violates unique constraint "daily_orders_version_key"',
  ],
  [
    'a version 1 after version 2',
    madeUp(`${row(2, '77', '2026-10-28')}; ${row(1, '77', '2026-10-28')}`),
    'a version 1 after version 2 is refused',
  ],
  [
    'a version 1 after version 2, of no key',
    madeUp(`${row(2, '77', '2026-10-28')}; ${row(1, '77', '2026-10-28')}`).replaceAll(`'EU'`, 'null'),
    'a version 1 after version 2 is refused',
  ],
  ['a version 0', madeUp(row(0, '77')), 'violates check constraint "ledger_version"'],
  [
    'a version 1 that calls itself a correction',
    madeUp(row(1, '77', '2026-10-28').replace(`'seal'`, `'correction'`)),
    'violates check constraint "ledger_seal"',
  ],
  [
    'a window that ends before it starts',
    madeUp(row(1, '77', '2026-10-28').replace('+ interval', '- interval')),
    'violates check constraint "ledger_window"',
  ],
  [
    'a correction that was made before its stamp',
    madeUp(row(3, '77').replace(/now\(\)$/, `now() - interval '1 day'`)),
    'violates check constraint "ledger_stamp"',
  ],
  [
    'update of a hash',
    `update errata.daily_orders_evidence set row_hash = sha256('')`,
    'update of the hash of a published version is refused',
  ],
  [
    'delete of a hash',
    'delete from errata.daily_orders_evidence',
    'delete of the hash of a published version is refused',
  ],
  [
    'truncate of hashes',
    'truncate errata.daily_orders_evidence',
    'truncate of the hash of a published version is refused',
  ],
];

describe.each<Who>(['owner', 'superuser'])('as %s', (who) => {
  test.each(refused)('%s', async (_, statement, message) => {
    const { refusal, ledger } = await attempt(await sealedByErrata, who, statement);
    expect(refusal).toContain(message);
    expect(ledger).toEqual(['EU v1 2 20.00', 'EU v2 3 27.00']);
  });
});

test.each(refused)(
  'as superuser with session_replication_role = replica: %s',
  async (_, statement, message) => {
    const { refusal, ledger } = await attempt(
      await sealedByErrata,
      'superuser',
      `set local session_replication_role = replica; ${statement}`,
    );
    expect(refusal).toContain(message);
    expect(ledger).toEqual(['EU v1 2 20.00', 'EU v2 3 27.00']);
  },
);

test('a copy into the ledger', async () => {
  const orders = await sealedByErrata;
  const client = await orders.database.pool.connect();
  const lines = '2026-10-28 00:00Z\t2026-10-29 00:00Z\tEU\t1\t1\n';
  const copy = client.query(
    copyFrom('copy gold.daily_orders (window_start, window_end, region, orders, revenue) from stdin'),
  );
  await expect(pipeline(Readable.from([lines]), copy)).rejects.toThrow('a version without a run is refused');
  client.release();
  expect((await orders.ledger()).length).toBe(2);
});

describe('a stream', () => {
  const emit = (set: string, values: string) =>
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue${set}) values (${values})`;
  const day = `'2026-10-28T00:00Z', '2026-10-29T00:00Z', 'EU', 1, 1`;

  test.each<[string, string, string]>([
    [
      'a window that begins elsewhere',
      emit('', `'2026-10-28T01:00Z', '2026-10-29T00:00Z', 'EU', 1, 1`),
      'the row names a window that this rollup does not have',
    ],
    [
      'a window that ends elsewhere',
      emit('', `'2026-10-28T00:00Z', '2026-10-30T00:00Z', 'EU', 1, 1`),
      'the row names a window that this rollup does not have',
    ],
    [
      'a window without an end',
      emit('', `'2026-10-28T00:00Z', 'infinity', 'EU', 1, 1`),
      'the row names a window that this rollup does not have',
    ],
    ['a version 2', emit(', version', `${day}, 2`), 'a stream may only insert version 1'],
    ['a correction', emit(', kind', `${day}, 'correction'`), 'a stream may only insert version 1'],
    ['a void', emit(', is_void', `${day}, true`), 'a stream may only insert version 1'],
    [
      'a version of a run',
      emit(', run_id, stamp, sealed_at', `${day}, 1, now(), now()`),
      'a version that names a run is only accepted from that run',
    ],
    [
      'an update of what it sent',
      'update gold.daily_orders set revenue = 21',
      'update of a published version is refused',
    ],
  ])('%s is refused', async (_, statement, message) => {
    for (const who of ['owner', 'superuser'] as const) {
      const { refusal, ledger } = await attempt(await sealedByStream, who, statement);
      expect(refusal).toContain(message);
      expect(ledger).toEqual(['EU v1 2 20.00']);
    }
  });

  test('what it says of a version beside key and measures does not count', async () => {
    const orders = await openOrders({ seal: '{ by: stream }' });
    await orders.rows(
      emit(
        ', local_date, stamp, sealed_at, corrected_at, actor, reason, approver, posting_period, replaces, db_role, causes, definition_fingerprint',
        `${day}, '2020-01-01', '2020-01-01', '2020-01-01', '2020-01-01', 'CFO', 'because', 'CFO', '2020-01', '[]', 'nobody', '{refused}', 'forged'`,
      ),
    );
    const [version] = await orders.rows(
      `select local_date, stamp > now() - interval '1 hour' and stamp = sealed_at as is_stamped, corrected_at, actor, reason, approver, posting_period, replaces,
         db_role = session_user as is_role, causes, definition_fingerprint = (select definition_fingerprint from errata.rollup) as is_fingerprint from gold.daily_orders`,
    );
    expect(version).toEqual({
      local_date: '2026-10-28',
      is_stamped: true,
      corrected_at: null,
      actor: null,
      reason: null,
      approver: null,
      posting_period: null,
      replaces: null,
      is_role: true,
      causes: [],
      is_fingerprint: true,
    });
  });

  test('an upsert of its own changes nothing that shipped', async () => {
    const orders = await sealedByStream;
    for (const revenue of ['20.00', '21.00']) {
      const { refusal, ledger } = await attempt(
        orders,
        'superuser',
        `${emit('', `'2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', 2, ${revenue}`)} on conflict on constraint daily_orders_version_key do update set revenue = excluded.revenue`,
      );
      expect([refusal, ledger]).toEqual([undefined, ['EU v1 2 20.00']]);
    }
  });

  test('by COPY it is version 1, and hashed', async () => {
    const orders = await openOrders({ seal: '{ by: stream }' });
    const client = await orders.database.pool.connect();
    const lines = ['EU', 'US', 'EU'].map(
      (region) => `2026-10-28 00:00Z\t2026-10-29 00:00Z\t${region}\t1\t1\n`,
    );
    await pipeline(
      Readable.from(lines),
      client.query(
        copyFrom('copy gold.daily_orders (window_start, window_end, region, orders, revenue) from stdin'),
      ),
    );
    client.release();
    expect(await orders.ledger()).toEqual(["10-28 'EU' v1 1 1", "10-28 'US' v1 1 1"]);
    expect((await call(verify, orders, [], {})).text).toContain('waiting  2 versions not yet in a link');
  });
});

test('a ledger that was analysed while it was empty takes a stream as fast as one that never was', async () => {
  const takes = async (before: string): Promise<number> => {
    const orders = await openOrders({ seal: '{ by: stream, after: 15 minutes }' });
    await orders.rows(before);
    const started = performance.now();
    await orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
       select '2026-10-29T00:00Z', '2026-10-30T00:00Z', 'region ' || n, 1, 1.00 from generate_series(1, 12000) as n`,
    );
    return performance.now() - started;
  };
  const never = await takes('select 1');
  expect(await takes('vacuum analyze'), `milliseconds, beside ${never}`).toBeLessThan(3 * never + 1000);
});
