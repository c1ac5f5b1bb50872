/** `errata explain`: the life of a number, worked out by hand, and what it says where there is none. */
import { expect, test } from 'vitest';
import { explain } from '../../src/commands/explain.ts';
import { publish } from '../../src/commands/publish.ts';
import type { Explanation } from '../../src/report/explain/explain.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';

/** Order 2 is of 10-29, comes at 11-01 00:30 when the watermark stands at 10-31 23:00, and is refused. */
async function life(options: Parameters<typeof openOrders>[0] = {}): Promise<Orders> {
  const orders = await openOrders({ policy: 'grace', ...options });
  await orders.land(
    '1 10-29 10:00 10-29 10:00 EU 10',
    '5 10-30 12:00 10-30 12:00 EU 10',
    '3 10-29 20:00 10-30 13:00 EU 4.50',
    '6 11-01 00:00 11-01 00:00 EU 10',
    '2 10-29 18:02 11-01 00:30 EU 99.50',
  );
  await orders.run({ bound: '2026-11-01T01:00:00Z' });
  return orders;
}

const told = (orders: Orders, ...args: string[]) => call(explain, orders, ['daily_orders', ...args], {});

test('the whole life: sealed, a late firing, refused, released by a person', async () => {
  const orders = await life();
  await call(publish, orders, ['daily_orders'], { event: ['2'], actor: 'ada', reason: 'ticket 311' });
  const { exitCode, text, data } = await told(orders, '2026-10-29', 'EU');
  expect(exitCode).toBe(0);
  expect((data as Explanation).versions).toMatchObject([
    { version: 1, kind: 'seal', measures: { orders: { new: '1' }, revenue: { new: '10.00' } } },
    {
      version: 2,
      causes: ['late_firing'],
      actor: null,
      measures: { revenue: { old: '10.00', new: '14.50', delta: '4.50' } },
    },
    {
      version: 3,
      causes: ['refused'],
      actor: 'ada',
      reason: 'ticket 311',
      measures: { revenue: { old: '14.50', new: '114.00', delta: '99.50' } },
    },
  ]);
  expect((data as Explanation).check).toMatchObject([
    {
      measure: 'orders',
      sealed: '1',
      corrections: '2',
      latest: '3',
      pending: '0',
      restated: '3',
      recounted: '3',
    },
    { measure: 'revenue', sealed: '10.00', corrections: '104.00', restated: '114.00', unexplained: '0.00' },
  ]);
  // the lines of the timeline without their stamps, in their order
  const lines = text
    .split('\n')
    .map((line) => line.replace(/^2026-\d\d-\d\d \d\d:\d\d:\d\d\.?\d*Z +/, '').trim());
  const place = (line: string) => {
    expect(lines).toContain(line);
    return lines.indexOf(line);
  };
  const order = [
    'Orders 1, revenue 10.00 shipped; after 2 corrections it is orders 3, revenue 114.00.',
    'version 1 shipped, by run 1 (database role postgres)',
    'event 3, late firing, examined by run 1',
    'the watermark stood at 2026-10-30 11:00:00Z when it arrived',
    'orders 1, revenue 4.50; included in version 2',
    'event 2, refused, examined by run 1',
    'happened 2026-10-29 18:02:00Z, arrived 2026-11-01 00:30:00Z, 2 days 6 hours later',
    'its window ended 2026-10-30 00:00:00Z and took late events for 24 hours',
    'the watermark stood at 2026-10-31 23:00:00Z when it arrived',
    'orders 1, revenue 99.50; included in version 3',
    'version 2, a correction by run 1 (database role postgres): late_firing',
    'ada released event 2: ticket 311',
    'reason: ticket 311',
    'with event 2',
  ].map(place);
  expect(order).not.toContain(-1);
  expect(lines.filter((line) => line.startsWith('version 3, a correction by ada, run '))).toHaveLength(1);
  expect(text).toMatch(/revenue +14\.50 +→ +114\.00 +\+99\.50/);
  expect(text).toContain('It adds up: ');
});

