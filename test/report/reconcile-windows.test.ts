/** `reconcile` over every kind of window, seal and identity (R1, R5, R6s, R8, R14, R19). */
import { expect, test } from 'vitest';
import { releaseEvents } from '../../src/publication/release.ts';
import { dailyPartitions, openOrders } from '../support/orders.ts';
import { eventLines, reconciled, windowLines } from '../support/reconcile.ts';

const day = [
  'a 10-29 10:00 10-29 10:01 EU 10',
  'b 10-29 11:00 10-29 11:01 US 20',
  'w 11-02 00:00 11-02 00:01 EU 5',
  'late 10-29 10:10 11-03 10:00 EU 7',
];
const bound = '2026-11-05T00:00:00Z';

test('sessions: pending in its own session, then released; a deleted row by name, and one that nobody counts', async () => {
  const sessions = await openOrders({ window: '{ session_gap: 30 minutes }', policy: 'grace' });
  await sessions.land(...day);
  await sessions.run({ bound });
  expect(windowLines(await reconciled(sessions))).toEqual(['10-29 EU v0 explained: |pending']);
  await releaseEvents(sessions.control, sessions.rollup, {
    actor: 'kim',
    reason: 'known',
    eventIds: ['late'],
  });
  const { totals, counts } = await reconciled(sessions);
  expect(counts).toMatchObject({ identical: '1', explained: '2', unexplained: '0', bronze_events: '3' });
  expect(totals?.[1]).toMatchObject({ sealed: '30.00', latest: '37.00', restated: '37.00', bronze: '37.00' });
  await sessions.rows("delete from bronze.orders where order_id = 'b'");
  await sessions.rows("delete from errata.daily_orders_session_row where event_id = 'a'");
  const found = await reconciled(sessions);
  expect(windowLines(found).filter((line) => line.includes('unexplained'))).toEqual([
    '10-29 EU v2 unexplained: counted by neither|corrected',
    '10-29 EU v2 unexplained: difference|corrected',
    '10-29 US v1 unexplained: counted but not in bronze|',
  ]);
  expect(eventLines(found)).toEqual([
    'counted but not in bronze b @ 10-29 US',
    'counted by neither a @ 10-29 EU',
  ]);
});

test('sessions: one id in two sessions', async () => {
  const sessions = await openOrders({ window: '{ session_gap: 30 minutes }' });
  await sessions.land(...day, 'a 10-29 15:00 10-29 15:01 EU 10');
  await sessions.run({ bound });
  expect(eventLines(await reconciled(sessions))).toEqual([
    'counted by both a @ 10-29 EU',
    'counted by both a @ 10-29 EU',
  ]);
});

test('hopping: each window by itself, and no totals, since an event is in several', async () => {
  const hopping = await openOrders({ window: '{ hopping: 1 hour, every: 30 minutes }', policy: 'grace' });
  await hopping.land(...day);
  await hopping.run({ bound });
  const { totals, counts, windows } = await reconciled(hopping);
  expect(totals).toBeNull();
  expect(counts).toMatchObject({ keyed_windows: '4', identical: '2', explained: '2', bronze_events: '6' });
  expect(windows.map((window) => window.measures?.revenue?.bronze)).toEqual(['17.00', '17.00']);
  await hopping.rows("delete from bronze.orders where order_id = 'b'");
  expect((await reconciled(hopping)).counts.unexplained).toBe('2');
});

test('calendar months in a zone: the period of a window is where it starts', async () => {
  const months = await openOrders({ window: '{ calendar: 1 month, time_zone: Europe/Berlin }' });
  await months.land(
    'a 10-31 23:30 10-31 23:31 EU 1',
    'b 10-31 22:30 10-31 22:31 EU 2',
    'w 12-02 00:00 12-02 00:01 EU 5',
  );
  await months.run({ bound: '2026-12-05T00:00:00Z' });
  const october = { from: '2026-09-30T22:00:00Z', to: '2026-10-31T23:00:00Z' };
  expect((await reconciled(months, october)).totals?.[1]).toMatchObject({ sealed: '2.00', bronze: '2.00' });
  expect((await reconciled(months)).totals?.[1]).toMatchObject({ sealed: '3.00', bronze: '3.00' });
});

test('sealed by the stream: its own word explains a difference, until a run and after it', async () => {
  const stream = await openOrders({ seal: '{ by: stream }', policy: 'grace' });
  await stream.land(...day);
  await stream.rows(
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
     values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', 1, 11), ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'US', 1, 20)`,
  );
  await stream.run({ bound });
  const lines = async () => windowLines(await reconciled(stream));
  expect(await lines()).toEqual(['10-29 EU v1 explained: |pending, proposed']);
  const { totals } = await reconciled(stream);
  // the proposal's -1.00 and the refused 7.00 are pending
  expect(totals?.[1]).toMatchObject({ sealed: '31', pending: '6.00', restated: '37.00', bronze: '37.00' });
  const later = await openOrders({ seal: '{ by: stream }' });
  await later.land(...day);
  for (const [run, revenue] of [11, 12].entries()) {
    await later.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
       values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', 1, $1)`,
      [revenue],
    );
    await later.run({ bound: `2026-11-0${run + 5}T00:00:00Z` });
  }
  expect(windowLines(await reconciled(later))).toContain(
    '10-29 EU v3 explained: |corrected, stream_emission',
  );
});

