import { describe, expect, test } from 'vitest';
import { openOrders } from '../support/orders.ts';

const first = 'a 10-29 10:00 10-29 10:01';

/** The log says `watermark` from 12:00 on 10-31; a row of 10-29 arrives a second later. Lateness 24 hours. */
async function landingAt(watermark: string): Promise<string[]> {
  const orders = await openOrders({ watermark: '{ strategy: recorded }', policy: 'grace' });
  await orders.land(first);
  await orders.rows('insert into gold.daily_orders_watermark_log (at, watermark) values ($1, $2), ($3, $4)', [
    '2026-10-31T12:00:00Z',
    watermark,
    '2026-11-02T00:00:00Z',
    '2026-11-01T00:00:00Z',
  ]);
  await orders.rows(
    `insert into bronze.orders values ('x', '2026-10-29T11:00Z', '2026-10-31T12:00:01Z', 'EU', 1)`,
  );
  await orders.run({ bound: '2026-11-03T00:00Z' });
  return await orders.lateEvents();
}

describe('landing (R3): equality belongs to the later class', () => {
  test.each([
    ['2026-10-29T23:59:59.999999Z', []],
    ['2026-10-30T00:00:00Z', ["x 'EU' late_firing included v2 late_firing"]],
    ['2026-10-30T23:59:59.999999Z', ["x 'EU' late_firing included v2 late_firing"]],
    ['2026-10-31T00:00:00Z', ["x 'EU' side_output pending refused"]],
  ])('watermark %s -> %j', async (watermark, expected) => {
    expect(await landingAt(watermark)).toEqual(expected);
  });
});

test('a row at the end of a window belongs to the next (R1)', async () => {
  const orders = await openOrders();
  await orders.land(first, 'b 10-30 00:00 10-30 00:00', 'pass 10-31 02:00 10-31 02:00 ZZ');
  await orders.run({ bound: '2026-10-31T03:00Z' });
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00", "10-30 'EU' v1 1 10.00"]);
});

test('a heartbeat moves the watermark and counts nowhere (R2)', async () => {
  const orders = await openOrders({
    bronze: `{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01, heartbeat: "region = 'HB'" }`,
  });
  await orders.land(first, 'beat 10-29 23:00 10-29 23:00 HB', 'beat 10-30 02:00 10-30 02:00 HB');
  await orders.run({ bound: '2026-10-30T03:00Z' });
  expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00"]);
});

test('arrived_at, where there is one, is what lateness and skew are measured by', async () => {
  const orders = await openOrders({
    ddl: `create schema bronze; create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2),
      arrived_at timestamptz default '2026-10-29T12:00Z')`,
    bronze:
      '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, arrived_at: arrived_at, complete_from: 2026-01-01 }',
    watermark: '{ strategy: fixed_delay, delay: 1 hour }',
  });
  // ingested long after the window was sealed, but taken by the broker in time: open, and a straggler
  await orders.land(first);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land('slow 10-29 11:00 10-30 04:00', 'ahead 10-29 14:00 10-30 04:00');
  await orders.run({ bound: '2026-10-30T05:00Z' });
  expect(
    await orders.rows(
      'select event_id, landing, cause, lateness_seconds, quarantine_reason from gold.daily_orders_late_event order by 1',
    ),
  ).toEqual([
    {
      event_id: 'ahead',
      landing: 'quarantined',
      cause: null,
      lateness_seconds: '-7200.000000',
      quarantine_reason: 'event_time_ahead_of_arrival',
    },
    {
      event_id: 'slow',
      landing: 'open',
      cause: 'straggler',
      lateness_seconds: '3600.000000',
      quarantine_reason: null,
    },
  ]);
});
