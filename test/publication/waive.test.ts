/** Events set aside and taken back, and the opposite word (R10, R14). Figures are worked out by hand. */
import { describe, expect, test } from 'vitest';
import { explain } from '../../src/commands/explain.ts';
import { publish } from '../../src/commands/publish.ts';
import { waive } from '../../src/commands/waive.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { waiveEvents } from '../../src/publication/waive.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';
import { expectAddsUp } from './adds-up.ts';

const at = { bound: '2026-10-31T05:00Z' };
const ada = { actor: 'ada', reason: 'a test order' };

/** 30.00 of two orders shipped for the 29th; x 7 and y 5 came too late. */
async function refused(options: OrdersOptions = {}): Promise<Orders> {
  const orders = await openOrders({ policy: 'grace', ...options });
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 10',
    'b 10-29 11:00 10-29 11:01 EU 20',
    'p 10-30 02:00 10-30 02:01 ZZ 1',
    'q 10-31 03:00 10-31 03:01 ZZ 1',
    'x 10-29 12:00 10-31 04:00 EU 7',
    'y 10-29 13:00 10-31 04:10 EU 5',
  );
  await orders.run(at);
  return orders;
}

const sums = async (orders: Orders) =>
  (
    await orders.rows<{ line: string }>(
      `select concat_ws(' ', latest_revenue, pending_revenue, waived_revenue, restated_revenue) as line
       from gold.daily_orders_reconciliation where region = 'EU'`,
    )
  ).map(({ line }) => line);

/** By the view, and counted anew from bronze. */
async function addsUp(orders: Orders, expected: string): Promise<void> {
  expect(await sums(orders)).toEqual([expected]);
  await expectAddsUp(orders);
  const { text } = await call(explain, orders, ['daily_orders', '2026-10-29', 'EU'], {});
  expect(text).toContain('It adds up');
}

