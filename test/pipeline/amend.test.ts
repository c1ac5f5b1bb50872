/** Bronze rows deleted and changed (R5, R9, R10, R14, R15): figures worked out by hand. */
import { describe, expect, test } from 'vitest';
import { amendWindows, planAmendment } from '../../src/publication/amend.ts';
import { dailyPartitions, type Orders, openOrders } from '../support/orders.ts';

const word = { actor: 'kim', reason: 'a test order' };
const pass = ['p 10-30 02:00 10-30 02:01 ZZ 1', 'q 10-31 03:00 10-31 03:01 ZZ 1'];
const first = ['a 10-29 10:00 10-29 10:01 EU 10', 'b 10-29 11:00 10-29 11:01 EU 20'];
const at = { bound: '2026-10-31T05:00Z' };
const day = { windowFrom: '2026-10-29T00:00Z', windowTo: '2026-10-30T00:00Z' };

async function sealed(options: Parameters<typeof openOrders>[0], ...more: string[]): Promise<Orders> {
  const orders = await openOrders(options);
  await orders.land(...first, ...more, ...pass);
  await orders.run(at);
  return orders;
}

const amend = (orders: Orders, which: object = day) =>
  amendWindows(orders.control, orders.rollup, { ...word, ...which }, at);

/** Versions of the 29th. */
const ledger = async (orders: Orders) => (await orders.ledger()).filter((line) => line.startsWith('10-29'));

/** The view adds up for every keyed window, and `restated` is what bronze gives over first copies, worked out in SQL. */
async function addsUp(orders: Orders): Promise<void> {
  const wrong = await orders.rows(`
    with bronze as (
      select ordered_at::date as day, region, sum(amount) as revenue
      from (
        select distinct on (ordered_at::date, order_id) *
        from bronze.orders as o
        order by ordered_at::date, order_id, ingested_at
      ) as o
      group by 1, 2
    )
    select r.*, b.revenue as bronze
    from gold.daily_orders_reconciliation as r
    left join bronze as b on b.day = r.local_date and b.region is not distinct from r.region
    where sealed_revenue + corrections_revenue <> latest_revenue
      or corrections_revenue <> late_firing_revenue + straggler_revenue + refused_revenue + source_change_revenue + other_revenue
      or latest_revenue + pending_revenue + held_revenue + waived_revenue <> restated_revenue
      or restated_revenue <> coalesce(b.revenue, 0)`);
  expect(wrong).toEqual([]);
}

