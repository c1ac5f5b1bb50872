/** Proposals are reviewed, approved and rejected (R10, R14). Figures are worked out by hand. */
import { describe, expect, test } from 'vitest';
import { approve } from '../../src/commands/approve.ts';
import { reject } from '../../src/commands/reject.ts';
import { review } from '../../src/commands/review.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { approveProposals, planApproval, rejectProposals } from '../../src/publication/decide.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';
import { expectAddsUp } from './adds-up.ts';

const pass = ['p 10-30 02:00 10-30 02:01 ZZ 1', 'q 10-31 03:00 10-31 03:01 ZZ 1'];
const first = ['a 10-29 10:00 10-29 10:01 EU 10', 'b 10-29 11:00 10-29 11:01 EU 20'];
const late = ['x 10-29 12:00 10-31 04:00 EU 7', 'y 10-29 13:00 10-31 04:10 EU 5'];
const at = { bound: '2026-10-31T05:00Z' };
const later = { bound: '2026-10-31T06:00Z' };
const ada = { actor: 'ada', reason: 'checked with the shop' };

async function proposed(options: OrdersOptions = {}, ...more: string[]): Promise<Orders> {
  const orders = await openOrders({ policy: 'review', ...options });
  await orders.land(...first, ...pass);
  await orders.run({ bound: '2026-10-31T03:30Z' });
  await orders.land(...late, ...more);
  await orders.run(at);
  await expectAddsUp(orders);
  return orders;
}

const ofThe29th = async (orders: Orders) =>
  (await orders.ledger()).filter((line) => line.startsWith('10-29'));
const proposals = (orders: Orders) =>
  orders.rows(
    `select measures ->> 'revenue' as revenue, state, decided_by as by from errata.proposal order by proposal_id`,
  );
const pending = (orders: Orders) =>
  orders.rows(
    `select latest_revenue as latest, pending_revenue as pending, waived_revenue as waived, restated_revenue as restated
     from gold.daily_orders_reconciliation where region = 'EU'`,
  );

describe('errata review', () => {
  test('names old, new, delta and the events behind each proposal, by run', async () => {
    const orders = await proposed({}, 'z 10-29 13:00 10-31 04:20 US 3');
    const { exitCode, text, data } = await call(review, orders, [], {});
    expect(exitCode).toBe(3);
    expect(
      text.split('\n').map((line) => line.replace(/\d+ seconds? ago|2026-11\S+ \S+Z/g, '…').trim()),
    ).toEqual([
      'daily_orders: 2 proposals await a person',
      expect.stringMatching(/^run 2, .*:$/),
      expect.stringMatching(/^window +region +what +measure +old +new +delta +causes +events$/),
      expect.stringMatching(
        /^2026-10-29 +EU +propose +orders +2 +4 +\+2 +refused +x y; the policy is review$/,
      ),
      expect.stringMatching(/^revenue +30\.00 +42\.00 +\+12\.00$/),
      expect.stringMatching(/US +propose +orders +– +1 +\+1 +refused +z; the policy is review$/),
      expect.stringMatching(/^revenue +– +3\.00 +\+3\.00$/),
      'errata approve daily_orders --run 2 --actor NAME --reason TEXT',
      'errata reject daily_orders --run 2 --actor NAME --reason TEXT',
    ]);
    expect(data).toMatchObject({
      rollups: [{ open: '2', proposals: [{ run_id: '2', base_version: 1, all_events: '2' }, {}] }],
    });
    await approveProposals(orders.control, orders.rollup, ada, at);
    expect(await call(review, orders, [], {})).toMatchObject({
      exitCode: 0,
      text: 'daily_orders: nothing is proposed',
    });
  });

  test('a run goes on asking for a person while proposals wait, and reads their windows no further', async () => {
    const orders = await proposed();
    const again = await orders.run(later);
    expect(again).toMatchObject({
      needsAttention: true,
      counts: { windows_touched: 0, windows_proposed: 0, proposals_waiting: 1 },
    });
  });
});

