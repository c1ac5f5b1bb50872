import { describe, expect, test } from 'vitest';
import { releaseEvents } from '../../src/publication/release.ts';
import { type Orders, openOrders } from '../support/orders.ts';

const passDay = 'pass 10-30 02:00 10-30 02:01 ZZ 1';
const first = ['a 10-29 10:00 10-29 10:01', 'b 10-29 11:00 10-29 11:01'];
const release = { actor: 'kim', reason: 'the shop confirmed it' };

describe('who publishes (R10)', () => {
  const lateRows = [
    'firing 10-29 12:00 10-30 04:00 EU 7',
    'jump 10-31 03:00 10-31 03:01 ZZ 1',
    'refused 10-29 13:00 10-31 04:00 EU 5',
  ];

  test('auto publishes late firings and refused rows', async () => {
    const orders = await openOrders({ policy: 'auto' });
    await orders.land(...first, passDay, ...lateRows);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect((await orders.ledger()).slice(0, 2)).toEqual([
      "10-29 'EU' v1 2 20.00",
      "10-29 'EU' v2 4 32.00 late_firing+refused",
    ]);
  });

  test('grace publishes late firings; refused rows await a person, whose release is a version with a name and a reason', async () => {
    const orders = await openOrders({ policy: 'grace' });
    await orders.land(...first, passDay, ...lateRows);
    const report = await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(report).toMatchObject({
      needsAttention: true,
      counts: { events_pending: 1, side_output: 1, late_firing: 1 },
    });
    expect((await orders.ledger()).slice(0, 2)).toEqual([
      "10-29 'EU' v1 2 20.00",
      "10-29 'EU' v2 3 27.00 late_firing",
    ]);
    const published = await releaseEvents(
      orders.control,
      orders.rollup,
      { ...release, eventIds: ['refused'] },
      { bound: '2026-10-31T06:00Z' },
    );
    expect(published.released).toBe(1);
    expect(
      await orders.rows(
        `select version, orders, revenue, causes, actor, reason, kind from gold.daily_orders where region = 'EU' and version = 3`,
      ),
    ).toEqual([
      { version: 3, orders: '4', revenue: '32.00', causes: ['refused'], kind: 'correction', ...release },
    ]);
    expect(await orders.lateEvents()).toEqual([
      "firing 'EU' late_firing included v2 late_firing",
      "refused 'EU' side_output included v3 refused",
    ]);
  });

  test('a release that fits nothing is refused and leaves nothing', async () => {
    const orders = await openOrders({ policy: 'grace' });
    await orders.land(...first, passDay);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await expect(
      releaseEvents(orders.control, orders.rollup, { ...release, eventIds: ['none'] }),
    ).rejects.toMatchObject({ exitCode: 2 });
    expect(await orders.rows('select count(*) from errata.run')).toEqual([{ count: '1' }]);
  });
});

describe('append what differs (R9)', () => {
  test('a keyed window that had no version 1 starts at version 2', async () => {
    const orders = await openOrders();
    await orders.land(...first, passDay, 'new 10-29 12:00 10-30 04:00 US 7');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'US' v2 1 7.00 late_firing"]);
  });

  test('a late row that changes no measure still changes the event count', async () => {
    const orders = await openOrders({ measures: '{ orders: max(1), revenue: sum(amount) }' });
    await orders.land(...first, passDay, 'zero 10-29 12:00 10-30 04:00 EU 0');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(
      await orders.rows('select version, revenue, event_count from gold.daily_orders order by version'),
    ).toEqual([
      { version: 1, revenue: '20.00', event_count: '2' },
      { version: 2, revenue: '20.00', event_count: '3' },
    ]);
  });

  test('NULL and the empty text are two keys, and a second run adds nothing (B07)', async () => {
    const orders = await openOrders();
    await orders.land(
      'e1 10-29 10:00 10-29 10:01 NULL 5',
      "e3 10-29 10:00 10-29 10:01 '' 2",
      'a 10-29 10:00 10-29 10:01 A 1',
      passDay,
    );
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.land('e2 10-29 12:00 10-30 04:00 NULL 7');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    await orders.run({ bound: '2026-10-30T06:00Z' });
    expect(await orders.ledger()).toEqual([
      '10-29 NULL v1 1 5.00',
      '10-29 NULL v2 2 12.00 late_firing',
      "10-29 '' v1 1 2.00",
      "10-29 'A' v1 1 1.00",
    ]);
    expect(
      await orders.rows(
        'select sealed_revenue, late_firing_revenue, latest_revenue from gold.daily_orders_reconciliation where region is null',
      ),
    ).toEqual([{ sealed_revenue: '5.00', late_firing_revenue: '7.00', latest_revenue: '12.00' }]);
  });

  test('a rollup without a key is one total a window', async () => {
    const orders = await openOrders({ key: '[]' });
    await orders.land(...first, passDay, 'late 10-29 12:00 10-30 04:00 US 7');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(
      await orders.rows('select version, orders, revenue from gold.daily_orders order by version'),
    ).toEqual([
      { version: 1, orders: '2', revenue: '20.00' },
      { version: 2, orders: '3', revenue: '27.00' },
    ]);
  });
});

