/** Each run hashes what it published and links it to what was published before, in the same commit (R21). */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { rowHash } from '../../src/catalog/canonical.ts';
import { digest } from '../../src/commands/digest.ts';
import { verify } from '../../src/commands/verify.ts';
import type { DigestEntry } from '../../src/report/evidence/digest.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';

const passDay = 'pass 10-30 02:00 10-30 02:01 ZZ 1';
const first = ['a 10-29 10:00 10-29 10:01', 'b 10-29 11:00 10-29 11:01'];
const late = 'late 10-29 12:00 10-30 04:00 EU 7';
const sha256 = (...parts: (string | Buffer)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

const digestOf = async (orders: Orders): Promise<DigestEntry> =>
  ((await call(digest, orders, [], {})).data as { rollups: DigestEntry[] }).rollups[0] as DigestEntry;
const verified = async (orders: Orders) => (await call(verify, orders, [], {})).text;
const links = (orders: Orders) =>
  orders.rows<{ run_id: string; versions_hashed: string; is_chained: boolean }>(
    `select run_id, versions_hashed, previous_hash is not distinct from lag(hash) over (order by run_id) as is_chained
     from errata.run where hash is not null order by run_id`,
  );
const emit = (orders: Orders, count: number, revenue: string, region = 'EU') =>
  orders.rows(
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', $1, $2, $3)`,
    [region, count, revenue],
  );

test('a link a run that published, none for one that did not; the hash is what plain SHA-256 says', async () => {
  const orders = await openOrders();
  await orders.run({ bound: '2026-10-29T01:00Z' });
  expect(await digestOf(orders)).toEqual({
    rollup: 'daily_orders',
    head: null,
    run_id: null,
    stamp: null,
    versions: '0',
    waiting: '0',
  });
  await orders.land(...first, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.run({ bound: '2026-10-30T03:30Z' });
  await orders.land(late);
  await orders.run({ bound: '2026-10-30T05:00Z', actor: 'ana "the" é', reason: 'line\nbreak' });
  expect(await links(orders)).toEqual([
    { run_id: '2', versions_hashed: '1', is_chained: true },
    { run_id: '4', versions_hashed: '1', is_chained: true },
  ]);

  const [version] = await orders.rows<Record<string, string>>(
    `select to_json(stamp at time zone 'UTC') #>> '{}' as stamp, db_role, definition_fingerprint as fingerprint from gold.daily_orders where version = 2`,
  );
  const row =
    `{"actor":"ana \\"the\\" é","causes":["late_firing"],"corrected_at":"${version?.stamp}","db_role":"${version?.db_role}",` +
    `"definition_fingerprint":"${version?.fingerprint}","event_count":3,"is_void":false,"kind":"correction","local_date":"2026-10-29","orders":3,` +
    `"reason":"line\\nbreak","region":"EU","revenue":27.00,"run_id":4,"sealed_at":"SEALED","stamp":"${version?.stamp}","version":2,` +
    `"window_end":"2026-10-30T00:00:00","window_start":"2026-10-29T00:00:00"}`;
  const [sealed] = await orders.rows<{ at: string }>(
    `select to_json(sealed_at at time zone 'UTC') #>> '{}' as at from gold.daily_orders where version = 2`,
  );
  const rowHash = sha256(row.replace('SEALED', sealed?.at ?? ''));
  const [kept] = await orders.rows<{ hash: string }>(
    `select encode(row_hash, 'hex') as hash from errata.daily_orders_evidence where version = 2`,
  );
  expect(kept?.hash).toBe(rowHash.toString('hex'));

  const [run] = await orders.rows<Record<string, string>>(
    `select counts::text as counts, db_role, encode(previous_hash, 'hex') as previous from errata.run where run_id = 4`,
  );
  const record =
    `{"actor":"ana \\"the\\" é","bound":"2026-10-30T05:00:00","counts":${run?.counts},"db_role":"${run?.db_role}","previous_hash":"${run?.previous}",` +
    `"reason":"line\\nbreak","rollup_id":1,"rows_hash":"${sha256(sha256(rowHash)).toString('hex')}","run_id":4,"stamp":"${version?.stamp}","verb":"run","versions_hashed":1}`;
  expect(await digestOf(orders)).toMatchObject({
    head: sha256(record).toString('hex'),
    run_id: '4',
    versions: '2',
  });
  expect(await verified(orders)).toMatch(/^daily_orders: 2 versions in 2 links, all as they were published/);
});

describe('what the stream inserts', () => {
  const stream = () => openOrders({ seal: '{ by: stream, after: 15 minutes }' });

  test('is hashed as it was stored, and linked by the next run', async () => {
    const orders = await stream();
    await orders.land(...first, passDay);
    await emit(orders, 2, '20.00');
    await emit(orders, 2, '20.00');
    expect(await digestOf(orders)).toMatchObject({ head: null, versions: '0', waiting: '1' });
    expect(await verified(orders)).toContain('waiting  1 version not yet in a link');
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(await digestOf(orders)).toMatchObject({ run_id: '1', versions: '1', waiting: '0' });
    expect(await verified(orders)).toContain('all as they were published');
  });

  test('is taken by a later run when its transaction commits late', async () => {
    const orders = await stream();
    await orders.land(...first, passDay);
    await emit(orders, 2, '20.00');
    await orders.run({ bound: '2026-10-30T03:00Z' });
    const client = await orders.database.pool.connect();
    await client.query('begin');
    await client.query(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-28T00:00Z', '2026-10-29T00:00Z', null, 1, 5)`,
    );
    await orders.land(late);
    await orders.run({ bound: '2026-10-30T05:00Z' });
    await client.query('commit');
    client.release();
    expect(await digestOf(orders)).toMatchObject({ run_id: '2', versions: '2', waiting: '1' });
    await orders.run({ bound: '2026-10-30T06:00Z' });
    expect((await links(orders)).map((link) => [link.run_id, link.versions_hashed, link.is_chained])).toEqual(
      [
        ['1', '1', true],
        ['2', '1', true],
        ['3', expect.any(String), true],
      ],
    );
    expect(await verified(orders)).toContain('all as they were published');
  });

  test('and is altered before that run: found all the same', async () => {
    const orders = await stream();
    await emit(orders, 2, '20.00');
    await orders.rows(
      'alter table gold.daily_orders disable trigger user; update gold.daily_orders set revenue = 21; alter table gold.daily_orders enable always trigger errata_refuse_change, enable always trigger errata_refuse_truncate, enable always trigger errata_accept_seal, enable always trigger errata_check_versions',
    );
    expect(await verified(orders)).toContain('region EU, version 1: of the stream');
    await orders.land(...first, passDay);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(await verified(orders)).toContain(
      'altered  2026-10-29 00:00Z to 2026-10-30 00:00Z, region EU, version 1: hashed by run 1',
    );
  });
});

test('a ledger of an earlier version of Errata: the first run takes all of it into one link', async () => {
  const orders = await openOrders({ seal: '{ by: stream }' });
  await orders.land(...first, passDay);
  await emit(orders, 2, '20.00');
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land(late);
  await orders.run({ bound: '2026-10-30T05:00Z' });
  await emit(orders, 1, '1.00', 'US');
  await orders.rows(
    `alter table errata.daily_orders_evidence disable trigger user; delete from errata.daily_orders_evidence; delete from errata.daily_orders_unchained;
     alter table errata.daily_orders_evidence enable always trigger errata_refuse_change, enable always trigger errata_refuse_truncate;
     update errata.run set hash = null, previous_hash = null, rows_hash = null, versions_hashed = null`,
  );
  expect(await verified(orders)).toContain(
    'no version is hashed yet\n  waiting  3 versions not yet in a link',
  );
  expect(await digestOf(orders)).toMatchObject({ head: null, versions: '0', waiting: '3' });
  await emit(orders, 2, '2.00', 'US');
  await emit(orders, 9, '9.00', 'ZZ');
  await orders.run({ bound: '2026-10-30T06:00Z' });
  expect(await orders.ledger()).toEqual([
    "10-29 'EU' v1 2 20.00",
    "10-29 'EU' v2 3 27.00 late_firing",
    "10-29 'US' v1 1 1.00",
    "10-29 'US' v2 2 2.00 stream_emission",
    "10-29 'ZZ' v1 9 9.00",
  ]);
  expect(await links(orders)).toEqual([{ run_id: '3', versions_hashed: '5', is_chained: true }]);
  expect(await verified(orders)).toContain('all as they were published');
});

test('a row forged for a run to come is not taken for its work', async () => {
  const orders = await openOrders();
  await orders.land(...first, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.rows(
    `alter table gold.daily_orders disable trigger user;
     insert into gold.daily_orders (window_start, window_end, region, orders, revenue, run_id, stamp, sealed_at)
       values ('2026-10-27T00:00Z', '2026-10-28T00:00Z', 'EU', 1, 1, 2, now(), now());
     alter table gold.daily_orders enable always trigger errata_refuse_change, enable always trigger errata_refuse_truncate, enable always trigger errata_accept_seal, enable always trigger errata_check_versions`,
  );
  await orders.land(late);
  await orders.run({ bound: '2026-10-30T05:00Z' });
  expect((await links(orders)).map((link) => link.versions_hashed)).toEqual(['1', '1']);
  expect(await verified(orders)).toContain(
    'added    2026-10-27 00:00Z to 2026-10-28 00:00Z, region EU, version 1: no run has hashed it',
  );
});

test('a measure added later leaves older hashes as they were', async () => {
  const orders = await openOrders();
  await orders.land(...first, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  const before = await digestOf(orders);
  await orders.rows('alter table gold.daily_orders add column average numeric');
  const [measure] = orders.rollup.measures;
  const wider = {
    ...orders,
    rollup: {
      ...orders.rollup,
      settings: {
        ...orders.rollup.settings,
        measures: [
          ...orders.rollup.settings.measures,
          { ...(measure as object), name: 'average', type: 'numeric', expression: 'avg(amount)' },
        ],
      },
    },
  } as unknown as Orders;
  expect((await call(verify, wider, [], {})).exitCode).toBe(0);
  expect(await digestOf(wider)).toEqual(before);
});

describe('a stream whose session writes values otherwise', () => {
  const odd =
    "set timezone = 'Asia/Kolkata'; set datestyle = 'German'; set intervalstyle = 'sql_standard'; set extra_float_digits = -10; set bytea_output = 'escape'";
  const inserted = async (orders: Orders, names: string, values: string) => {
    const client = await orders.database.pool.connect();
    await client.query(odd);
    await client.query(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue, ${names}) values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', 1, 1.50, ${values})`,
    );
    const { rows } = await client.query(
      `select encode(${rowHash(orders.rollup)}, 'hex') as hash from gold.daily_orders as g`,
    );
    await client.query('reset all');
    client.release();
    return rows[0]?.hash as string;
  };
  const kept = async (orders: Orders) =>
    (
      await orders.rows<{ hash: string }>(
        `select encode(row_hash, 'hex') as hash from errata.daily_orders_unchained`,
      )
    )[0]?.hash;

  test('the canonical form is the same under any settings', async () => {
    const orders = await openOrders({
      seal: '{ by: stream }',
      measures:
        '{ orders: count(*), revenue: sum(amount), mean: "(avg(amount))::double precision", share: "(avg(amount))::real", spread: max(ingested_at) - min(ingested_at), latest: max(ingested_at), day: max(ordered_at::date), raw: "max(amount::text)::bytea", cash: max(amount)::money, clock: max(ordered_at::timetz), ids: array_agg(order_id order by order_id) }',
    });
    const hash = await inserted(
      orders,
      'mean, share, spread, latest, day, raw, cash, clock, ids',
      `1 / 3.0, 1 / 3.0, '1 day 02:00:00.5', 'infinity', '0044-03-15 BC', '\\x00ff', 3.5, '10:00+02', '{a,"b c",NULL}'`,
    );
    expect(await kept(orders)).toBe(hash);
    expect((await call(verify, orders, [], {})).exitCode).toBe(0);
  });

  test('a measure of any other type is hashed under settings of our own', async () => {
    const orders = await openOrders({
      seal: '{ by: stream }',
      measures:
        '{ orders: count(*), revenue: sum(amount), moments: array_agg(ordered_at order by ordered_at) }',
    });
    const hash = await inserted(orders, 'moments', `'{2026-10-29T10:00Z}'`);
    expect(await kept(orders)).not.toBe(hash);
    expect((await call(verify, orders, [], {})).exitCode).toBe(0);
    await orders.land(passDay);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect((await call(verify, orders, [], {})).exitCode).toBe(0);
  });
});