test("adopted from the stream's result table", async () => {
  const adopted = await openOrders({
    seal: '{ from: analytics.daily }',
    policy: 'grace',
    ddl: `create schema bronze; create schema analytics;
      create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2));
      create table analytics.daily (window_start timestamptz, region text, orders bigint, revenue numeric)`,
  });
  await adopted.land(...day);
  await adopted.rows(
    "insert into analytics.daily values ('2026-10-29T00:00Z', 'EU', 1, 10), ('2026-10-29T00:00Z', 'US', 1, 20)",
  );
  await adopted.run({ bound });
  expect(windowLines(await reconciled(adopted))).toEqual(['10-29 EU v1 explained: |pending']);
  await adopted.rows("delete from bronze.orders where order_id = 'b'");
  expect(windowLines(await reconciled(adopted))[0]).toBe('10-29 US v1 unexplained: difference|');
});

test('unique_rows: equal rows count each, and no id is compared', async () => {
  const unique = await openOrders({
    bronze:
      '{ table: bronze.orders, unique_rows: true, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }',
    policy: 'grace',
  });
  await unique.land(...day, 'a 10-29 10:00 10-29 10:01 EU 10', 'a 10-30 10:00 10-30 10:01 EU 10');
  await unique.run({ bound });
  const { totals, events } = await reconciled(unique);
  expect(windowLines(await reconciled(unique))).toEqual(['10-29 EU v1 explained: |pending']);
  expect(totals?.[0]).toMatchObject({ sealed: '4', pending: '1', bronze: '5' });
  expect(events).toEqual([]);
  await unique.rows(
    "delete from bronze.orders where ctid = (select min(ctid) from bronze.orders where order_id = 'a')",
  );
  expect(windowLines(await reconciled(unique))[0]).toBe('10-29 EU v1 unexplained: difference|pending');
});

test('without a key, and NULL keys', async () => {
  const total = await openOrders({ key: '[]', policy: 'grace' });
  await total.land(...day);
  await total.run({ bound });
  expect(windowLines(await reconciled(total))).toEqual(['10-29  v1 explained: |pending']);
  const nulls = await openOrders({ policy: 'grace' });
  await nulls.land(...day, 'n 10-29 10:00 10-29 10:02 NULL 3', "e 10-29 10:00 10-29 10:02 '' 4");
  await nulls.run({ bound });
  await nulls.rows('delete from bronze.orders where region is null');
  expect(windowLines(await reconciled(nulls))[0]).toBe('10-29  v1 unexplained: difference|');
  expect((await reconciled(nulls, {}, { key: { region: null } })).counts.keyed_windows).toBe('1');
});

test('a measure that cannot be computed blocks its window alone', async () => {
  const measures = '{ orders: count(*), revenue: sum(10 / amount) }';
  const orders = await openOrders({ measures, ddl: dailyPartitions });
  await orders.land(...day, 'z 10-29 12:00 10-29 12:01 ZZ 0', 'c 10-30 12:00 10-30 12:01 EU 1');
  await orders.run({ bound });
  expect(windowLines(await reconciled(orders))).toContain('10-29 ZZ v0 unexplained: blocked|queued');
  expect((await reconciled(orders)).counts).toMatchObject({ unexplained: '1' });
  // one that no run knows of: its window cannot be counted for any key
  await orders.rows("update bronze.orders set amount = 0 where order_id = 'c'");
  const { windows, counts } = await reconciled(orders);
  expect(counts).toMatchObject({ unexplained: '2' });
  expect(windows.find(({ window_start: start }) => start.startsWith('2026-10-30'))).toMatchObject({
    unexplained: ['blocked'],
    why: 'division by zero',
  });
});

test('it takes no lock of a run: one that runs meanwhile publishes, and the sweep does not see it', async () => {
  const orders = await openOrders();
  await orders.land(...day);
  await orders.run({ bound });
  await orders.land('more 10-29 12:00 11-05 12:01 EU 1');
  let ran: ReturnType<typeof orders.run> | undefined;
  const found = await reconciled(
    orders,
    {},
    {
      onStep: () => {
        ran ??= orders.run({ bound: '2026-11-06T00:00:00Z' });
      },
    },
  );
  expect((await ran)?.counts.windows_corrected).toBe(1);
  expect(windowLines(found)).toEqual(['10-29 EU v2 explained: |corrected, not yet examined']);
  expect(windowLines(await reconciled(orders))).toEqual(['10-29 EU v3 explained: |corrected']);
});