test('what is pending, and that it awaits a person', async () => {
  const { text, data } = await told(await life(), '2026-10-29T18:02:00Z', 'region=EU');
  expect(text).toContain('orders 1, revenue 99.50; pending: it awaits a person');
  expect(text).toContain('1 event pending: a person may release it with `errata publish`');
  expect((data as Explanation).check[1]).toMatchObject({
    latest: '14.50',
    pending: '99.50',
    restated: '114.00',
    recounted: '114.00',
  });
});

test('copies and conflicts, with both values', async () => {
  const orders = await openOrders();
  await orders.land(
    '1 10-29 10:00 10-29 10:00 EU 10',
    '1 10-29 10:00 10-29 10:05 EU 10',
    '2 10-29 11:00 10-29 11:00 EU 20',
    '2 10-29 11:00 10-29 11:05 EU 200',
    '3 10-31 12:00 10-31 12:00',
  );
  await orders.run({ bound: '2026-10-31T14:00:00Z' });
  const { text, data } = await told(orders, '2026-10-29', 'EU');
  expect((data as Explanation).versions).toMatchObject([{ measures: { revenue: { new: '30.00' } } }]);
  expect(text).toContain('event 2 came again with other values (run 1), ingested 2026-10-29 11:05:00Z');
  expect(text).toContain('EU, 20.00 came first and counts; EU, 200.00 does not');
  expect(text).toContain('event 1 came again as it was, 1 row ingested 2026-10-29 10:05:00Z; it counts once');
  expect(text).toContain('It adds up: ');
});

test('several keys are listed with their values; NULL, empty text and a text NULL are told apart', async () => {
  const orders = await openOrders();
  await orders.land(
    '1 10-29 10:00 10-29 10:00 NULL 1',
    "2 10-29 10:00 10-29 10:00 '' 2",
    '9 10-31 12:00 10-31 12:00',
  );
  await orders.rows(
    `insert into bronze.orders values ('3', '2026-10-29 10:00+00', '2026-10-29 10:00+00', 'NULL', 3)`,
  );
  await orders.run({ bound: '2026-10-31T14:00:00Z' });
  const several = await told(orders, '2026-10-29');
  expect(several.exitCode).toBe(2);
  expect(several.text).toContain('The window 2026-10-29 has 3 keys; say which one:');
  expect((several.data as { keys: unknown[] }).keys).toHaveLength(3);
  const revenue = async (word: string) =>
    ((await told(orders, '2026-10-29', word)).data as Explanation).versions[0]?.measures.revenue?.new;
  expect(await revenue('NULL')).toBe('1.00');
  expect(await revenue('region=NULL')).toBe('1.00');
  expect(await revenue("''")).toBe('2.00');
  expect(await revenue('region=')).toBe('2.00');
  expect(await revenue("region='NULL'")).toBe('3.00');
});

test('a rollup without a key, and one of two columns of which one is left out', async () => {
  const total = await openOrders({ key: '[]' });
  await total.land('1 10-29 10:00 10-29 10:00', '2 10-31 12:00 10-31 12:00');
  await total.run({ bound: '2026-10-31T14:00:00Z' });
  expect((await told(total, '2026-10-29')).text).toContain(
    'Orders 1, revenue 10.00 shipped, and that still stands.',
  );
  await expect(told(total, '2026-10-29', 'EU')).rejects.toMatchObject({ exitCode: 2 });

  const pairs = await openOrders({ key: '[region, order_id]' });
  await pairs.land(
    '1 10-29 10:00 10-29 10:00 EU',
    '2 10-29 10:00 10-29 10:00 US',
    '3 10-31 12:00 10-31 12:00',
  );
  await pairs.run({ bound: '2026-10-31T14:00:00Z' });
  // the only key of the window that fits
  expect((await told(pairs, '2026-10-29', 'US')).text).toContain('region US, order_id 2: from ');
  await expect(told(pairs, '2026-10-29', 'APAC')).rejects.toMatchObject({
    message: 'the window of 2026-10-29 holds nothing for APAC',
    exitCode: 2,
  });
});