test('amounts keep every digit (R13, B17)', async () => {
  const orders = await openOrders({
    ddl: `create schema bronze; create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric)`,
  });
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 9007199254740993.01',
    'b 10-29 11:00 10-29 11:01 EU 0.02',
    passDay,
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  expect(await orders.rows(`select revenue from gold.daily_orders_latest where region = 'EU'`)).toEqual([
    { revenue: '9007199254740993.03' },
  ]);
});

describe('quarantine (R4)', () => {
  test('a device clock far ahead moves no watermark and seals no window; honest rows after it land open (B03)', async () => {
    const orders = await openOrders({
      window: '{ tumbling: 1 minute }',
      watermark: '{ strategy: bounded, delay: 1 minute }',
      lateness: '0',
    });
    await orders.land(
      'h0 10-29 10:00 10-29 10:00',
      'h1 10-29 10:01 10-29 10:01',
      'ahead 10-30 10:00 10-29 10:01 EU 50',
    );
    for (let minute = 2; minute <= 11; minute++)
      await orders.land(
        `h${minute} 10-29 10:${String(minute).padStart(2, '0')} 10-29 10:${String(minute).padStart(2, '0')} EU 1`,
      );
    await orders.land('end 10-29 10:20 10-29 10:20');
    await orders.run({ bound: '2026-10-29T10:21Z' });
    expect(await orders.rows('select count(*), sum(orders) from gold.daily_orders')).toEqual([
      { count: '12', sum: '12' },
    ]);
    expect(
      await orders.rows(
        'select event_id, landing, state, quarantine_reason, revenue, window_start from gold.daily_orders_late_event',
      ),
    ).toEqual([
      {
        event_id: 'ahead',
        landing: 'quarantined',
        state: null,
        quarantine_reason: 'event_time_ahead_of_arrival',
        revenue: '50.00',
        window_start: null,
      },
    ]);
  });

  test('unreadable times are kept by name, each once', async () => {
    const orders = await openOrders();
    await orders.land(...first, passDay, 'none - - 10-29 10:00', 'lost 10-29 10:00 - -');
    await orders.rows(
      `insert into bronze.orders values ('inf', 'infinity', '2026-10-29T10:00Z', 'EU', 1), ('past', '-infinity', '2026-10-29T10:00Z', 'EU', 1), ('end', '2026-10-29T10:00Z', 'infinity', 'EU', 1)`,
    );
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.run({ bound: '2026-10-30T04:00Z' });
    expect(
      await orders.rows('select event_id, quarantine_reason from gold.daily_orders_late_event order by 1'),
    ).toEqual([
      { event_id: 'end', quarantine_reason: 'ingested_at_infinite' },
      { event_id: 'inf', quarantine_reason: 'event_time_infinite' },
      { event_id: 'lost', quarantine_reason: 'ingested_at_null' },
      { event_id: 'none', quarantine_reason: 'event_time_null' },
      { event_id: 'past', quarantine_reason: 'event_time_infinite' },
    ]);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
  });
});

describe('as known then (R11)', () => {
  test('as_of answers for every stamp, and never for an instant that is not settled', async () => {
    const orders = await openOrders();
    await orders.land(...first, passDay);
    const { stamp: sealed } = await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.land('late 10-29 12:00 10-30 04:00 EU 7');
    const { stamp: corrected } = await orders.run({ bound: '2026-10-30T05:00Z' });
    const known = (at: string) =>
      orders.rows(`select version, revenue from gold.daily_orders_as_of($1) where region = 'EU'`, [at]);
    expect(await known('2026-01-01T00:00Z')).toEqual([]);
    expect(await known(sealed)).toEqual([{ version: 1, revenue: '20.00' }]);
    expect(await known(corrected)).toEqual([{ version: 2, revenue: '27.00' }]);
    await expect(known('2999-01-01T00:00Z')).rejects.toThrow('what was known then is not settled yet');
  });
});

describe('one writer (R18)', () => {
  test('of ten runs at once one publishes, the others say that it holds the rollup', async () => {
    const orders = await openOrders();
    await orders.land(...first, passDay);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.land('late 10-29 12:00 10-30 04:00 EU 7');
    const ends = await Promise.allSettled(Array.from({ length: 10 }, () => orders.run()));
    const refused = ends.filter((end) => end.status === 'rejected');
    for (const end of refused) expect(end.reason).toMatchObject({ exitCode: 4 });
    expect(refused.length).toBeLessThan(10);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 27.00 late_firing"]);
  });
});

test('plan is the run, rolled back: it says the same and leaves nothing', async () => {
  const orders: Orders = await openOrders();
  await orders.land(...first, passDay, 'late 10-29 12:00 10-30 04:00 EU 7');
  const plan = await orders.plan({ bound: '2026-10-30T05:00Z' });
  expect(await orders.ledger()).toEqual([]);
  expect(await orders.rows('select count(*) from errata.run')).toEqual([{ count: '0' }]);
  const run = await orders.run({ bound: '2026-10-30T05:00Z' });
  const told = ({ counts, changes }: typeof run) => ({ counts, changes });
  expect(told(plan)).toEqual(told(run));
  expect(run.changes).toMatchObject([
    {
      key: { region: 'EU' },
      old_version: 1,
      causes: ['late_firing'],
      measures: { orders: ['2', '3'], revenue: ['20.00', '27.00'] },
      events: ['late'],
    },
  ]);
});
