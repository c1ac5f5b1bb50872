/** Where what the stream wrote contradicts the settings: said with both figures, and nothing fails (R2, R3). */
import { expect, test } from 'vitest';
import { errata, workDirectory } from '../commands/command.ts';
import { openTestDatabase } from '../support/database.ts';
import { type Orders, openOrders, plainTable } from '../support/orders.ts';

const ddl = `${plainTable}; create schema stream;
  create table stream.refused (order_id text, ws timestamptz, we timestamptz, wm timestamptz)`;
const refused = 'refused: { table: stream.refused, window_start: ws, window_end: we, watermark: wm }';

const external = (lateness: string, named = refused) =>
  openOrders({
    ddl,
    lateness,
    watermark: `{ strategy: external, ${named} }`,
    seal: '{ by: stream }',
    policy: 'grace',
  });
const recorded = (more: string, lateness = '1 hour') =>
  openOrders({ ddl, lateness, watermark: `{ strategy: recorded, ${more} }`, policy: 'grace' });

const refuse = (
  orders: Orders,
  id: string,
  watermark: string | null,
  window: 'start' | 'end' | null = 'end',
) =>
  orders.rows('insert into stream.refused values ($1, $2, $3, $4)', [
    id,
    window === 'start' ? '2026-10-29T00:00Z' : null,
    window === 'end' ? '2026-10-30T00:00Z' : null,
    watermark === null ? null : `2026-${watermark}Z`,
  ]);
const log = (orders: Orders, at: string, watermark: string) =>
  orders.rows(
    `insert into gold.daily_orders_watermark_log (source_partition, at, watermark) values ('0', $1, $2)`,
    [`2026-${at}Z`, `2026-${watermark}Z`],
  );
const said = ({ contradictions }: Awaited<ReturnType<Orders['run']>>) =>
  contradictions.map(({ kind, setting, rows, configured, implied_seconds: implied }) =>
    [kind, setting, rows, configured, implied].join(' '),
  );

test('external: a row refused before its window had taken late events for as long as configured', async () => {
  const orders = await external('24 hours');
  await orders.land('a 10-29 10:00 10-29 10:01', 'r 10-29 12:00 10-31 04:00');
  await refuse(orders, 'fits', '10-31T00:00');
  expect(said(await orders.run({ bound: '2026-10-31T05:00Z' }))).toEqual([]);
  await refuse(orders, 'r', '10-30T02:00');
  await refuse(orders, 's', '10-30T23:59:59.999999', 'start');
  const report = await orders.run({ bound: '2026-10-31T06:00Z' });
  expect(said(report)).toEqual(['refused_early allowed_lateness 2 24 hours 7200.000000']);
  expect(report.contradictions[0]?.text).toBe(
    "the stream refused 2 rows too early: one 2 hours after its window's end, where allowed_lateness is 24 hours",
  );
  expect(report.counts.contradictions).toBe(1);
  // said once, by the run that took the entries up, and not by the one that finds the row
  await orders.land('s 10-29 13:00 10-31 06:30');
  expect(said(await orders.run({ bound: '2026-10-31T07:00Z' }))).toEqual([]);
});

test('external: without a window, the one of its row that ends first; before its end, too', async () => {
  const orders = await external('0', 'refused: { table: stream.refused, watermark: wm }');
  await orders.land('r 10-29 12:00 10-31 04:00');
  await refuse(orders, 'r', '10-29T23:00');
  await refuse(orders, 'not there yet', '10-01T00:00');
  const report = await orders.run({ bound: '2026-10-31T06:00Z' });
  expect(said(report)).toEqual(['refused_early allowed_lateness 1 0 -3600.000000']);
  expect(report.contradictions[0]?.text).toBe(
    "the stream refused 1 row too early: one even 1 hour before its window's end, where allowed_lateness is 0",
  );
});

test('recorded: rows that the stream refused and the log does not, and the other way round', async () => {
  const orders = await recorded(refused);
  await log(orders, '10-29T10:00', '10-29T09:00');
  await log(orders, '10-30T00:30', '10-30T00:20');
  await log(orders, '10-30T02:30', '10-30T02:20');
  await orders.land(
    'early 10-29 10:00 10-29 10:01',
    'new 10-29 11:00 10-29 15:00',
    'late 10-29 12:00 10-30 00:40',
    'agreed 10-29 13:00 10-30 03:00',
    'missed 10-29 14:00 10-30 03:00',
  );
  await orders.run({ bound: '2026-10-29T12:00Z' });
  for (const id of ['early', 'new', 'late', 'agreed']) await refuse(orders, id, null);
  await refuse(orders, 'waits', null, null);
  const first = await orders.run({ bound: '2026-10-30T04:00Z' });
  expect(first.counts).toMatchObject({ side_output: 2, late_firing: 1, refused_waiting: 1 });
  expect(said(first)).toEqual(['refused_there allowed_lateness 3 1 hour 1200.000000']);
  expect(first.contradictions[0]?.text).toBe(
    "the stream refused 3 rows that are in time here: allowed_lateness is 1 hour, the stream's at most 20 minutes",
  );
  // the run after it: an entry had time to be written
  const second = await orders.run({ bound: '2026-10-30T05:00Z' });
  expect(said(second)).toEqual(['refused_here allowed_lateness 1 1 hour 8400.000000']);
  expect(second.contradictions[0]?.text).toBe(
    "1 row refused here the stream did not refuse: allowed_lateness is 1 hour, the stream's more than 2 hours 20 minutes",
  );
  await orders.land('waits 10-30 05:00 10-30 05:01');
  expect(said(await orders.run({ bound: '2026-10-30T06:00Z' }))).toEqual([
    'refused_there allowed_lateness 1 1 hour ',
  ]);
  expect(await orders.rows('select event_id, landing from errata.refused_entry order by event_id')).toEqual([
    { event_id: 'agreed', landing: 'side_output' },
    { event_id: 'early', landing: 'open' },
    { event_id: 'late', landing: 'late_firing' },
    { event_id: 'new', landing: 'open' },
    { event_id: 'waits', landing: 'open' },
  ]);
  // the log decides; the comparison changes nothing
  expect(await orders.lateEvents()).toEqual([
    "late 'EU' late_firing included v2 late_firing",
    "agreed 'EU' side_output pending refused",
    "missed 'EU' side_output pending refused",
  ]);
});

