import { describe, expect, test } from 'vitest';
import { applyRollup } from '../../src/catalog/apply.ts';
import { describedRollup } from '../../src/catalog/open.ts';
import type { Rollup } from '../../src/catalog/rollup.ts';
import { parseSettings } from '../../src/config/read-settings.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { type Orders, openOrders } from '../support/orders.ts';

const base = {
  gold: 'gold.daily_orders',
  key: '[region]',
  window: '{ calendar: 1 day, time_zone: UTC }',
  measures: '{ orders: count(*), revenue: sum(amount) }',
  lateness: '24 hours',
};

/** Applies the sample rollup with some of its settings changed. */
async function change(orders: Orders, changed: Partial<typeof base>): Promise<Rollup> {
  const now = { ...base, ...changed };
  const settings = parseSettings(
    `
rollups:
  daily_orders:
    gold: ${now.gold}
    bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }
    window: ${now.window}
    key: ${now.key}
    measures: ${now.measures}
    watermark: { strategy: bounded, delay: 1 hour }
    allowed_lateness: ${now.lateness}
    seal: { by: errata }
    publish: { policy: auto }
`,
    'errata.yaml',
    {},
  );
  return await inTransaction(orders.control, 'read committed', async (transaction) =>
    applyRollup(transaction, await describedRollup(transaction, settings, settings.rollups[0] as never)),
  );
}

async function published(): Promise<Orders> {
  const orders = await openOrders();
  await orders.land('a 10-29 10:00 10-29 10:01', 'pass 10-30 02:00 10-30 02:01 ZZ');
  await orders.run({ bound: '2026-10-30T03:00Z' });
  return orders;
}

describe('a changed definition', () => {
  test('applied again unchanged it changes nothing', async () => {
    const orders = await published();
    await change(orders, {});
    expect(await orders.rows('select count(*) from errata.definition')).toEqual([{ count: '1' }]);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
  });

  test('a further measure is added, NULL in older versions, there in the next', async () => {
    const orders = await published();
    const rollup = await change(orders, {
      measures: '{ orders: count(*), revenue: sum(amount), largest: max(amount) }',
    });
    await orders.land('late 10-29 12:00 10-30 04:00 EU 7');
    await runRollup(orders.control, rollup, { bound: '2026-10-30T05:00Z' });
    expect(
      await orders.rows('select version, revenue, largest from gold.daily_orders order by version'),
    ).toEqual([
      { version: 1, revenue: '10.00', largest: null },
      { version: 2, revenue: '17.00', largest: '10.00' },
    ]);
    const prints = await orders.rows('select count(distinct definition_fingerprint) from gold.daily_orders');
    expect(prints).toEqual([{ count: '2' }]);
  });

  test('another lateness holds for rows examined from then on; nothing is judged anew', async () => {
    const orders = await published();
    await orders.land('early 10-29 12:00 10-30 04:00 EU 7');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    const rollup = await change(orders, { lateness: '0' });
    await orders.land('later 10-29 12:00 10-30 06:00 EU 7');
    await runRollup(orders.control, rollup, { bound: '2026-10-30T07:00Z', readAll: true });
    expect(await orders.lateEvents()).toEqual([
      "early 'EU' late_firing included v2 late_firing",
      "later 'EU' side_output included v3 refused",
    ]);
  });

  test.each([
    ['another key', { key: '[]' }, 'key: ["region text"] is now []'],
    ['another window', { window: '{ tumbling: 1 day }' }, 'window: '],
    [
      'another measure of the same name',
      { measures: '{ orders: count(*), revenue: sum(amount) filter (where amount > 0) }' },
      'measure revenue: ',
    ],
    [
      'a measure left out',
      { measures: '{ orders: count(*) }' },
      'measure revenue: "sum(amount)" is now "left out"',
    ],
    ['another gold table', { gold: 'gold.other' }, 'gold: "gold.daily_orders" is now "gold.other"'],
  ])('%s is refused, with the way out', async (_, changed, detail) => {
    const orders = await published();
    await expect(change(orders, changed)).rejects.toMatchObject({
      exitCode: 2,
      message: 'rollup "daily_orders" cannot be changed in place',
      detail: expect.stringContaining(detail),
      hint: expect.stringContaining('give the new definition a new name'),
    });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
  });

  test('a gold table that somebody else made is not taken over', async () => {
    const orders = await openOrders();
    await orders.rows('create table gold.other (a int)');
    await orders.rows('delete from errata.rollup');
    await expect(change(orders, { gold: 'gold.other' })).rejects.toMatchObject({
      exitCode: 2,
      message: 'the gold table of rollup "daily_orders" exists already',
    });
  });
});