describe('errata approve', () => {
  test('publishes what was proposed, with approver and reason; the events are included by name', async () => {
    const orders = await proposed({}, 'z 10-29 13:00 10-31 04:20 US 3');
    const plan = await planApproval(orders.control, orders.rollup, { ...ada, proposedBy: '2' }, at);
    expect(plan).toMatchObject({ approved: 2, stale: [], counts: { windows_corrected: 2 } });
    expect(await ofThe29th(orders)).toHaveLength(1);
    const { exitCode, text } = await call(approve, orders, ['daily_orders'], { ...ada, key: ['EU'] });
    expect(text).toMatch(/^daily_orders: approved 1 proposal, in run \d+ at /);
    // that of the US still waits
    expect(exitCode).toBe(3);
    expect(await ofThe29th(orders)).toEqual(["10-29 'EU' v1 2 30.00", "10-29 'EU' v2 4 42.00 refused"]);
    expect(
      await orders.rows('select kind, actor, approver, reason from gold.daily_orders where version = 2'),
    ).toEqual([{ kind: 'correction', actor: 'ada', approver: 'ada', reason: ada.reason }]);
    expect(await orders.lateEvents()).toEqual([
      "x 'EU' side_output included v2 refused",
      "y 'EU' side_output included v2 refused",
      "z 'US' side_output pending refused",
    ]);
    expect(await proposals(orders)).toEqual([
      { revenue: '42.00', state: 'approved', by: 'ada' },
      { revenue: '3.00', state: 'open', by: null },
    ]);
    expect(await orders.rows(`select actor, reason from errata.run where verb = 'approve'`)).toEqual([ada]);
    await expectAddsUp(orders);
  });

  test('refuses one that has gone stale by a newer row, says what changed, and proposes anew', async () => {
    const orders = await proposed();
    await orders.land('z 10-29 14:00 10-31 05:30 EU 3');
    const { exitCode, text, data } = await call(approve, orders, ['daily_orders'], { ...ada, run: '2' });
    expect(exitCode).toBe(3);
    expect(text).toContain('approved 0 proposals');
    expect(text).toContain('2026-10-29 00:00Z to 2026-10-30 00:00Z EU: stale, nothing of it was published');
    expect(text).toContain('proposed orders 4, revenue 42.00; now orders 5, revenue 45.00');
    expect(text).toContain('events since: z');
    expect(data).toMatchObject({ approved: 0, stale: [{ events: ['z'] }] });
    expect(await ofThe29th(orders)).toEqual(["10-29 'EU' v1 2 30.00"]);
    expect(await proposals(orders)).toEqual([
      { revenue: '42.00', state: 'stale', by: null },
      { revenue: '45.00', state: 'open', by: null },
    ]);
    await expectAddsUp(orders);
    await approveProposals(orders.control, orders.rollup, { ...ada, proposedBy: '3' });
    expect((await ofThe29th(orders)).at(-1)).toBe("10-29 'EU' v2 5 45.00 refused");
    await expectAddsUp(orders);
  });

  test('the same value by other events is another proposal', async () => {
    const orders = await proposed();
    await orders.rows(`delete from bronze.orders where order_id = 'y'`);
    await orders.land('z 10-29 14:00 10-31 05:30 EU 5');
    await amendWindows(orders.control, orders.rollup, { ...ada, windowTo: '2026-10-30Z' }, later);
    expect(await proposals(orders)).toEqual([
      { revenue: '42.00', state: 'stale', by: null },
      { revenue: '42.00', state: 'open', by: null },
    ]);
    await approveProposals(orders.control, orders.rollup, ada, later);
    expect((await orders.lateEvents()).filter((line) => line.includes('included'))).toEqual([
      "x 'EU' side_output included v2 refused",
      "z 'EU' side_output included v2 refused",
    ]);
    await expectAddsUp(orders);
  });

  test('what bronze gives back is stale, and nothing is left to approve', async () => {
    const orders = await openOrders({ policy: 'grace' });
    await orders.land(...first, ...pass);
    await orders.run(at);
    await orders.rows(`update bronze.orders set amount = 21 where order_id = 'b'`);
    await amendWindows(orders.control, orders.rollup, { ...ada, windowTo: '2026-10-30Z' }, at);
    await orders.rows(`update bronze.orders set amount = 20 where order_id = 'b'`);
    const { stale } = await approveProposals(orders.control, orders.rollup, ada, later);
    expect(stale).toMatchObject([
      {
        proposed: { revenue: '31.00' },
        now: { revenue: '30.00' },
        why: 'bronze gives the latest version again',
      },
    ]);
    expect(await proposals(orders)).toEqual([{ revenue: '31.00', state: 'stale', by: null }]);
    await expectAddsUp(orders);
  });

  test('a window whose rows are gone stays as it is, and its proposal open', async () => {
    const orders = await proposed();
    await orders.rows(`delete from bronze.orders where order_id in ('a', 'x')`);
    const { exitCode, text } = await call(approve, orders, ['daily_orders'], { ...ada, all: true });
    expect(exitCode).toBe(3);
    expect(text).toContain('not approved, and still open');
    expect(await ofThe29th(orders)).toEqual(["10-29 'EU' v1 2 30.00"]);
    expect(await proposals(orders)).toEqual([{ revenue: '42.00', state: 'open', by: null }]);
  });

  test('recomputes nothing but what it approves; what is new otherwise waits for the next run', async () => {
    const orders = await proposed({ policy: 'grace', publish: 'horizon: 24 hours', lateness: '72 hours' });
    await orders.land('z 10-30 14:00 10-31 05:30 ZZ 3');
    await approveProposals(orders.control, orders.rollup, ada, later);
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-29 'EU' v2 4 42.00 late_firing",
      "10-30 'ZZ' v1 1 1.00",
    ]);
    await orders.run(later);
    expect(await orders.ledger()).toContain("10-30 'ZZ' v2 2 4.00 late_firing");
    await expectAddsUp(orders);
  });

  test('a person’s approval is where a threshold is measured from', async () => {
    const orders = await proposed({ policy: 'auto', publish: 'review_beyond: { revenue: 10 }' });
    expect(await proposals(orders)).toEqual([{ revenue: '42.00', state: 'open', by: null }]);
    await approveProposals(orders.control, orders.rollup, ada, at);
    await orders.land('z 10-29 14:00 10-31 05:30 EU 9');
    await orders.run(later);
    expect((await ofThe29th(orders)).at(-1)).toBe("10-29 'EU' v3 5 51.00 refused");
    await expectAddsUp(orders);
  });

  test('of a stream’s later value beyond a threshold', async () => {
    const orders = await openOrders({
      policy: 'grace',
      seal: '{ by: stream }',
      publish: 'review_beyond: { revenue: 5 }',
    });
    const emit = (revenue: number) =>
      orders.rows(
        `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29Z', '2026-10-30Z', 'EU', 2, $1)`,
        [revenue.toFixed(2)],
      );
    await orders.land(...first, ...pass);
    await emit(30);
    await orders.run(at);
    await emit(50);
    await orders.run(at);
    await orders.run(at);
    expect(await ofThe29th(orders)).toEqual(["10-29 'EU' v1 2 30.00"]);
    await approveProposals(orders.control, orders.rollup, { ...ada, windowTo: '2026-10-30Z' }, at);
    expect((await ofThe29th(orders)).at(-1)).toBe("10-29 'EU' v2 2 50.00 stream_emission");
    expect(await orders.rows('select from errata.daily_orders_emission where run_id is null')).toEqual([]);
  });
});

