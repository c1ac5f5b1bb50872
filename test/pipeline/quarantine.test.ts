/** Rows let out of quarantine (R4, R10): by a person, with a name and a reason. */
import { describe, expect, test } from 'vitest';
import { planQuarantineRelease, releaseQuarantined } from '../../src/publication/quarantine.ts';
import { type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';

const word = { actor: 'kim', reason: 'a booking for next week' };

/** The 29th has shipped; `ahead` happened on the 29th by its own clock, and came two hours before. */
async function shipped(options: OrdersOptions = {}, ...more: string[]): Promise<Orders> {
  const orders = await openOrders(options);
  await orders.land(
    'a 10-29 10:00 10-29 10:01',
    'ahead 10-29 14:00 10-29 12:00 EU 5',
    ...more,
    'p 10-30 02:00 10-30 02:01 ZZ',
    'q 10-31 03:00 10-31 03:01 ZZ',
  );
  await orders.run({ bound: '2026-10-31T05:00Z' });
  return orders;
}

const at = { bound: '2026-10-31T06:00Z' };
const release = (orders: Orders, which: object = {}) =>
  releaseQuarantined(orders.control, orders.rollup, { ...word, ...which }, at);
const of29 = async (orders: Orders) => (await orders.ledger()).filter((line) => line.startsWith('10-29'));
const sums = (orders: Orders) =>
  orders.rows(
    `select sealed_revenue, quarantine_release_revenue, latest_revenue, pending_revenue, restated_revenue
     from gold.daily_orders_reconciliation where region = 'EU'`,
  );

describe('under auto', () => {
  test('a released row is counted by a version that names who and why, and by no other run', async () => {
    const orders = await shipped();
    expect(await of29(orders)).toEqual(["10-29 'EU' v1 1 10.00"]);
    const plan = await planQuarantineRelease(orders.control, orders.rollup, word, at);
    expect(plan).toMatchObject({ released: 1, copies: 0, counts: { windows_corrected: 1 } });
    expect(await release(orders)).toMatchObject({ released: 1, copies: 0, needsAttention: false });
    await orders.run({ bound: '2026-11-01T00:00Z' });
    expect(await of29(orders)).toEqual(["10-29 'EU' v1 1 10.00", "10-29 'EU' v2 2 15.00 quarantine_release"]);
    expect(await orders.rows('select actor, reason from gold.daily_orders where version = 2')).toEqual([
      word,
    ]);
    expect(await orders.lateEvents()).toEqual([
      "ahead 'EU' quarantined -",
      "ahead 'EU' quarantined included v2 quarantine_release",
    ]);
    expect(await sums(orders)).toEqual([
      {
        sealed_revenue: '10.00',
        quarantine_release_revenue: '5.00',
        latest_revenue: '15.00',
        pending_revenue: '0',
        restated_revenue: '15.00',
      },
    ]);
    await expect(
      releaseQuarantined(orders.control, orders.rollup, word, { bound: '2026-11-01T01:00Z' }),
    ).rejects.toThrow('nothing in quarantine that fits');
  });

  test('one that came days before its window is counted, and a later correction finds it again', async () => {
    const orders = await shipped({}, 'booked 10-29 09:00 10-22 12:00 EU 7');
    await release(orders, { eventIds: ['booked'] });
    await orders.land('late 10-29 09:00 10-31 07:00 EU 1');
    await orders.run({ bound: '2026-11-01T00:00Z' });
    expect(await of29(orders)).toEqual([
      "10-29 'EU' v1 1 10.00",
      "10-29 'EU' v2 2 17.00 quarantine_release",
      "10-29 'EU' v3 3 18.00 refused",
    ]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('read anew it stays released; a later correction counts it', async () => {
    const orders = await shipped();
    await release(orders);
    await orders.rows('update errata.rollup set system_identifier = 1');
    await orders.land('late 10-29 09:00 10-31 07:00 EU 1');
    await orders.run({ bound: '2026-11-01T00:00Z' });
    expect((await of29(orders)).at(-1)).toBe("10-29 'EU' v3 3 16.00 refused");
  });

  test('into a window that is still open it is not in version 1, which never saw it', async () => {
    const orders = await openOrders({});
    await orders.land('a 10-29 10:00 10-29 10:01', 'ahead 10-29 14:00 10-29 12:00 EU 5');
    await orders.run({ bound: '2026-10-29T13:00Z' });
    await releaseQuarantined(orders.control, orders.rollup, word, { bound: '2026-10-29T13:30Z' });
    await orders.land('p 10-30 02:00 10-30 02:01 ZZ');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await of29(orders)).toEqual(["10-29 'EU' v1 1 10.00", "10-29 'EU' v2 2 15.00 quarantine_release"]);
  });

  test('it moves no watermark, by whatever is released', async () => {
    const orders = await shipped({}, 'far 12-24 12:00 10-29 12:30 EU 7');
    const before = await orders.rows('select max(watermark) as watermark from errata.watermark_step');
    await release(orders, { eventIds: ['far'] });
    await orders.run({ bound: '2026-11-01T00:00Z' });
    expect(await orders.rows('select max(watermark) as watermark from errata.watermark_step')).toEqual(
      before,
    );
    expect(await orders.ledger()).not.toContainEqual(expect.stringContaining('12-24'));
  });

  test('a row whose id its window has already counts nowhere, and is told', async () => {
    const orders = await shipped({}, 'a 10-29 16:00 10-29 14:00 EU 100');
    expect(await release(orders, { eventIds: ['a'] })).toMatchObject({ released: 1, copies: 1 });
    expect(await of29(orders)).toEqual(["10-29 'EU' v1 1 10.00"]);
  });

  test('a row without a readable time stays, and the message says so', async () => {
    const orders = await shipped({}, 'blank - - 10-29 12:00');
    await expect(release(orders, { eventIds: ['blank'] })).rejects.toMatchObject({
      message: 'rollup "daily_orders" has nothing in quarantine that fits',
      detail:
        'a row without a readable event time and ingestion time belongs to no window; nothing was released',
      exitCode: 2,
    });
  });

  test('hopping windows: a state in each', async () => {
    const orders = await shipped({ window: '{ hopping: 2 hours, every: 1 hour }' });
    await release(orders);
    const versions = await orders.rows(
      `select to_char(window_start at time zone 'UTC', 'HH24:MI') as start, orders::text from gold.daily_orders where 'quarantine_release' = any (causes) order by 1`,
    );
    expect(versions).toEqual([
      { start: '13:00', orders: '1' },
      { start: '14:00', orders: '1' },
    ]);
  });

  test('sessions: it regroups those then sealed', async () => {
    const orders = await shipped({ window: '{ session_gap: 5 hours }' });
    await release(orders);
    expect(
      await orders.rows(
        `select to_char(window_end at time zone 'UTC', 'HH24:MI') as "to", version, is_void, event_count::text from gold.daily_orders where region = 'EU' order by window_end, version`,
      ),
    ).toEqual([
      { to: '15:00', version: 1, is_void: false, event_count: '1' },
      { to: '15:00', version: 2, is_void: true, event_count: '0' },
      { to: '19:00', version: 2, is_void: false, event_count: '2' },
    ]);
  });
});

test('under grace it is proposed, and pending until somebody decides', async () => {
  const orders = await shipped({ policy: 'grace' });
  expect(await release(orders)).toMatchObject({ needsAttention: true, counts: { windows_proposed: 1 } });
  await orders.run({ bound: '2026-11-01T00:00Z' });
  expect(await of29(orders)).toEqual(["10-29 'EU' v1 1 10.00"]);
  expect(await orders.rows('select causes, why, state from errata.proposal')).toEqual([
    { causes: ['quarantine_release'], why: 'rows were released from quarantine', state: 'open' },
  ]);
  expect(await sums(orders)).toEqual([
    {
      sealed_revenue: '10.00',
      quarantine_release_revenue: '0',
      latest_revenue: '10.00',
      pending_revenue: '5.00',
      restated_revenue: '15.00',
    },
  ]);
});
