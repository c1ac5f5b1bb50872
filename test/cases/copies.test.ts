/** The same id again (R5, B25): equal or not, in whatever order, in one run or several, in one ingestion partition or several. */
import { expect, test } from 'vitest';
import { dailyPartitions, type Orders, openOrders, plainTable } from '../support/orders.ts';

/** `id event_time ingested_at region amount`: e1 with 10 and then 12, e2 twice with 5, e3 under another key later. */
const rows = [
  'e1 10-28 10:00 10-28 10:01 EU 10',
  'e1 10-28 10:00 10-29 10:01 EU 12',
  'e2 10-28 11:00 10-28 11:01 EU 5',
  'e2 10-28 11:00 10-29 11:01 EU 5',
  'e3 10-28 12:00 10-28 12:01 EU 1',
  'e3 10-28 12:00 10-29 12:01 US 1',
];
const orders = {
  'first to last': rows,
  'last to first': rows.toReversed(),
  'the later ones first': rows.toSorted((a, b) =>
    (b.split(' ')[3] ?? '').localeCompare(a.split(' ')[3] ?? ''),
  ),
};
const pass = (at: string) => `pass${at.replace(/\W/g, '')} 10-29 02:00 ${at} ZZ 0`;
const bounds = ['2026-10-28T23:00Z', '2026-10-29T23:00Z', '2026-10-30T23:00Z', '2026-10-31T23:00Z'];

/** Value and count of the day, by key: sealed, latest and what bronze says now. */
async function figures(errata: Orders): Promise<unknown[]> {
  return errata.rows(
    `select region, sealed_revenue, latest_revenue, restated_revenue, restated_orders
     from gold.daily_orders_reconciliation where window_start = '2026-10-28T00:00Z' order by region`,
  );
}
const fifteenAndOne = [
  {
    region: 'EU',
    sealed_revenue: '16.00',
    latest_revenue: '16.00',
    restated_revenue: '16.00',
    restated_orders: '3',
  },
];
const conflicts = (errata: Orders) =>
  errata.rows(
    `select event_id, landing, conflicts_with from gold.daily_orders_late_event where is_conflict order by event_id`,
  );
const named = [
  { event_id: 'e1', landing: null, conflicts_with: { this: '(EU,12.00,)', counted: '(EU,10.00,)' } },
  { event_id: 'e3', landing: null, conflicts_with: { this: '(US,1.00,)', counted: '(EU,1.00,)' } },
];

const cases = (['one run', 'a run a day', 'the later ones after the seal'] as const).flatMap((cut) =>
  (['plain', 'partitioned by day'] as const).flatMap((table) =>
    (Object.keys(orders) as (keyof typeof orders)[]).map((order) => ({ cut, table, order })),
  ),
);
test.each(cases)(
  '15 of e1 and e2, never 17, 32 or 0: $cut, $table, $order',
  async ({ cut, table, order }) => {
    const errata = await openOrders({
      lateness: '0',
      ddl: table === 'plain' ? plainTable : dailyPartitions,
    });
    // sealed before or after the later ones arrive
    await errata.land(
      ...orders[order],
      pass(cut === 'the later ones after the seal' ? '10-29 09:00' : '10-30 02:01'),
    );
    for (const bound of cut === 'one run' ? bounds.slice(-1) : bounds) await errata.run({ bound });
    expect(await figures(errata)).toEqual(fifteenAndOne);
    expect(await conflicts(errata)).toEqual(named);
    // neither is a copy a late event
    expect(
      await errata.rows(
        'select count(*)::int as n from gold.daily_orders_late_event where landing is not null',
      ),
    ).toEqual([{ n: 0 }]);
  },
);

test('a late event and its copies: one event, the first of them, in both figures', async () => {
  for (const policy of ['auto', 'grace'] as const) {
    const errata = await openOrders({ lateness: '0', policy, ddl: dailyPartitions });
    await errata.land('on-time 10-28 10:00 10-28 10:01 EU 100', pass('10-29 02:01'));
    await errata.run({ bound: '2026-10-29T03:00Z' });
    // the second was ingested before the first, and is found in the same run
    await errata.land('late 10-28 11:00 10-30 11:01 EU 7', 'late 10-28 11:00 10-30 11:00 EU 6');
    await errata.run({ bound: '2026-10-30T12:00Z' });
    await errata.land('late 10-28 11:00 10-31 11:00 EU 8', 'late 10-28 11:00 10-31 11:00 EU 6');
    await errata.run({ bound: '2026-10-31T12:00Z' });
    expect(await figures(errata)).toMatchObject([
      {
        sealed_revenue: '100.00',
        latest_revenue: policy === 'auto' ? '106.00' : '100.00',
        restated_revenue: '106.00',
        restated_orders: '2',
      },
    ]);
    expect(
      await errata.rows(
        `select revenue, landing, conflicts_with->>'this' as other from gold.daily_orders_late_event order by landing nulls last, other`,
      ),
    ).toEqual([
      { revenue: '6.00', landing: 'side_output', other: null },
      { revenue: null, landing: null, other: '(EU,7.00,)' },
      { revenue: null, landing: null, other: '(EU,8.00,)' },
    ]);
  }
});

test('what is no copy: another window, and rows without an id, unless nothing tells them apart', async () => {
  const errata = await openOrders({ lateness: '0' });
  await errata.land('a 10-28 10:00 10-28 10:01 EU 1', 'a 10-29 10:00 10-29 10:01 EU 2');
  await errata.rows(
    `insert into bronze.orders select null, '2026-10-28T12:00Z', '2026-10-28T12:01Z', 'EU', n from (values (3), (4), (4)) as r (n)`,
  );
  await errata.land('pass 10-30 02:00 10-30 02:01 ZZ 0');
  await errata.run({ bound: '2026-10-31T00:00Z' });
  expect(await errata.ledger()).toEqual(["10-28 'EU' v1 3 8.00", "10-29 'EU' v1 1 2.00"]);
});