test('open, before bronze is complete, without rows, nothing shipped: one sentence each', async () => {
  const bronze =
    '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-10-28 }';
  const orders = await life({ bronze });
  await orders.land('7 10-30 11:00 11-01 00:40 US 3');
  await orders.run({ bound: '2026-11-01T02:00:00Z' });
  const sentence = async (...args: string[]) => (await told(orders, ...args)).text.split('\n')[1];
  expect(await sentence('2026-11-01', 'EU')).toBe(
    'It is still open: it ends 2026-11-02 00:00:00Z and the watermark stands at 2026-10-31 23:00:00Z; so far bronze holds orders 1, revenue 10.00.',
  );
  expect(await sentence('2026-11-05')).toMatch(/^It is still open: .*; bronze holds no rows of it so far\.$/);
  expect(await sentence('2026-10-27', 'EU')).toBe(
    'Bronze is complete from 2026-10-28 00:00:00Z on and the window starts earlier, so it is not computed.',
  );
  expect(await sentence('2026-10-28', 'EU')).toBe(
    'It is sealed, and holds no rows: nothing shipped and nothing came later.',
  );
  expect(await sentence('2026-10-30', 'US')).toMatch(
    /^Nothing shipped for this key when its window was sealed; after 1 correction /,
  );
  const before = await openOrders();
  expect((await told(before, '2026-10-29')).text).toContain('no run has sealed anything yet');
});

test('a row deleted behind our back does not add up, and is not hidden', async () => {
  const orders = await life();
  await orders.rows(`delete from bronze.orders where order_id = '1'`);
  const { text, data } = await told(orders, '2026-10-29', 'EU');
  expect((data as Explanation).check).toMatchObject([
    { measure: 'orders', restated: '3', recounted: '2', unexplained: '-1' },
    { measure: 'revenue', restated: '114.00', recounted: '104.00', unexplained: '-10.00' },
  ]);
  expect(text).toContain('IT DOES NOT ADD UP');
  expect(text).toContain('unexplained: orders -1, revenue -10.00.');
});

test('rows that no run has examined yet are left out of the recount', async () => {
  const orders = await life();
  await orders.land('8 10-29 12:00 11-01 05:00 EU 1');
  const { data } = await told(orders, '2026-10-29', 'EU');
  expect((data as Explanation).check[0]).toMatchObject({ restated: '3', recounted: '3', unexplained: '0' });
});

test('where every row is an event of its own, equal rows all count', async () => {
  const bronze =
    '{ table: bronze.orders, unique_rows: true, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }';
  const orders = await openOrders({ bronze });
  await orders.land('1 10-29 10:00 10-29 10:00', '1 10-29 10:00 10-29 10:00', '2 10-31 12:00 10-31 12:00');
  await orders.run({ bound: '2026-10-31T14:00:00Z' });
  const { data } = await told(orders, '2026-10-29', 'EU');
  expect((data as Explanation).check[0]).toMatchObject({ sealed: '2', recounted: '2' });
});

test('when bronze is gone the life is still told', async () => {
  const orders = await life();
  await orders.rows('drop table bronze.orders');
  const { exitCode, text } = await told(orders, '2026-10-29', 'EU');
  expect(exitCode).toBe(0);
  expect(text).toContain('version 1 shipped');
  expect(text).toContain('Bronze could not be counted anew: relation "bronze.orders" does not exist');
  expect((await told(orders, '2026-11-01', 'EU')).text).toContain(
    'what bronze holds of it so far cannot be read',
  );
});

test('a keyed window that waits in the queue, and why', async () => {
  const bronze =
    '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-10-30 }';
  const orders = await life({ bronze, policy: 'auto' });
  const { text } = await told(orders, '2026-10-29', 'EU');
  expect(text).toMatch(/blocked since 2026-11-01 01:00:00Z \(refused\): bronze is complete from 2026-10-30 /);
});

test('a calendar day in a zone is found by its local date', async () => {
  const orders = await openOrders({ window: '{ calendar: 1 day, time_zone: Europe/Berlin }' });
  // 23:30 in UTC is 00:30 of the next day in Berlin
  await orders.land('1 10-29 23:30 10-29 23:30', '2 11-01 12:00 11-01 12:00');
  await orders.run({ bound: '2026-11-01T14:00:00Z' });
  expect((await told(orders, '2026-10-30', 'EU')).text).toContain('Orders 1, revenue 10.00 shipped');
  expect((await told(orders, '2026-10-29T23:30:00Z', 'EU')).text).toContain(
    'daily_orders, 2026-10-30, region EU',
  );
});
