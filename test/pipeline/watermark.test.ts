import { expect, test } from 'vitest';
import { openOrders } from '../support/orders.ts';

const first = 'a 10-29 10:00 10-29 10:01';

test('only rows before the bound move the watermark that seals (R2, R8)', async () => {
  const orders = await openOrders();
  await orders.land(first, 'pass 10-30 01:00 10-30 01:01 ZZ');
  await orders.run({ bound: '2026-10-30T01:01:00Z' });
  expect(await orders.ledger()).toEqual([]);
  await orders.run({ bound: '2026-10-30T01:01:00.000001Z' });
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
});

test('under fixed_delay windows seal by the bound less the delay', async () => {
  const orders = await openOrders({ watermark: '{ strategy: fixed_delay, delay: 1 hour }' });
  await orders.land(first);
  await orders.run({ bound: '2026-10-30T00:59:59.999999Z' });
  expect(await orders.ledger()).toEqual([]);
  await orders.run({ bound: '2026-10-30T01:00:00Z' });
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
});

test('rows behind the frontier are judged by the stored history and move none (R6)', async () => {
  const orders = await openOrders();
  await orders.land(first, 'pass 10-30 01:30 10-30 01:31 ZZ');
  await orders.run({ bound: '2026-10-30T02:00Z' });
  // ingested, by its own word, before the frontier: it would have sealed 10-30 already at 00:20
  await orders.land('behind 10-31 02:00 10-30 00:20', 'then 10-30 12:00 10-30 12:01');
  await orders.run({ bound: '2026-10-30T13:00Z' });
  expect(await orders.rows('select max(watermark)::text as most from errata.watermark_step')).toEqual([
    { most: '2026-10-30 11:00:00+00' },
  ]);
});

test('a recorded log that goes back is ignored: the greatest value so far holds', async () => {
  const orders = await openOrders({ watermark: '{ strategy: recorded }' });
  await orders.land(first);
  await orders.rows(`insert into gold.daily_orders_watermark_log (at, watermark) values
    ('2026-10-30T01:00Z', '2026-10-30T00:00Z'), ('2026-10-30T02:00Z', '2026-10-29T00:00Z')`);
  await orders.land('late 10-29 11:00 10-30 03:00');
  await orders.run({ bound: '2026-10-30T04:00Z' });
  expect(await orders.rows('select landing, watermark from gold.daily_orders_late_event')).toEqual([
    { landing: 'late_firing', watermark: '2026-10-30 00:00:00+00' },
  ]);
});
