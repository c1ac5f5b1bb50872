/** Raw rows that are gone when their window is recomputed (B11): nothing good is written over, and it can heal (R15). */
import { describe, expect, test } from 'vitest';
import { applyRollup } from '../../src/catalog/apply.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { errata, workDirectory } from '../commands/command.ts';
import {
  dailyPartitions,
  type Orders,
  type OrdersOptions,
  openOrders,
  ordersYaml,
} from '../support/orders.ts';

const columns =
  'table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01';
const at = (hour: number) => ({ bound: `2026-10-30T${String(hour).padStart(2, '0')}:00Z` });
const shipped = "10-28 'EU' v1 3 100.00";

async function sealed(options: OrdersOptions = {}): Promise<Orders> {
  const orders = await openOrders(options);
  await orders.land(
    'e1 10-28 10:00 10-28 10:01 EU 50',
    'e2 10-28 11:00 10-28 11:01 EU 30',
    'e3 10-28 12:00 10-28 12:01 EU 20',
    'p 10-29 02:00 10-29 02:01 ZZ',
  );
  await orders.run(at(1));
  expect(await orders.ledger()).toEqual([shipped]);
  return orders;
}

describe.each([
  [
    'detached',
    'alter table bronze.orders detach partition bronze.orders_20261028',
    `alter table bronze.orders attach partition bronze.orders_20261028 for values from ('2026-10-28 00:00+00') to ('2026-10-29 00:00+00')`,
  ],
  [
    'dropped',
    'create table bronze.kept as table bronze.orders_20261028; drop table bronze.orders_20261028',
    `create table bronze.orders_20261028 partition of bronze.orders for values from ('2026-10-28 00:00+00') to ('2026-10-29 00:00+00'); insert into bronze.orders table bronze.kept`,
  ],
])('B11: an ingestion partition is %s', (_, leave, comeBack) => {
  test('the command names it, with exit code 3, and nothing else is lost; it comes back, and the next run heals', async () => {
    const options = { ddl: dailyPartitions, lateness: '0' } as const;
    const orders = await sealed(options);
    const directory = workDirectory(ordersYaml(options));
    await orders.rows(leave);
    await orders.land('e9 10-28 09:00 10-30 09:00 EU 5');
    const run = (hour: number) =>
      errata(directory, orders.database.url, 'run', '--json', '--bound', at(hour).bound);
    const ended = await run(10);
    expect(ended.exitCode).toBe(3);
    expect(JSON.parse(ended.stdout).rollups[0]).toMatchObject({
      outcome: 'attention',
      counts: { windows_blocked: 1, windows_corrected: 0 },
    });
    expect(await orders.ledger()).toEqual([shipped]);
    expect(
      await orders.rows(
        'select region, sealed_revenue, latest_revenue from gold.daily_orders_reconciliation',
      ),
    ).toEqual([{ region: 'EU', sealed_revenue: '100.00', latest_revenue: '100.00' }]);
    expect(await orders.rows('select event_id, state, revenue from gold.daily_orders_side_output')).toEqual([
      { event_id: 'e9', state: 'pending', revenue: '5.00' },
    ]);
    const status = await errata(directory, orders.database.url, 'status');
    expect(status.exitCode).toBe(3);
    expect(status.stdout).toContain(
      '4 events were published or released, bronze holds 1 of them; gone: bronze.orders_20261028',
    );
    await orders.rows(comeBack);
    expect((await run(11)).exitCode).toBe(0);
    expect(await orders.ledger()).toEqual([shipped, "10-28 'EU' v2 4 105.00 refused"]);
  });
});

describe.each(['corrective', 'retention'] as const)('rows are deleted one by one, deletes: %s', (deletes) => {
  const bronze = `{ ${columns}, track_changes: true, deletes: ${deletes} }`;
  const reasons = (orders: Orders) =>
    orders.rows('select cause, blocked_reason from errata.daily_orders_touched order by 1');
  const reason = (expected: number, found: number) =>
    `${expected} events were published or released, bronze holds ${found} of them, and deletes are retention`;

  test('the trigger', async () => {
    const orders = await sealed({ bronze });
    await orders.rows(`delete from bronze.orders where order_id in ('e1', 'e2')`);
    await orders.run(at(2));
    expect(await orders.ledger()).toEqual(
      deletes === 'retention' ? [shipped] : [shipped, "10-28 'EU' v2 1 20.00 source_change"],
    );
    // a change of what is left asks for the window: it is not recomputed over that
    await orders.rows(`update bronze.orders set amount = 21 where order_id = 'e3'`);
    const report = await orders.run(at(3));
    expect((await orders.ledger()).at(-1)).toBe(
      deletes === 'retention' ? shipped : "10-28 'EU' v3 1 21.00 source_change",
    );
    expect(report.needsAttention).toBe(deletes === 'retention');
    expect((await reasons(orders)).map((row) => row.blocked_reason)).toEqual(
      deletes === 'retention' ? expect.arrayContaining([reason(3, 1)]) : [],
    );
  });

  test('a person’s word, and a window that emptied; rows that come back heal', async () => {
    const orders = await sealed({ bronze });
    await orders.rows('create table bronze.kept as table bronze.orders');
    await orders.rows(
      `set session_replication_role = replica; delete from bronze.orders where region = 'EU'; set session_replication_role = origin`,
    );
    const report = await amendWindows(
      orders.control,
      orders.rollup,
      { actor: 'kim', reason: 'gone', windowFrom: '2026-10-28T00:00Z', windowTo: '2026-10-29T00:00Z' },
      at(2),
    );
    expect(report.counts.windows_blocked).toBe(deletes === 'retention' ? 1 : 0);
    expect(await orders.ledger()).toEqual(
      deletes === 'retention' ? [shipped] : [shipped, "10-28 'EU' v2 - - source_change"],
    );
    await orders.rows(`insert into bronze.orders select * from bronze.kept where region = 'EU'`);
    await orders.run(at(3));
    if (deletes === 'corrective') return;
    expect(await orders.ledger()).toEqual([shipped]);
    expect(await reasons(orders)).toEqual([]);
  });
});

test('the setting moves the trigger with it', async () => {
  const orders = await sealed({ bronze: `{ ${columns}, track_changes: true }` });
  const kinds = () =>
    orders.rows(
      `select (tgtype & 8) > 0 as follows_deletes from pg_trigger where tgname like 'errata_track%' order by 1`,
    );
  const change = async (deletes: 'corrective' | 'retention') => {
    const { settings } = orders.rollup;
    const rollup = { ...orders.rollup, settings: { ...settings, bronze: { ...settings.bronze, deletes } } };
    await inTransaction(orders.control, 'read committed', (transaction) => applyRollup(transaction, rollup));
  };
  const [updates, both] = [
    [{ follows_deletes: false }],
    [{ follows_deletes: false }, { follows_deletes: true }],
  ];
  expect(await kinds()).toEqual(both);
  await change('retention');
  expect(await kinds()).toEqual(updates);
  await change('corrective');
  expect(await kinds()).toEqual(both);
});
