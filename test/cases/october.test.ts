/**
 * October as finance lives it: 1,402 orders of the 29th shipped; three late events of different kinds, the close, one more
 * after it, a reopening and its adjustment. Every figure is derived by hand, in the comments.
 */
import { beforeAll, expect, test } from 'vitest';
import { changes } from '../../src/commands/changes.ts';
import { find } from '../../src/commands/find.ts';
import { periods } from '../../src/commands/periods.ts';
import { closePeriod, reopenPeriod } from '../../src/publication/periods.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { waiveEvents } from '../../src/publication/waive.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';
import { reconciled } from '../support/reconcile.ts';

let orders: Orders;
let mark = '';
const ada = { actor: 'ada', reason: 'ticket 311' };
const october = { from: '2026-10-01Z', to: '2026-11-01Z' };

/** Sealed, latest, pending, held, waived and restated of October. */
const totals = async () => {
  const { totals: of, counts } = await reconciled(orders, october);
  const row = await orders.rows<Record<string, string>>(
    `select sum(sealed_revenue) as sealed, sum(latest_revenue) as latest, sum(pending_revenue) as pending,
       sum(held_revenue) as held, sum(waived_revenue) as waived, sum(restated_revenue) as restated
     from gold.daily_orders_reconciliation where window_start >= '2026-10-01Z' and window_start < '2026-11-01Z'`,
  );
  return {
    ...row[0],
    unexplained: counts.unexplained,
    bronze: of?.find(({ measure }) => measure === 'revenue')?.bronze,
  };
};

beforeAll(async () => {
  orders = await openOrders({ policy: 'grace', lateness: '24 hours' });
  // 1,402 orders of 2.50: 3,505.00
  await orders.rows(`insert into bronze.orders
    select 'o' || n, '2026-10-29T10:00Z', '2026-10-29T10:01Z', 'EU', 2.5 from generate_series(1, 1402) as n`);
  await orders.land('p1 10-30 01:30 10-30 01:30 EU 1');
  await orders.run({ bound: '2026-10-30T02:00Z' });
}, 60_000);

test('the number that shipped: 1,402', async () => {
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1402 3505.00"]);
});

test('three late events: one fires late, one is refused and released, one is refused and set aside', async () => {
  // the watermark stands at 12:00 of the 30th: within 24 hours; then at 1 November 03:00: past them
  await orders.land(
    'p2 10-30 13:00 10-30 13:00 EU 1',
    '8840 10-29 17:00 10-30 13:01 EU 10',
    'p3 11-01 04:00 11-01 04:00 EU 1',
    '8841 10-29 18:02 11-01 05:00 EU 20',
    '8842 10-29 19:00 11-01 05:00 EU 40',
  );
  await orders.run({ bound: '2026-11-01T06:00Z' });
  await releaseEvents(
    orders.control,
    orders.rollup,
    { ...ada, eventIds: ['8841'] },
    { bound: '2026-11-01T06:00Z' },
  );
  await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['8842'] });
  expect(await orders.lateEvents()).toEqual([
    "8840 'EU' late_firing included v2 late_firing",
    "8841 'EU' side_output included v3 refused",
    "8842 'EU' side_output waived refused",
  ]);
  // of the 30th two orders of 1.00; latest: 3,505 + 10 + 20 + 2
  expect(await totals()).toEqual({
    sealed: '3507.00',
    latest: '3537.00',
    pending: '0',
    held: '0',
    waived: '40.00',
    restated: '3577.00',
    unexplained: '0',
    bronze: '3577.00',
  });
});

test('the close keeps what October came to', async () => {
  ({ mark } = await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-10' }));
  expect(mark).toBe('daily_orders 2026-10 close');
  const { text } = await call(periods, orders, [], {});
  expect(text).toContain('revenue: closed with 3,537.00 (restated 3,577.00); nothing since (waived +40.00)');
});

test('a late arrival after the close is held, and changes nothing that was published', async () => {
  await orders.land('8850 10-29 20:00 11-03 10:00 EU 80', 'p4 11-03 12:00 11-03 12:00 EU 1');
  await orders.run({ bound: '2026-11-03T13:00Z' });
  await releaseEvents(
    orders.control,
    orders.rollup,
    { ...ada, eventIds: ['8850'] },
    { bound: '2026-11-03T13:00Z' },
  );
  expect(await totals()).toMatchObject({
    latest: '3537.00',
    held: '80.00',
    waived: '40.00',
    restated: '3657.00',
    unexplained: '0',
    bronze: '3657.00',
  });
  const { text } = await call(periods, orders, [], {});
  expect(text).toContain(
    'revenue: closed with 3,537.00 (restated 3,577.00); now 3,657.00, restated after close: +80.00 (held +80.00, waived +40.00)',
  );
});

test('reopened, it is posted; the close stays as it was, and everybody finds what changed', async () => {
  const [soon] = await orders.rows<{ soon: string }>(
    `select (clock_timestamp() + interval '1 hour')::text as soon`,
  );
  await reopenPeriod(orders.control, orders.rollup, {
    ...ada,
    period: '2026-10',
    until: soon?.soon as string,
  });
  await orders.run({ bound: '2026-11-03T14:00Z' });
  expect((await orders.ledger()).filter((line) => line.startsWith('10-29'))).toEqual([
    "10-29 'EU' v1 1402 3505.00",
    "10-29 'EU' v2 1403 3515.00 late_firing",
    "10-29 'EU' v3 1404 3535.00 refused",
    "10-29 'EU' v4 1405 3615.00 refused",
  ]);
  expect(await totals()).toMatchObject({
    sealed: '3507.00',
    latest: '3617.00',
    held: '0',
    waived: '40.00',
    restated: '3657.00',
    unexplained: '0',
  });
  expect(
    await orders.rows('select sum(revenue) as revenue from gold.daily_orders_as_of_mark($1)', [mark]),
  ).toEqual([{ revenue: '3537.00' }]);
  const { text } = await call(periods, orders, [], {});
  expect(text).toContain(
    'revenue: closed with 3,537.00 (restated 3,577.00); now 3,657.00, restated after close: +80.00 (waived +40.00)',
  );
  expect(text).toContain(
    '2026-10-29 EU, version 4: correction, posted while it stood reopened, orders +1, revenue +80.00, with 8850',
  );
  const since = await call(changes, orders, [], { since: mark });
  expect(since.data).toMatchObject([
    { windows: [{ local_date: '2026-10-29', old_version: 3, new_version: 4, deltas: { revenue: '80.00' } }] },
  ]);
  const printed = await call(find, orders, ['1404'], {});
  expect(printed.text).toContain('after:  1,405 (+1), version 4; changed by refused, run');
});
