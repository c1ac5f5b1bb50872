/** Reports as of a mark or an instant (R11, R12, R14): what was known then, beside what is now. Figures by hand. */
import { beforeAll, describe, expect, test } from 'vitest';
import { changes } from '../../src/commands/changes.ts';
import { periods } from '../../src/commands/periods.ts';
import { reconcile } from '../../src/commands/reconcile.ts';
import { approveProposals } from '../../src/publication/decide.ts';
import { makeMark } from '../../src/publication/marks.ts';
import { closePeriod, reopenPeriod } from '../../src/publication/periods.ts';
import type { Reconciliation } from '../../src/report/reconcile/reconcile.ts';
import { markAnother, type Orders, openOrders } from '../support/orders.ts';
import { call, settingsOf } from './verb-context.ts';

const ada = { actor: 'ada', reason: 'month end' };
let orders: Orders;
let closed: string;
let stamps: Record<'first' | 'second', string>;

/**
 * October: EU 1,000 and US 20. "mailed" is made, then EU gets 50 late, then October is closed softly; 7 more come to EU, are
 * held, and posted as an adjustment; at last the period stands reopened.
 */
beforeAll(async () => {
  orders = await openOrders({ lateness: '0', policy: 'auto' });
  await orders.land('a 10-10 10:00 10-10 10:01 EU 1000', 'b 10-10 10:00 10-10 10:01 US 20');
  await orders.land('w 11-04 10:00 11-04 10:01 EU 1');
  await orders.run({ bound: '2026-11-05T00:00Z' });
  await makeMark(orders.control, settingsOf(orders), 'mailed', 'ada');
  await orders.land('l 10-10 11:00 11-05 10:00 EU 50');
  const first = await orders.run({ bound: '2026-11-06T00:00Z' });
  const [role] = await orders.rows<{ name: string }>('select current_user::text as name');
  const act = await closePeriod(orders.control, orders.rollup, {
    ...ada,
    period: '2026-10',
    postingRole: role?.name as string,
  });
  closed = act.mark;
  await orders.land('m 10-10 12:00 11-06 10:00 EU 7');
  await orders.run({ bound: '2026-11-07T00:00Z' });
  const second = await approveProposals(orders.control, orders.rollup, ada);
  await reopenPeriod(orders.control, orders.rollup, {
    ...ada,
    period: '2026-10',
    until: '2999-01-01T00:00Z',
  });
  const stampOf = async (runId: string) =>
    (await orders.rows<{ stamp: string }>('select stamp::text from errata.run where run_id = $1', [runId]))[0]
      ?.stamp as string;
  stamps = { first: await stampOf(first.runId), second: await stampOf(second.runId) };
}, 60_000);

describe('errata periods', () => {
  const at = async (flags: { mark?: string; at?: string }) => {
    const { text, data } = await call(periods, orders, ['daily_orders'], flags);
    const [found] = (data as { rollups: { closes: object[]; posted: object[] }[] }).rollups;
    return { text, closes: found?.closes ?? [], posted: found?.posted ?? [] };
  };

  test('before the close there is none; at its mark nothing has come since', async () => {
    expect((await at({ mark: 'mailed' })).text).toMatch(
      /^daily_orders as known at 20.*Z \(mailed\): no period was closed by then$/,
    );
    const { text, closes, posted } = await at({ mark: closed });
    expect(closes).toMatchObject([
      { measure: 'orders', closed: '3', latest: '3', held: null, reopened_at: null, events: [] },
      { measure: 'revenue', closed: '1070.00', latest: '1070.00', restated: null, reopened_at: null },
    ]);
    expect(posted).toEqual([]);
    expect(text).toContain('revenue: closed with 1,070.00; published by then 1,070.00');
  });

  test('an instant after it: what was posted by then, and not yet the reopening', async () => {
    const { closes, posted } = await at({ at: stamps.second });
    expect(closes[1]).toMatchObject({
      closed: '1070.00',
      latest: '1077.00',
      reopened_at: null,
      events: ['m'],
    });
    expect(posted).toMatchObject([{ version: 3, kind: 'adjustment', deltas: { revenue: '7.00' } }]);
    expect((await at({})).closes[1]).toMatchObject({ is_open: true, restated: '1077.00' });
  });
});

