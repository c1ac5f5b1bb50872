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

describe('into sessions (R6s)', () => {
  const sessions = async (...rows: string[]) => {
    const orders = await openOrders({
      window: '{ session_gap: 30 minutes }',
      watermark: '{ strategy: bounded, delay: 0 }',
      lateness: '0',
    });
    await orders.land(...rows);
    return orders;
  };
  /** `start–end region vN revenue causes` of what was published, then `id start–end state vN` of what was released. */
  const outcome = async (orders: Orders) => {
    const span = `to_char(window_start at time zone 'UTC', 'HH24:MI') || '–' || to_char(window_end at time zone 'UTC', 'HH24:MI')`;
    const rows = await orders.rows<{ line: string }>(
      `select concat_ws(' ', ${span}, region, 'v' || version, case when is_void then 'void' else revenue::text end, nullif(array_to_string(causes, '+'), '')) as line
       from gold.daily_orders where region <> 'ZZ'
       union all
       select concat_ws(' ', event_id, ${span}, state, 'v' || version)
       from gold.daily_orders_late_event where window_start is not null order by 1`,
    );
    return rows.map(({ line }) => line);
  };

  test('a key that nobody else has gets one', async () => {
    const orders = await sessions('q 10-29 10:00 10-29 08:00 XX 5', 'w 10-29 12:00 10-29 12:00 ZZ');
    await orders.run({ bound: '2026-10-29T12:10Z' });
    await releaseQuarantined(orders.control, orders.rollup, word, { bound: '2026-10-29T12:11Z' });
    expect(await outcome(orders)).toEqual([
      '10:00–10:30 XX v2 5.00 quarantine_release',
      'q 10:00–10:30 included v2',
    ]);
  });

  test('one that is not sealed yet waits, and regroups what is sealed by then', async () => {
    const orders = await sessions('q 10-29 14:00 10-29 10:10 EU 5', 'a 10-29 10:20 10-29 10:20');
    await orders.run({ bound: '2026-10-29T10:30Z' });
    await releaseQuarantined(orders.control, orders.rollup, word, { bound: '2026-10-29T10:31Z' });
    await orders.run({ bound: '2026-10-29T10:32Z' });
    expect(await outcome(orders)).toEqual(['q 14:00–14:30 pending']);
    await orders.land(
      'b 10-29 14:10 10-29 14:10',
      'c 10-29 14:35 10-29 14:35',
      'w 10-29 15:02 10-29 15:02 ZZ',
    );
    await orders.run({ bound: '2026-10-29T15:03Z' });
    expect((await outcome(orders)).at(-1)).toBe('q 14:00–14:30 pending');
    await orders.land('w2 10-29 16:00 10-29 16:00 ZZ');
    await orders.run({ bound: '2026-10-29T16:01Z' });
    expect(await outcome(orders)).toEqual([
      '10:20–10:50 EU v1 10.00',
      '14:00–15:05 EU v2 25.00 quarantine_release',
      '14:10–15:05 EU v1 20.00',
      '14:10–15:05 EU v2 void quarantine_release',
      'q 14:00–15:05 included v2',
    ]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('before anything is sealed at all it waits', async () => {
    const orders = await sessions('q 10-29 14:00 10-29 10:10 EU 5');
    await orders.run({ bound: '2026-10-29T10:30Z' });
    await releaseQuarantined(orders.control, orders.rollup, word, { bound: '2026-10-29T10:31Z' });
    expect(await outcome(orders)).toEqual(['q 14:00–14:30 pending']);
  });

  test('its state follows it when its session is replaced', async () => {
    const orders = await sessions(
      'a 10-29 10:00 10-29 10:00',
      'q 10-29 10:20 10-29 08:00 EU 5',
      'w 10-29 12:00 10-29 12:00 ZZ',
    );
    await orders.run({ bound: '2026-10-29T12:10Z' });
    await releaseQuarantined(orders.control, orders.rollup, word, { bound: '2026-10-29T12:11Z' });
    await orders.land('r 10-29 10:45 10-29 12:12');
    await orders.run({ bound: '2026-10-29T12:20Z' });
    expect(await outcome(orders)).toEqual([
      '10:00–10:30 EU v1 10.00',
      '10:00–10:30 EU v2 void quarantine_release',
      '10:00–10:50 EU v2 15.00 quarantine_release',
      '10:00–10:50 EU v3 void refused',
      '10:00–11:15 EU v2 25.00 quarantine_release+refused',
      'q 10:00–11:15 included v2',
      'r 10:00–11:15 included v2',
    ]);
  });

  test('an id that the session has, or that is released beside it, counts nowhere (R5)', async () => {
    const orders = await sessions(
      'x 10-29 10:00 10-29 10:00',
      'x 10-29 10:10 10-29 08:00 EU 5',
      'y 10-29 10:20 10-29 08:00 EU 6',
      'y 10-29 10:25 10-29 08:01 EU 7',
      'w 10-29 12:00 10-29 12:00 ZZ',
    );
    await orders.run({ bound: '2026-10-29T12:10Z' });
    const report = await releaseQuarantined(orders.control, orders.rollup, word, {
      bound: '2026-10-29T12:11Z',
    });
    expect(report).toMatchObject({ released: 3 });
    expect((await outcome(orders)).filter((line) => !line.includes('void'))).toEqual([
      '10:00–10:30 EU v1 10.00',
      '10:00–10:50 EU v2 16.00 quarantine_release',
      'y 10:00–10:50 included v2',
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
