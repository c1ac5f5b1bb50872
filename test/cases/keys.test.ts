/** Keys that joins and merges lose: NULL, empty, blank, and texts that look like something else (B07). */
import { expect, test } from 'vitest';
import { amendWindows } from '../../src/publication/amend.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { type Orders, openOrders } from '../support/orders.ts';

const odd: (string | null)[] = [
  ...[
    null,
    '',
    ' ',
    '  ',
    'null',
    'NULL',
    "''",
    "O'Hara",
    '"quoted"',
    '\\',
    '\\N',
    '%',
    '{}',
    '{NULL}',
    '(,)',
  ],
  ...['a,b', 'a', 'A', 'tab\t', 'line\n', 'é', 'e\u0301', 'ß', '日本', '🧾', '0', '-0', 'x'.repeat(2000)],
];
const bronze =
  '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }';
const [first, late, bound] = ['2026-10-29T10:00Z', '2026-10-31T05:00Z', '2026-10-31T06:00Z'];

/** A row of every key, then the watermark past the day. */
async function landKeys(orders: Orders, id: string, ingestedAt: string, amount: number): Promise<void> {
  await orders.rows(
    `insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount)
     select $1 || '-' || n, '2026-10-29T10:00Z', $2, region, $3 from unnest($4::text[]) with ordinality as k (region, n)`,
    [id, ingestedAt, amount, odd],
  );
}

async function openKeys(): Promise<Orders> {
  const orders = await openOrders({ policy: 'grace', lateness: '0', bronze });
  await landKeys(orders, 'sealed', first, 5);
  // copies, before and after the seal
  await landKeys(orders, 'sealed', '2026-10-29T11:00Z', 5);
  await landKeys(orders, 'sealed', '2026-10-31T04:00Z', 5);
  await orders.rows(
    `insert into bronze.orders values ('pass', '2026-10-30T02:00Z', '2026-10-30T02:01Z', 'the watermark', 0)`,
  );
  await landKeys(orders, 'late', late, 7);
  await landKeys(orders, 'late', '2026-10-31T05:30Z', 7);
  await orders.run({ bound });
  return orders;
}

/** One line a key, in the order of `odd`. */
async function byKey(orders: Orders, columns: string, relation: string): Promise<unknown[][]> {
  const rows = await orders.rows<{ region: string | null; line: unknown[] }>(
    `select region, array[${columns}]::text[] as line from gold.daily_orders${relation} where window_start = '2026-10-29T00:00Z'`,
  );
  expect(rows).toHaveLength(odd.length);
  return odd.map((key) => rows.find(({ region }) => region === key)?.line ?? []);
}
const each = (...line: string[]) => odd.map(() => line);

test('one line a key: sealed 5, refused 7, and 12 once it is released; a further run adds nothing', async () => {
  const orders = await openKeys();
  const sums = 'sealed_revenue, corrections_revenue, latest_revenue, pending_revenue, restated_revenue';
  expect(await byKey(orders, sums, '_reconciliation')).toEqual(each('5.00', '0', '5.00', '7.00', '12.00'));
  expect(await byKey(orders, 'event_id, revenue, state', '_side_output')).toEqual(
    odd.map((_, n) => [`late-${n + 1}`, '7.00', 'pending']),
  );
  expect((await orders.run({ bound })).counts).toMatchObject({ windows_corrected: 0, events_pending: 0 });
  await releaseEvents(orders.control, orders.rollup, { actor: 'ada', reason: 'all of them' }, { bound });
  expect(await byKey(orders, 'version, revenue, orders', '_latest')).toEqual(each('2', '12.00', '2'));
  expect(await byKey(orders, sums, '_reconciliation')).toEqual(each('5.00', '7.00', '12.00', '0', '12.00'));
  expect((await orders.run({ bound })).counts).toMatchObject({ windows_corrected: 0, windows_touched: 0 });
  expect(
    await orders.rows('select max(version)::int as version, count(*)::int as n from gold.daily_orders'),
  ).toEqual([{ version: 2, n: 2 * odd.length }]);
});

test('a release and an amendment of one key reach no other', async () => {
  const orders = await openKeys();
  const day = { windowFrom: '2026-10-29T00:00Z', windowTo: '2026-10-30T00:00Z' };
  const chosen = [null, '', ' ', 'null', '\\N', '{NULL}', "O'Hara", 'e\u0301'];
  for (const [nth, key] of chosen.entries()) {
    const who = { actor: 'ada', reason: 'this one', key: { region: key } };
    const { released } = await releaseEvents(orders.control, orders.rollup, who, { bound });
    expect(released).toBe(1);
    const said = new Set(chosen.slice(0, nth + 1));
    expect(await byKey(orders, 'version, revenue', '_latest')).toEqual(
      odd.map((one) => (said.has(one) ? ['2', '12.00'] : ['1', '5.00'])),
    );
    await orders.rows(`delete from bronze.orders where order_id = $1`, [`sealed-${odd.indexOf(key) + 1}`]);
    const { amended } = await amendWindows(orders.control, orders.rollup, { ...who, ...day }, { bound });
    expect(amended).toBe(1);
    // grace proposes what is amended
    expect(
      await orders.rows(
        `select key->>0 as region, measures->>'revenue' as revenue from errata.proposal order by proposal_id`,
      ),
    ).toEqual(chosen.slice(0, nth + 1).map((region) => ({ region, revenue: '7.00' })));
    // an open proposal is pending: what it would take away, too
    expect(
      await byKey(orders, 'latest_revenue, pending_revenue, restated_revenue', '_reconciliation'),
    ).toEqual(odd.map((one) => (said.has(one) ? ['12.00', '-5.00', '7.00'] : ['5.00', '7.00', '12.00'])));
  }
});

test('a key of several columns: each combination of NULL and empty is its own', async () => {
  const orders = await openOrders({
    lateness: '0',
    key: '[region, shop, floor]',
    ddl: `create schema bronze;
      create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2), shop text, floor integer)`,
    bronze,
  });
  const combinations = `(values (null), (''), ('a')) as r (region), (values (null), (''), ('a')) as s (shop), (values (null), (0)) as l (floor)`;
  const landAll = (id: string, ingestedAt: string, amount: number) =>
    orders.rows(
      `insert into bronze.orders select $1 || coalesce(region, '-') || '/' || coalesce(shop, '-') || '/' || coalesce(floor, -1), '2026-10-29T10:00Z', $2, region, $3, shop, floor
       from ${combinations}`,
      [id, ingestedAt, amount],
    );
  await landAll('sealed', first, 5);
  await orders.rows(
    `insert into bronze.orders values ('pass', '2026-10-30T02:00Z', '2026-10-30T02:01Z', 'pass', 0, 'pass', 1)`,
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await landAll('late', late, 7);
  // a copy of each, of another run
  await orders.run({ bound });
  await landAll('late', '2026-10-31T07:00Z', 7);
  expect((await orders.run({ bound: '2026-10-31T08:00Z' })).counts).toMatchObject({ windows_corrected: 0 });
  expect(
    await orders.rows(
      `select count(*)::int as keys, count(distinct (region, shop, floor))::int as distinct_keys, min(revenue) as least, max(revenue) as greatest, max(version)::int as version
       from gold.daily_orders_latest where window_start = '2026-10-29T00:00Z'`,
    ),
  ).toEqual([{ keys: 18, distinct_keys: 18, least: '12.00', greatest: '12.00', version: 2 }]);
});