test('recorded, over sessions: what a row was judged, whatever session it is in now', async () => {
  const orders = await openOrders({
    ddl,
    window: '{ session_gap: 2 hours }',
    lateness: '1 hour',
    watermark: `{ strategy: recorded, ${refused} }`,
    policy: 'auto',
  });
  await log(orders, '10-29T10:30', '10-29T10:00');
  await log(orders, '10-29T15:00', '10-29T14:20');
  await log(orders, '10-29T17:20', '10-29T17:05');
  await orders.land(
    'open 10-29 10:00 10-29 10:01',
    // joins a session that ends at 14:00, and a later row makes it longer
    'late 10-29 12:00 10-29 15:30',
    'longer 10-29 13:30 10-29 15:40',
    'refused 10-29 14:00 10-29 17:30',
  );
  for (const id of ['open', 'late', 'refused']) await refuse(orders, id, null, 'start');
  expect(said(await orders.run({ bound: '2026-10-30T04:00Z' }))).toEqual([
    'refused_there allowed_lateness 2 1 hour 1200.000000',
  ]);
  expect(await orders.rows('select event_id, landing from errata.refused_entry order by event_id')).toEqual([
    { event_id: 'late', landing: 'late_firing' },
    { event_id: 'open', landing: 'open' },
    { event_id: 'refused', landing: 'side_output' },
  ]);
});

test('recorded: the log stands nearer to the greatest event time than the delay', async () => {
  const orders = await recorded('delay: 10 minutes');
  await orders.land('a 10-29 10:00 10-29 10:01');
  await log(orders, '10-29T10:02', '10-29T09:50');
  expect(said(await orders.run({ bound: '2026-10-29T10:03Z' }))).toEqual([]);
  await log(orders, '10-29T10:04', '10-29T09:57');
  const report = await orders.run({ bound: '2026-10-29T10:05Z' });
  expect(said(report)).toEqual(['delay watermark.delay  10 minutes 180.000000']);
  expect(report.contradictions[0]?.text).toBe(
    "the stream's log stands 3 minutes behind the greatest event time in bronze, where watermark.delay is 10 minutes",
  );
});

test('check, run and plan say it, in words and in --json, and none of them fails', {
  timeout: 120_000,
}, async () => {
  const { url, pool } = await openTestDatabase();
  await pool.query(`${ddl}; create index on bronze.orders (region, ordered_at);
    insert into bronze.orders values ('r', '2026-10-29 12:00Z', '2026-10-31 04:00Z', 'EU', 7);
    insert into stream.refused values ('r', null, '2026-10-30', '2026-10-30 02:00Z')`);
  const directory = workDirectory(`
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }
    window: { calendar: 1 day, time_zone: UTC }
    key: [region]
    measures: { orders: count(*) }
    watermark: { strategy: external, ${refused} }
    allowed_lateness: 24 hours
    seal: { by: stream }
    publish: { policy: auto }
`);
  const text =
    "the stream refused 1 row too early: one 2 hours after its window's end, where allowed_lateness is 24 hours";
  await errata(directory, url, 'migrate');
  const quiet = await errata(directory, url, 'check');
  expect([quiet.exitCode, quiet.stdout.includes(text)]).toEqual([0, false]);
  const bound = ['--bound', '2026-10-31T05:00:00Z'];
  expect((await errata(directory, url, 'plan', ...bound)).stdout).toContain(`  ${text}\n`);
  const ran = await errata(directory, url, 'run', ...bound, '--json');
  expect([ran.exitCode, JSON.parse(ran.stdout).rollups[0].contradictions[0]]).toMatchObject([
    0,
    { kind: 'refused_early', rows: '1', configured: '24 hours', implied_seconds: '7200.000000', text },
  ]);
  expect(ran.stderr).toContain(text);
  const checked = await errata(directory, url, 'check');
  expect(checked.exitCode).toBe(0);
  expect(checked.stdout).toContain(
    `warning  errata.yaml:3  rollups.daily_orders.allowed_lateness: ${text}\n           write what is set in the stream`,
  );
});