describe('errata reject', () => {
  test('its late events are waived, and are not proposed again; what comes later is, by itself', async () => {
    const orders = await proposed();
    expect(await pending(orders)).toEqual([
      { latest: '30.00', pending: '12.00', waived: '0', restated: '42.00' },
    ]);
    const { exitCode, text } = await call(reject, orders, ['daily_orders'], { ...ada, window: '2026-10-29' });
    expect(exitCode).toBe(0);
    expect(text).toMatch(/^daily_orders: rejected 1 proposal and waived 2 events, in run \d+ at /);
    expect(await pending(orders)).toEqual([
      { latest: '30.00', pending: '0', waived: '12.00', restated: '42.00' },
    ]);
    await orders.run(at);
    expect(await proposals(orders)).toEqual([{ revenue: '42.00', state: 'rejected', by: 'ada' }]);
    await orders.land('z 10-29 14:00 10-31 05:30 EU 3');
    await orders.run(later);
    expect(await pending(orders)).toEqual([
      { latest: '30.00', pending: '3.00', waived: '12.00', restated: '45.00' },
    ]);
    await expectAddsUp(orders);
    // the opposite word takes one of them back, with what is proposed of its window
    await approveProposals(orders.control, orders.rollup, ada, later);
    await releaseEvents(orders.control, orders.rollup, { ...ada, eventIds: ['x'] }, later);
    expect((await ofThe29th(orders)).at(-1)).toBe("10-29 'EU' v3 4 40.00 refused");
    await expectAddsUp(orders);
  });

  test('changed rows stay set aside while bronze gives the same, and are proposed when it gives another value', async () => {
    const orders = await openOrders({ policy: 'grace', lateness: '72 hours' });
    await orders.land(...first, ...pass);
    await orders.run(at);
    const amend = () =>
      amendWindows(orders.control, orders.rollup, { ...ada, windowTo: '2026-10-30Z' }, later);
    await orders.rows(`update bronze.orders set amount = 25 where order_id = 'b'`);
    await amend();
    await rejectProposals(orders.control, orders.rollup, ada);
    expect(await pending(orders)).toEqual([
      { latest: '30.00', pending: '0', waived: '5.00', restated: '35.00' },
    ]);
    expect(await amend()).toMatchObject({ needsAttention: false });
    expect(await proposals(orders)).toEqual([{ revenue: '35.00', state: 'rejected', by: 'ada' }]);
    await expectAddsUp(orders);
    // a late firing cannot be published without what was rejected
    await orders.land('z 10-29 14:00 10-31 05:30 EU 3');
    await orders.run(later);
    expect(await ofThe29th(orders)).toHaveLength(1);
    expect(await pending(orders)).toEqual([
      { latest: '30.00', pending: '8.00', waived: '0', restated: '38.00' },
    ]);
    await expectAddsUp(orders);
    await rejectProposals(orders.control, orders.rollup, ada);
    expect(await pending(orders)).toEqual([
      { latest: '30.00', pending: '0', waived: '8.00', restated: '38.00' },
    ]);
    await orders.rows(`update bronze.orders set amount = 26 where order_id = 'b'`);
    await amend();
    expect((await proposals(orders)).at(-1)).toEqual({ revenue: '36.00', state: 'open', by: null });
    await expectAddsUp(orders);
    await orders.rows(`update bronze.orders set amount = 20 where order_id = 'b'`);
    await amend();
    expect(await pending(orders)).toEqual([
      { latest: '30.00', pending: '0', waived: '3.00', restated: '33.00' },
    ]);
    await expectAddsUp(orders);
  });

  test('what was rejected is not carried into the ledger by a difference within the threshold', async () => {
    const orders = await openOrders({ policy: 'auto', publish: 'review_beyond: { revenue: 10 }' });
    await orders.land(...first, ...pass);
    await orders.run(at);
    await orders.rows(`update bronze.orders set amount = 40 where order_id = 'b'`);
    await amendWindows(orders.control, orders.rollup, { ...ada, windowTo: '2026-10-30Z' }, at);
    await rejectProposals(orders.control, orders.rollup, ada);
    await orders.land('z 10-29 14:00 10-31 05:30 EU -15');
    await orders.run(later);
    expect(await ofThe29th(orders)).toEqual(["10-29 'EU' v1 2 30.00"]);
    expect((await proposals(orders)).at(-1)).toEqual({ revenue: '35.00', state: 'open', by: null });
    await expectAddsUp(orders);
  });

  test('a seal mismatch stays set aside', async () => {
    const orders = await openOrders({ policy: 'grace', seal: '{ by: stream }' });
    await orders.land(...first, ...pass);
    await orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29Z', '2026-10-30Z', 'EU', 2, 28), ('2026-10-30Z', '2026-10-31Z', 'ZZ', 1, 1)`,
    );
    await orders.run(at);
    await rejectProposals(orders.control, orders.rollup, ada);
    expect(await pending(orders)).toEqual([
      { latest: '28', pending: '0', waived: '2.00', restated: '30.00' },
    ]);
    await orders.run(later);
    expect(await proposals(orders)).toEqual([{ revenue: '30.00', state: 'rejected', by: 'ada' }]);
    await expectAddsUp(orders);
  });
});

