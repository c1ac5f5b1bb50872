/**
 * Device clocks far ahead (R4), with the skew that holds when nothing is set. The streaming job of the report let one
 * row of tomorrow drag its watermark along, and refused every honest row after it.
 */
import { describe, expect, test } from 'vitest';
import { releaseEvents } from '../../src/publication/release.ts';
import { type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';

const minuteOf = (minute: number) => `10-29 10:${String(minute).padStart(2, '0')}`;
const honest = Array.from({ length: 10 }, (_, n) => n + 2);

function openMinutes(options: OrdersOptions): Promise<Orders> {
  return openOrders({ window: '{ tumbling: 1 minute }', lateness: '0', key: '[]', ...options });
}

/** 10:00, 10:01, one row of the next day, ten honest rows; amount 1 each, the one ahead 50. */
async function landThem(orders: Orders): Promise<void> {
  const row = (id: string, minute: number) => `${id} ${minuteOf(minute)} ${minuteOf(minute)}:01 EU 1`;
  await orders.land(row('h0', 0), row('h1', 1), 'ahead 10-30 10:00 10-29 10:01:30 EU 50');
  for (const minute of honest) await orders.land(row(`h${minute}`, minute));
}

const minutes = (orders: Orders, view: string) =>
  orders.rows(
    `select to_char(window_start at time zone 'UTC', 'MI') as minute, orders, revenue from gold.daily_orders_${view} order by 1`,
  );
const ones = (from: number) =>
  Array.from({ length: 12 - from }, (_, n) => ({
    minute: String(n + from).padStart(2, '0'),
    orders: '1',
    revenue: '1.00',
  }));
const quarantined = (orders: Orders) =>
  orders.rows(
    `select event_id, revenue, quarantine_reason, window_start from gold.daily_orders_late_event where landing = 'quarantined' order by event_id`,
  );
const ahead = [
  {
    event_id: 'ahead',
    revenue: '50.00',
    quarantine_reason: 'event_time_ahead_of_arrival',
    window_start: null,
  },
];

describe('one row of tomorrow (B03)', () => {
  test.each(['one run', 'a run a minute'])('our own watermark: nothing is refused, %s', async (cut) => {
    const orders = await openMinutes({ watermark: '{ strategy: bounded, delay: 1 minute }' });
    await landThem(orders);
    if (cut !== 'one run')
      for (let minute = 0; minute < 12; minute++) await orders.run({ bound: `2026-10-29T10:${minute}:59Z` });
    await orders.land('end 10-29 10:20 10-29 10:20');
    const report = await orders.run({ bound: '2026-10-29T10:21Z' });
    expect(report.counts).toMatchObject(cut === 'one run' ? { quarantined: 1 } : { quarantined: 0 });
    expect(await minutes(orders, 'sealed')).toEqual(ones(0));
    expect(await minutes(orders, 'latest')).toEqual(ones(0));
    expect(await quarantined(orders)).toEqual(ahead);
    expect(await orders.rows('select count(*)::int as late from gold.daily_orders_late_event')).toEqual([
      { late: 1 },
    ]);
    // neither sealed nor examined further than the honest rows and the bound say
    expect(await orders.rows('select sealed_until, frontier from errata.rollup')).toEqual([
      { sealed_until: '2026-10-29 10:19:00+00', frontier: '2026-10-29 10:21:00+00' },
    ]);
  });

  test.each(['auto', 'grace'] as const)(
    "the stream's own watermark went along: all ten are named, and each minute is right, under %s",
    async (policy) => {
      const orders = await openMinutes({ watermark: '{ strategy: recorded }', policy });
      await landThem(orders);
      // the greatest event time less a minute, without a limit: from the row of tomorrow on, tomorrow
      await orders.rows(`
        insert into gold.daily_orders_watermark_log (at, watermark) values
          ('2026-10-29T10:00:01Z', '2026-10-29T09:59Z'), ('2026-10-29T10:01:01Z', '2026-10-29T10:00Z'),
          ('2026-10-29T10:01:30Z', '2026-10-30T09:59Z')`);
      const { counts } = await orders.run({ bound: '2026-10-29T11:00Z' });
      expect(counts).toMatchObject({ side_output: 10, quarantined: 1, late_firing: 0 });
      expect(await minutes(orders, 'sealed')).toEqual(ones(0).slice(0, 2));
      if (policy === 'grace') {
        expect(await minutes(orders, 'latest')).toEqual(ones(0).slice(0, 2));
        await releaseEvents(
          orders.control,
          orders.rollup,
          { actor: 'ada', reason: 'a clock' },
          { bound: '2026-10-29T11:00Z' },
        );
      }
      expect(await minutes(orders, 'latest')).toEqual(ones(0));
      expect(
        await orders.rows(
          `select array_agg(event_id order by ingested_at) as ids, min(state) as state, max(version) as version
           from gold.daily_orders_late_event where landing = 'side_output'`,
        ),
      ).toEqual([{ ids: honest.map((minute) => `h${minute}`), state: 'included', version: 2 }]);
      expect(await quarantined(orders)).toEqual(ahead);
    },
  );
});

describe('the limit', () => {
  test.each([
    ['an hour ahead is believed', '', '11:00:00', '2026-10-29 10:59:00+00'],
    ['a microsecond more is not', '', '11:00:00.000001', '2026-10-29 09:59:00+00'],
    ['a limit of its own', ', max_future_skew: 10 minutes', '10:10:00.000001', '2026-10-29 09:59:00+00'],
    ['none', ', max_future_skew: none', '23:00:00', '2026-10-29 22:59:00+00'],
  ])('%s', async (_, setting, time, watermark) => {
    const orders = await openMinutes({ watermark: `{ strategy: bounded, delay: 1 minute${setting} }` });
    await orders.land('first 10-29 10:00 10-29 10:00', `ahead 10-29 ${time} 10-29 10:00:00`);
    await orders.run({ bound: '2026-10-29T10:01Z' });
    expect(await orders.rows('select sealed_until from errata.rollup')).toEqual([
      { sealed_until: watermark },
    ]);
    const isQuarantined = watermark.startsWith('2026-10-29 09');
    expect(await quarantined(orders)).toHaveLength(isQuarantined ? 1 : 0);
    // that never changes with time
    await orders.land('later 10-30 12:00 10-30 12:00');
    await orders.run({ bound: '2026-10-30T13:00Z' });
    expect(await quarantined(orders)).toHaveLength(isQuarantined ? 1 : 0);
  });

  test('it is measured from arrived_at where there is one, not from a late ingestion', async () => {
    const orders = await openMinutes({
      watermark: '{ strategy: bounded, delay: 1 minute }',
      ddl: `create schema bronze;
        create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2), arrived_at timestamptz)`,
      bronze:
        '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, arrived_at: arrived_at, complete_from: 2026-01-01 }',
    });
    await orders.rows(`
      insert into bronze.orders values
        ('honest', '2026-10-29T10:30Z', '2026-10-29T18:00Z', 'EU', 1, '2026-10-29T10:00Z'),
        ('ahead', '2026-10-29T11:30Z', '2026-10-29T18:00Z', 'EU', 50, '2026-10-29T10:00Z')`);
    await orders.run({ bound: '2026-10-29T19:00Z' });
    expect(await quarantined(orders)).toEqual(ahead);
    expect(await orders.rows('select sealed_until from errata.rollup')).toEqual([
      { sealed_until: '2026-10-29 10:29:00+00' },
    ]);
  });
});