describe('errata reconcile', () => {
  test('what was known at a mark, what was published since with its events, and bronze', async () => {
    const { exitCode, text, data } = await call(reconcile, orders, ['daily_orders'], {
      period: '2026-10',
      mark: 'mailed',
    });
    const { known } = data as Reconciliation;
    expect(known).toMatchObject({
      mark: 'mailed',
      totals: [
        { measure: 'orders', known: '2', since: '2' },
        { measure: 'revenue', known: '1020.00', since: '57.00' },
      ],
      moved_windows: '1',
      windows: [
        {
          key: { region: 'EU' },
          known_version: 1,
          version: 3,
          events_since: '2',
          events: ['l', 'm'],
          measures: { revenue: { known: '1000.00', latest: '1057.00', bronze: '1057.00' } },
        },
      ],
    });
    expect(exitCode).toBe(0);
    expect(text).toContain(`
                   orders   revenue
known then              2  1,020.00
  published since      +2    +57.00
latest                  4  1,077.00
bronze                  4  1,077.00
Since then:
  2026-10-10, region EU: version 1 then, 3 now; orders 1 to 3; revenue 1,000.00 to 1,057.00; 2 events since: l m
`);
    expect(
      await orders.rows(`select counts -> 'known' ->> 'mark' as mark from errata.reconciliation`),
    ).toEqual([{ mark: 'mailed' }]);
  });

  test('of one key, and an event that came since and is in no version', async () => {
    const other = await openOrders({ lateness: '0', policy: 'grace' });
    await other.land('a 10-10 10:00 10-10 10:01', 'w 10-13 10:00 10-13 10:01');
    await other.run({ bound: '2026-10-14T00:00Z' });
    await makeMark(other.control, settingsOf(other), 'mailed', 'ada');
    await other.land('l 10-10 11:00 10-14 10:00 EU 5', 'x 10-10 11:00 10-14 10:00 US 9');
    await other.run({ bound: '2026-10-15T00:00Z' });
    const { text, data } = await call(reconcile, other, ['daily_orders'], {
      period: '2026-10',
      key: ['region=EU'],
      mark: 'mailed',
    });
    expect((data as Reconciliation).known?.windows).toMatchObject([
      { known_version: 1, version: 1, events_since: '1', events: ['l'] },
    ]);
    expect(text).toContain(': version 1 as then; orders 1; revenue 10.00; 1 event since: l');
    expect(text).toContain('  pending              +1    +5.00');
  });
});

test('errata changes, between a mark and an instant', async () => {
  const between = async (until?: string) =>
    (
      (await call(changes, orders, ['daily_orders'], { since: 'mailed', ...(until && { until }) })).data as {
        windows: object[];
      }[]
    )[0]?.windows;
  expect(await between(stamps.first)).toMatchObject([
    { old_version: 1, new_version: 2, measures: { revenue: ['1000.00', '1050.00'] } },
  ]);
  expect(await between(closed)).toMatchObject([{ new_version: 2 }]);
  expect(await between()).toMatchObject([{ new_version: 3 }]);
});

describe('is refused', () => {
  test.each([
    [{ mark: 'none' }, 'there is no mark "none"'],
    [{ mark: 'mailed', at: '2026-11-01' }, '--mark and --at contradict each other'],
    [
      { at: 'soon' },
      '--at "soon" is not a date or an instant; write it as 2026-01-01 or 2026-01-01T00:00:00Z',
    ],
    [{ at: '2999-01-01' }, 'what was known then is not settled yet for rollup "daily_orders"'],
    [{ mark: 'of another' }, 'mark "of another" is of rollup "other", not of "daily_orders"'],
  ])('%j', async (flags, message) => {
    await markAnother(orders);
    for (const [verb, further] of [
      [periods, {}],
      [reconcile, { period: '2026-10' }],
    ] as const)
      await expect(
        call<object>(verb, orders, ['daily_orders'], { ...flags, ...further }),
      ).rejects.toMatchObject({ message, exitCode: 2 });
  });

  test('changes --until an instant that is not settled', async () => {
    await expect(
      call(changes, orders, ['daily_orders'], { since: 'mailed', until: '2999-01-01' }),
    ).rejects.toMatchObject({ exitCode: 2 });
  });
});
