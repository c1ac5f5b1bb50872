/** `check`: everything that does not fit, at once; and what `migrate` refuses with it. */
import { expect, test } from 'vitest';
import { openTestDatabase } from '../support/database.ts';
import { errata, rowCounts, workDirectory } from './command.ts';

const yaml = `database: \${DATABASE_URL}
rollups:
  floats:
    gold: gold.floats
    bronze: { table: bronze.readings, event_id: id, event_time: happened_at, ingested_at: landed_at }
    window: { session_gap: 30 minutes }
    key: [sensor]
    measures: { total: sum(value), average: sum(value) / 0::int }
    watermark: { strategy: bounded, delay: 0 }
    seal: { from: analytics.floats }
    publish: { policy: review, horizon: 30 days, review_beyond: { total: 5 } }
  of_view:
    gold: gold.of_view
    bronze: { table: bronze.orders_view, event_id: id, event_time: ordered_at, ingested_at: ingested_at, source_partition: shard }
    window: { tumbling: 5 minutes }
    key: [region]
    measures: { orders: count(*) }
    watermark: { strategy: bounded, delay: 0 }
    seal: { by: errata }
    publish: { policy: auto }
  partitioned:
    gold: gold.partitioned
    bronze: { table: bronze.orders, event_id: id, event_time: ordered_at, ingested_at: ingested_at }
    window: { calendar: 1 day, time_zone: Europe/Berlin }
    key: [region]
    measures: { orders: count(*) }
    watermark: { strategy: bounded, delay: 0 }
    seal: { by: errata }
    publish: { policy: auto }
`;

const role = `check_${Math.random().toString(36).slice(2, 8)}`;

test('all faults and warnings of all rollups together', async () => {
  const { url, pool } = await openTestDatabase();
  const directory = workDirectory(yaml);
  await pool.query(`create schema bronze;
    create table bronze.readings (id bigint, happened_at timestamp, landed_at timestamptz, value double precision);
    create table bronze.orders (id bigint, ordered_at timestamptz, ingested_at timestamptz, region text, shard int) partition by range (ingested_at);
    create table bronze.orders_1 partition of bronze.orders for values from ('2026-01-01 00:00Z') to ('2026-02-01 00:00Z');
    create table bronze.orders_2 partition of bronze.orders for values from ('2026-02-01 00:00Z') to ('2026-03-01 00:00Z');
    create index on bronze.orders_1 (ordered_at);
    create view bronze.orders_view as select * from bronze.orders;
    insert into bronze.orders select g, timestamptz '2026-01-01Z' + g * interval '1 hour', timestamptz '2026-01-01Z' + g * interval '1 hour', 'eu', g % 2 from generate_series(0, 1000) g`);
  const before = await rowCounts(pool);
  const ended = await errata(directory, url, 'check', '--json');
  expect(ended.exitCode).toBe(2);
  const { rollups } = JSON.parse(ended.stdout);
  const said = (kind: 'faults' | 'warnings') =>
    rollups.flatMap((one: Record<string, { place: string; fact: string }[]>) =>
      (one[kind] ?? []).map(({ place, fact }) => `${place}: ${fact}`),
    );
  expect(said('faults')).toEqual([
    'rollups.floats.seal.from: there is no table or view analytics.floats',
    'rollups.floats.bronze.event_time: column "happened_at" has type timestamp without time zone, which says no time zone',
    'rollups.floats.key: bronze.readings has no column "sensor"',
    'rollups.floats.measures.total: "sum(value)" adds up floats, so its value depends on the order of rows',
    'rollups.floats.measures.average: "sum(value) / 0::int" adds up floats, so its value depends on the order of rows',
  ]);
  expect(said('warnings')).toEqual([
    expect.stringMatching(/^rollups\.of_view\.bronze\.table: bronze\.orders_view is a view/),
    expect.stringMatching(
      /^rollups\.partitioned\.bronze\.table: no index of bronze\.orders serves the recompute/,
    ),
    expect.stringMatching(
      /^rollups\.partitioned\.bronze\.event_id: no index of bronze\.orders begins with id, so a run with late rows may read all of it/,
    ),
  ]);
  expect(rollups[2].warnings[0].hint).toMatch(
    /^create index on "bronze"\."orders" \("region", "ordered_at"\); about \d/,
  );
  expect(rollups[2].warnings[1].hint).toMatch(/^create index on "bronze"\."orders" \("id"\); about \d/);
  expect(rollups[2].firstRun).toMatchObject({
    partitions: 2,
    firstEvent: '2026-01-01 00:00:00+00',
    lastEvent: '2026-02-11 16:00:00+00',
    windows: 42,
  });

  const migrated = await errata(directory, url, 'migrate');
  expect(migrated.exitCode).toBe(2);
  expect(migrated.stderr).toMatch(/^errata\.yaml cannot be carried out\n/);
  expect(migrated.stderr).toContain('rollups.floats.key: bronze.readings has no column "sensor"');
  expect(await rowCounts(pool)).toEqual(before);

  // What a role lacks: one without any rights of its own.
  await pool.query(`create role ${role} login password '${role}';
    create schema gold; grant usage on schema bronze to ${role};
    do $$ begin execute format('revoke temporary on database %I from public', current_database()); end $$`);
  const as = new URL(url);
  as.username = role;
  as.password = role;
  const poor = await errata(directory, as.href, 'check', 'partitioned');
  await pool.query(`drop owned by ${role}; drop role ${role}`);
  expect(poor.exitCode).toBe(2);
  expect(poor.stdout).toContain(`the role ${role} may not make temporary tables, which every run needs`);
  expect(poor.stdout).toContain(`schema "errata" is not there, and the role ${role} may not create it`);
  expect(poor.stdout).toContain(`grant usage, create on schema "gold" to "${role}"`);
  expect(poor.stdout).toContain('bronze.orders cannot be read by the connected role');
});