describe('errata waive', () => {
  test('pending, waived, taken in again, taken back, taken in again: it adds up after each act', async () => {
    const orders = await refused();
    await addsUp(orders, '30.00 12.00 0 42.00');
    const first = await call(waive, orders, ['daily_orders'], { ...ada, event: ['x'] });
    expect(first).toMatchObject({ exitCode: 0, data: { waived: 1, takenBack: 0 } });
    expect(first.text).toMatch(
      /^daily_orders: waived 1 event, of which 0 had been published, and appended 0 versions, in run \d+ at /,
    );
    await addsUp(orders, '30.00 5.00 7.00 42.00');
    await orders.run(at);
    await addsUp(orders, '30.00 5.00 7.00 42.00');
    // everything pending: not what was waived
    await releaseEvents(orders.control, orders.rollup, ada, at);
    await addsUp(orders, '35.00 0 7.00 42.00');
    await releaseEvents(orders.control, orders.rollup, { ...ada, eventIds: ['x'] }, at);
    await addsUp(orders, '42.00 0 0 42.00');
    const plan = await call(waive, orders, ['daily_orders'], { ...ada, event: ['y'], dryRun: true });
    expect(plan.text).toContain('would waive 1 event, of which 1 had been published, and append 1 version');
    await addsUp(orders, '42.00 0 0 42.00');
    await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['y'] });
    await addsUp(orders, '37.00 0 5.00 42.00');
    await orders.run(at);
    await releaseEvents(orders.control, orders.rollup, { ...ada, eventIds: ['y'] }, at);
    await addsUp(orders, '42.00 0 0 42.00');
    expect((await orders.ledger()).filter((line) => line.startsWith('10-29'))).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-29 'EU' v2 3 35.00 refused",
      "10-29 'EU' v3 4 42.00 refused",
      "10-29 'EU' v4 3 37.00 refused",
      "10-29 'EU' v5 4 42.00 refused",
    ]);
    expect(
      await orders.rows('select actor, approver, reason from gold.daily_orders where version = 4'),
    ).toEqual([{ actor: 'ada', approver: 'ada', reason: ada.reason }]);
    expect(await orders.rows(`select actor, reason from errata.run where verb = 'waive'`)).toEqual([
      ada,
      ada,
    ]);
  });

  test('under auto, what the policy has published; all that was in it: void', async () => {
    const orders = await refused({ policy: 'auto' });
    await orders.land('z 10-29 13:00 10-31 04:20 US 3');
    await orders.run(at);
    await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['x', 'z'] });
    expect((await orders.ledger()).filter((line) => line.startsWith('10-29'))).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-29 'EU' v2 4 42.00 refused",
      "10-29 'EU' v3 3 35.00 refused",
      "10-29 'US' v2 1 3.00 refused",
      "10-29 'US' v3 - - refused",
    ]);
    await expectAddsUp(orders);
    await orders.run(at);
    await expectAddsUp(orders);
    // a later row does not bring it back
    await orders.land('w 10-29 14:00 10-31 04:30 EU 2');
    await orders.run(at);
    expect(await orders.ledger()).toContain("10-29 'EU' v4 4 37.00 refused");
    await expectAddsUp(orders);
  });

  test('an event of a proposal: what is left of it is proposed anew, or nothing', async () => {
    const orders = await refused({ policy: 'review' });
    await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['x'] });
    await addsUp(orders, '30.00 5.00 7.00 42.00');
    await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['y'] });
    await addsUp(orders, '30.00 0 12.00 42.00');
    expect(
      await orders.rows(
        `select measures ->> 'revenue' as revenue, state from errata.proposal order by proposal_id`,
      ),
    ).toEqual([
      { revenue: '42.00', state: 'stale' },
      { revenue: '35.00', state: 'stale' },
    ]);
    // taken in again it needs no other word
    await call(publish, orders, ['daily_orders'], { ...ada, event: ['x'] });
    await addsUp(orders, '37.00 0 5.00 42.00');
  });

  test('what a version includes stays while its window has an open proposal', async () => {
    const orders = await refused({ policy: 'review' });
    await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['x', 'y'] });
    await releaseEvents(orders.control, orders.rollup, { ...ada, eventIds: ['x'] }, at);
    await orders.land('z 10-29 13:00 10-31 04:20 EU 3');
    await orders.run(at);
    await expect(call(waive, orders, ['daily_orders'], { ...ada, event: ['x'] })).rejects.toMatchObject({
      message: '1 keyed window cannot be published without what it waives; nothing was done',
      hint: 'decide the proposals first: `errata review daily_orders`',
      exitCode: 3,
    });
    await addsUp(orders, '37.00 3.00 5.00 45.00');
  });

  test('what version 1 counts is never taken back', async () => {
    const orders = await openOrders({});
    await orders.land('a 10-29 10:00 10-31 10:01 EU 10', 'q 10-31 03:00 10-31 03:01 ZZ 1');
    await orders.run({ bound: '2026-11-02T05:00Z', verb: 'baseline' });
    expect((await orders.lateEvents())[0]).toBe("a 'EU' side_output included v1 refused");
    await expect(call(waive, orders, ['daily_orders'], { ...ada, event: ['a'] })).rejects.toMatchObject({
      detail: 'version 1 counts it: what shipped is never taken back',
      exitCode: 2,
    });
  });

  test('of sessions: pending, and taken back from one that it had joined', async () => {
    const orders = await refused({ policy: 'auto', window: '{ session_gap: 2 hours }' });
    expect(await orders.ledger()).toContain("10-29 'EU' v2 4 42.00 refused");
    await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['x'] });
    expect(await orders.ledger()).toContain("10-29 'EU' v3 3 35.00 refused");
    expect(
      await orders.rows(
        `select latest_revenue as latest, waived_revenue as waived, restated_revenue as restated
         from gold.daily_orders_reconciliation where region = 'EU' and latest_revenue > 0`,
      ),
    ).toEqual([{ latest: '35.00', waived: '7.00', restated: '42.00' }]);
    const grace = await refused({ window: '{ session_gap: 2 hours }' });
    await waiveEvents(grace.control, grace.rollup, { ...ada, eventIds: ['x'] });
    expect(await grace.lateEvents()).toEqual([
      "x 'EU' side_output waived refused",
      "y 'EU' side_output pending refused",
    ]);
    await releaseEvents(grace.control, grace.rollup, { ...ada, eventIds: ['x', 'y'] }, at);
    expect((await grace.ledger()).some((line) => line.includes('42.00'))).toBe(true);
  });

  test('what must be said', async () => {
    const orders = await refused();
    const wrong = (flags: object) => expect(call(waive, orders, ['daily_orders'], flags)).rejects;
    await wrong({ all: true }).toMatchObject({
      message: 'to waive events takes a person and a reason',
      exitCode: 2,
    });
    await wrong(ada).toMatchObject({
      message: 'nothing says which events to waive',
      hint: 'name them with --event, --window, --from, --to, --key or --all',
    });
    await wrong({ ...ada, all: true, event: ['x'] }).toMatchObject({ exitCode: 2 });
    await wrong({ ...ada, window: '2026-10-29', to: '2026-10-30' }).toMatchObject({ exitCode: 2 });
    await wrong({ ...ada, window: '2026-10-32' }).toMatchObject({ exitCode: 2 });
    await wrong({ ...ada, event: ['nobody'] }).toMatchObject({
      message: 'rollup "daily_orders" has no event to waive that fits',
      exitCode: 2,
    });
    await addsUp(orders, '30.00 12.00 0 42.00');
  });
});
