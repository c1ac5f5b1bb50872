/**
 * October as finance lives it: 1,402 orders of the 29th shipped; three late events of different kinds, the close, one more
 * after it, a reopening and its adjustment; and the statement, before the close, at it and after it. Every figure is derived by hand, in the comments.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { changes } from '../../src/commands/changes.ts';
import { find } from '../../src/commands/find.ts';
import { periods } from '../../src/commands/periods.ts';
import { makeMark } from '../../src/publication/marks.ts';
import { closePeriod, reopenPeriod } from '../../src/publication/periods.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { waiveEvents } from '../../src/publication/waive.ts';
import { call, settingsOf } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';
import { reconciled } from '../support/reconcile.ts';
import {
  bytesOf,
  csvRows,
  statementDirectory,
  verifyStatement,
  writeStatement,
} from '../support/statement.ts';

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

const directory = statementDirectory();
/** Of revenue, in the statement of that name. */
const stated = (name: string) =>
  csvRows(join(directory, name), 'totals.csv').find((row) => row.measure === 'revenue');

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

test('the statement before the close: a mark, and every figure from sealed to true', async () => {
  await reconciled(orders, october, { period: '2026-10' });
  await makeMark(orders.control, settingsOf(orders), 'October, draft', 'ada');
  await writeStatement(orders, join(directory, 'draft'), { mark: 'October, draft' });
  // 3,505 of the 29th and 2 of the 30th shipped; 10 fired late, 20 were refused and released, 40 set aside
  expect(stated('draft')).toEqual({
    measure: 'revenue',
    sealed: '3507.00',
    late_firing: '10.00',
    straggler: '0',
    refused: '20.00',
    quarantine_release: '0',
    seal_mismatch: '0',
    stream_emission: '0',
    source_change: '0',
    other: '0.00',
    corrections: '30.00',
    latest: '3537.00',
    pending: '0',
    held: '0',
    waived: '40.00',
    restated: '3577.00',
    unexplained: '0',
    true: '3577.00',
  });
  // 3,507 + 10 = 3,517; + 20 = 3,537; + 40 = 3,577
  expect(
    csvRows(join(directory, 'draft'), 'bridge.csv')
      .filter(
        ({ measure, amount, is_level: isLevel }) =>
          measure === 'revenue' && (isLevel === 'true' || Number(amount) !== 0),
      )
      .map(({ step, amount, level }) => `${step} ${amount} ${level}`),
  ).toEqual([
    'sealed 3507.00 3507.00',
    'late_firing 10.00 3517.00',
    'refused 20.00 3537.00',
    'latest 3537.00 3537.00',
    'waived 40.00 3577.00',
    'restated 3577.00 3577.00',
    'true 3577.00 3577.00',
  ]);
  expect(
    csvRows(join(directory, 'draft'), 'days.csv').map(
      (row) =>
        `${row.day} ${row.sealed_revenue} ${row.corrections_revenue} ${row.waived_revenue} ${row.restated_revenue}; ${row.sealed_orders} ${row.restated_orders}`,
    ),
  ).toEqual(['2026-10-29 3505.00 30.00 40.00 3575.00; 1402 1405', '2026-10-30 2.00 0 0 2.00; 2 2']);
  expect(
    csvRows(join(directory, 'draft'), 'events.csv').map(
      ({ event_id: id, landing, state, version, revenue, actor }) =>
        [id, landing, state, version, revenue, actor].join(' '),
    ),
  ).toEqual([
    '8840 late_firing included 2 10.00 ',
    '8841 side_output included 3 20.00 ada',
    '8842 side_output waived  40.00 ada',
  ]);
  const html = readFileSync(join(directory, 'draft', 'statement.html'), 'utf8');
  for (const shown of ['3,507.00', '+30.00', '3,537.00', '+40.00', '3,577.00', 'not closed by then'])
    expect(html).toContain(shown);
});

test('a citation that is printed in it is found', async () => {
  const [cited] = csvRows(join(directory, 'draft'), 'versions.csv').filter(({ version }) => version === '3');
  const { text } = await call(find, orders, [cited?.citation as string], {});
  expect(text).toContain('orders 1,404');
});

test('the close keeps what October came to', async () => {
  ({ mark } = await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-10' }));
  expect(mark).toBe('daily_orders 2026-10 close');
  const { text } = await call(periods, orders, [], {});
  expect(text).toContain('revenue: closed with 3,537.00 (restated 3,577.00); nothing since (waived +40.00)');
  await writeStatement(orders, join(directory, 'closed'));
  expect(stated('closed')).toEqual(stated('draft'));
  expect(csvRows(join(directory, 'closed'), 'adjustments.csv')).toEqual([]);
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

test('the statement at the close is what it was, and the one after it lists what was posted since', async () => {
  await writeStatement(orders, join(directory, 'closed again'));
  expect(bytesOf(join(directory, 'closed again'))).toEqual(bytesOf(join(directory, 'closed')));
  for (const name of ['draft', 'closed'])
    expect((await verifyStatement(orders, join(directory, name))).text).toContain(
      'all as written and as the database tells',
    );
  await reconciled(orders, october, { period: '2026-10' });
  await makeMark(orders.control, settingsOf(orders), 'October, as posted', 'ada');
  await writeStatement(orders, join(directory, 'posted'), { mark: 'October, as posted' });
  // 8850 came after the close, and its 80 were posted while it stood reopened
  expect(stated('posted')).toMatchObject({
    sealed: '3507.00',
    late_firing: '10.00',
    refused: '100.00',
    latest: '3617.00',
    held: '0',
    waived: '40.00',
    restated: '3657.00',
    unexplained: '0',
    true: '3657.00',
  });
  expect(
    csvRows(join(directory, 'posted'), 'adjustments.csv').map(
      ({ how, local_date: date, version, kind, delta_revenue: delta }) =>
        [how, date, version, kind, delta].join(' '),
    ),
  ).toEqual(['while reopened 2026-10-29 4 correction 80.00']);
  expect(
    csvRows(join(directory, 'posted'), 'acts.csv').map(
      ({ act, actor, reason }) => `${act} ${actor} ${reason}`,
    ),
  ).toEqual([
    'publish ada ticket 311',
    'waive ada ticket 311',
    'hard_close ada ticket 311',
    'publish ada ticket 311',
    'reopen ada ticket 311',
  ]);
});