describe('under auto', () => {
  test('a counted row is deleted: a further version, and a second word changes nothing', async () => {
    const orders = await sealed({});
    await orders.rows(`delete from bronze.orders where order_id = 'b'`);
    await orders.run(at);
    expect(await ledger(orders)).toEqual(["10-29 'EU' v1 2 30.00"]);
    const plan = await planAmendment(orders.control, orders.rollup, { ...word, ...day }, at);
    expect(plan).toMatchObject({ amended: 1, counts: { windows_corrected: 1 } });
    expect(await ledger(orders)).toHaveLength(1);
    expect(await amend(orders)).toMatchObject({ amended: 1, needsAttention: false });
    await amend(orders);
    await orders.run(at);
    expect(await ledger(orders)).toEqual(["10-29 'EU' v1 2 30.00", "10-29 'EU' v2 1 10.00 source_change"]);
    expect(await orders.rows('select actor, reason from gold.daily_orders where version = 2')).toEqual([
      word,
    ]);
    expect(await orders.rows(`select verb from errata.run where actor = 'kim'`)).toEqual([
      { verb: 'amend' },
      { verb: 'amend' },
    ]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
    await addsUp(orders);
  });

  test('an amount is changed, and changed back: a value that returns is a new version; no straggler is named', async () => {
    const orders = await sealed({});
    for (const amount of [25, 20]) {
      await orders.rows(`update bronze.orders set amount = $1 where order_id = 'b'`, [amount]);
      await amend(orders);
      await addsUp(orders);
    }
    expect(await ledger(orders)).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-29 'EU' v2 2 35.00 source_change",
      "10-29 'EU' v3 2 30.00 source_change",
    ]);
    expect(await orders.lateEvents()).toEqual([]);
  });

  test('a window empties: void; filled again by a late row: a further version; emptied again', async () => {
    const orders = await sealed({});
    await orders.rows(`delete from bronze.orders where order_id in ('a', 'b')`);
    await amend(orders);
    await amend(orders);
    expect(
      await orders.rows(
        `select version, orders, revenue, event_count, is_void from gold.daily_orders where region = 'EU' and version > 1`,
      ),
    ).toEqual([{ version: 2, orders: null, revenue: null, event_count: '0', is_void: true }]);
    await addsUp(orders);
    await orders.land('c 10-29 12:00 10-31 04:00 EU 7');
    await orders.run(at);
    await addsUp(orders);
    await orders.rows(`delete from bronze.orders where order_id = 'c'`);
    await amend(orders, { eventIds: ['c'] });
    await addsUp(orders);
    // the very same row is put back
    await orders.land('c 10-29 12:00 10-31 04:00 EU 7');
    await orders.run(at);
    await addsUp(orders);
    expect(await ledger(orders)).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-29 'EU' v2 - - source_change",
      "10-29 'EU' v3 1 7.00 refused",
      "10-29 'EU' v4 - - source_change",
      "10-29 'EU' v5 1 7.00 source_change",
    ]);
  });

  test('of two copies the first is deleted: the other counts now, in its own keyed window', async () => {
    const orders = await sealed({}, 'b 10-29 11:00 10-29 11:05 EU 22', 'a 10-29 10:00 10-29 10:05 US 11');
    expect(await ledger(orders)).toEqual(["10-29 'EU' v1 2 30.00"]);
    await orders.rows(
      `delete from bronze.orders where ingested_at in ('2026-10-29 11:01Z', '2026-10-29 10:01Z')`,
    );
    await amend(orders, { ...day, key: { region: 'EU' } });
    expect(await ledger(orders)).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-29 'EU' v2 1 22.00 source_change",
      "10-29 'US' v2 1 11.00 source_change",
    ]);
    expect(await orders.rows('select from errata.daily_orders_copy')).toEqual([]);
    expect(await orders.lateEvents()).toEqual([]);
    await addsUp(orders);
  });

  test('of two equal rows one is deleted: the other counts, nothing differs', async () => {
    const orders = await sealed({}, first[0] as string);
    await orders.rows(
      `delete from bronze.orders where ctid = (select min(ctid) from bronze.orders where order_id = 'a')`,
    );
    await amend(orders);
    await orders.land('late 10-29 12:00 10-31 04:00 EU 7');
    await orders.run(at);
    expect(await ledger(orders)).toEqual(["10-29 'EU' v1 2 30.00", "10-29 'EU' v2 3 37.00 refused"]);
    await addsUp(orders);
  });

  test('late events that are included: changed and deleted, the rest of the version is the source change', async () => {
    const orders = await sealed({}, 'x 10-29 12:00 10-30 04:00 EU 7', 'y 10-29 12:00 10-31 04:00 EU 5');
    await orders.rows(`update bronze.orders set amount = 9 where order_id = 'x'`);
    await orders.rows(`delete from bronze.orders where order_id = 'y'`);
    await amend(orders, { eventIds: ['x', 'y'] });
    expect(
      await orders.rows(
        `select sealed_revenue, late_firing_revenue, refused_revenue, source_change_revenue, latest_revenue, restated_revenue
         from gold.daily_orders_reconciliation where region = 'EU'`,
      ),
    ).toEqual([
      {
        sealed_revenue: '30.00',
        late_firing_revenue: '7.00',
        refused_revenue: '5.00',
        source_change_revenue: '-3.00',
        latest_revenue: '39.00',
        restated_revenue: '39.00',
      },
    ]);
    await addsUp(orders);
    await orders.land('z 10-29 13:00 10-31 04:30 EU 1');
    await orders.run(at);
    expect((await ledger(orders)).at(-1)).toBe("10-29 'EU' v4 4 40.00 refused");
    await addsUp(orders);
  });
});