describe('what must be said', () => {
  test.each([approve, reject])('$name', async (verb) => {
    const orders = await openOrders({ policy: 'review' });
    const refused = (flags: object) => expect(call(verb, orders, ['daily_orders'], flags)).rejects;
    await refused({ all: true, actor: 'ada' }).toMatchObject({
      message: `to ${verb.name} a proposal takes a person and a reason`,
      exitCode: 2,
    });
    await refused(ada).toMatchObject({
      message: `nothing says which proposals to ${verb.name}`,
      hint: 'name them with --run, --window, --from, --to, --key or --all',
    });
    await refused({ ...ada, all: true, run: '1' }).toMatchObject({
      message: '--all and --run contradict each other',
    });
    await refused({ ...ada, run: 'one' }).toMatchObject({
      message: '--run "one" is not the number of a run',
      exitCode: 2,
    });
    await refused({ ...ada, window: '2026-10-29', from: '2026-10-01' }).toMatchObject({ exitCode: 2 });
    await refused({ ...ada, window: 'yesterday' }).toMatchObject({ exitCode: 2 });
    await refused({ ...ada, key: ['country=EU'] }).toMatchObject({ exitCode: 2 });
    await orders.run(at);
    await refused({ ...ada, all: true }).toMatchObject({
      message: 'rollup "daily_orders" has no open proposal that fits',
      exitCode: 2,
    });
    expect(await orders.rows(`select from errata.run where verb <> 'run'`)).toEqual([]);
  });
});

describe('over sessions', () => {
  test('what grace proposes of changed rows is approved or rejected', async () => {
    const orders = await openOrders({ policy: 'grace', window: '{ session_gap: 2 hours }' });
    await orders.land(...first, ...pass);
    await orders.run(at);
    for (const amount of [25, 27]) {
      await orders.rows(`update bronze.orders set amount = $1 where order_id = 'b'`, [amount]);
      await amendWindows(orders.control, orders.rollup, { ...ada, key: { region: 'EU' } }, at);
      await (amount === 25 ? rejectProposals : approveProposals)(orders.control, orders.rollup, ada);
    }
    expect(await ofThe29th(orders)).toEqual(["10-29 'EU' v1 2 30.00", "10-29 'EU' v2 2 37.00 source_change"]);
    expect(await proposals(orders)).toEqual([
      { revenue: '35.00', state: 'rejected', by: 'ada' },
      { revenue: '37.00', state: 'approved', by: 'ada' },
    ]);
  });
});