describe('under grace', () => {
  test('a change is proposed, and its delta is pending; a later late firing joins the proposal', async () => {
    const orders = await sealed({ policy: 'grace', lateness: '48 hours' });
    await orders.rows(`delete from bronze.orders where order_id = 'b'`);
    expect(await amend(orders)).toMatchObject({ needsAttention: true, counts: { windows_proposed: 1 } });
    await addsUp(orders);
    await amend(orders);
    const proposals = () =>
      orders.rows(
        `select measures ->> 'revenue' as revenue, causes, state from errata.proposal order by proposal_id`,
      );
    expect(await proposals()).toEqual([{ revenue: '10.00', causes: ['source_change'], state: 'open' }]);
    await orders.land('c 10-29 12:00 10-31 04:00 EU 7');
    await orders.run(at);
    expect(await proposals()).toEqual([
      { revenue: '10.00', causes: ['source_change'], state: 'stale' },
      { revenue: '17.00', causes: ['late_firing', 'source_change'], state: 'open' },
    ]);
    expect(await ledger(orders)).toEqual(["10-29 'EU' v1 2 30.00"]);
    await addsUp(orders);
    // put back as it was, the proposal is about nothing
    await orders.land(first[1] as string);
    await orders.run(at);
    await addsUp(orders);
  });

  test('a pending refused row is deleted, changed, or moved: what is pending follows, and nothing is proposed', async () => {
    const orders = await sealed(
      { policy: 'grace' },
      'x 10-29 12:00 10-31 04:00 EU 7',
      'y 10-29 12:00 10-31 04:01 EU 5',
      'z 10-29 12:00 10-31 04:02 EU 3',
    );
    await orders.rows(`delete from bronze.orders where order_id = 'x'`);
    await orders.rows(`update bronze.orders set amount = 6 where order_id = 'y'`);
    await orders.rows(`update bronze.orders set region = 'US' where order_id = 'z'`);
    await amend(orders);
    expect(await orders.lateEvents()).toEqual([
      "x 'EU' side_output - refused",
      "y 'EU' side_output pending refused",
      "z 'EU' side_output - refused",
      "z 'US' side_output pending refused",
    ]);
    expect(await orders.rows('select from errata.proposal')).toEqual([]);
    await addsUp(orders);
    await orders.land('x 10-29 12:00 10-31 04:00 EU 7');
    await orders.run(at);
    expect((await orders.lateEvents())[0]).toBe("x 'EU' side_output pending refused");
    await addsUp(orders);
  });
});

test('a window that misses an ingestion partition is blocked, whatever anybody says (R15)', async () => {
  const orders = await sealed({ ddl: dailyPartitions }, 'x 10-29 12:00 10-30 04:00 EU 7');
  await orders.rows('drop table bronze.orders_20261029');
  const report = await amend(orders);
  expect(report.counts).toMatchObject({ windows_corrected: 0, windows_blocked: 1 });
  expect(await ledger(orders)).toEqual(["10-29 'EU' v1 2 30.00", "10-29 'EU' v2 3 37.00 late_firing"]);
  expect(await orders.rows('select cause, blocked_reason from errata.daily_orders_touched')).toEqual([
    { cause: 'source_change', blocked_reason: expect.stringContaining('orders_20261029') },
  ]);
});

test('what fits nothing is refused: an event that left no trace needs its window', async () => {
  const orders = await sealed({});
  await orders.rows(`delete from bronze.orders where order_id = 'b'`);
  await expect(amend(orders, { eventIds: ['a', 'b'] })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('where these events were: b'),
    hint: expect.stringContaining('--window'),
  });
  await expect(amend(orders, { windowFrom: '2027-01-01T00:00Z' })).rejects.toMatchObject({ exitCode: 2 });
  expect(await ledger(orders)).toEqual(["10-29 'EU' v1 2 30.00"]);
});

test.each(['auto', 'grace'] as const)(
  'a counted row that was updated is no straggler, under %s (R10)',
  async (policy) => {
    const orders = await openOrders({ policy });
    await orders.land(
      'a 10-29 10:00 10-29 10:01 EU 10',
      'b 10-29 11:00 10-29 11:01 EU 10',
      'pass 10-30 02:00 10-30 02:01 ZZ 1',
    );
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.rows(`update bronze.orders set amount = 12 where order_id = 'a'`);
    await orders.run({ bound: '2026-10-30T04:00Z' });
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.lateEvents()).toEqual([]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
    const corrected = policy === 'auto' ? ["10-29 'EU' v2 2 22.00 source_change"] : [];
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", ...corrected]);
    expect(await orders.rows('select causes, measures from errata.proposal')).toEqual(
      policy === 'auto' ? [] : [{ causes: ['source_change'], measures: { orders: '2', revenue: '22.00' } }],
    );
  },
);
