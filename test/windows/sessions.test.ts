/** Sessions (R6s): built per key by gap in the order of ingestion, sealed at each move of the watermark, regrouped when a row comes after their end. */
import { describe, expect, test } from 'vitest';
import { explained } from '../../src/commands/explain.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { dailyPartitions, type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';

const gap = '{ session_gap: 30 minutes }';
const open = (options: OrdersOptions = {}) =>
  openOrders({ window: gap, watermark: '{ strategy: bounded, delay: 0 }', lateness: '1 hour', ...options });

/** `start–end region vN orders revenue causes`, times of day. */
const ledgerOf = async (orders: Orders) =>
  (
    await orders.rows<{ line: string }>(
      `select concat_ws(' ', to_char(window_start at time zone 'UTC', 'HH24:MI') || '–' || to_char(window_end at time zone 'UTC', 'HH24:MI'), coalesce(quote_nullable(region), ''), 'v' || version,
         case when is_void then 'void' else orders || ' ' || revenue end, nullif(array_to_string(causes, '+'), '')) as line
       from gold.daily_orders order by window_start, window_end, region nulls first, version`,
    )
  ).map((row) => row.line);

describe('before the watermark', () => {
  test('rows within a gap are one session, exactly one gap apart too; a longer pause begins another', async () => {
    const orders = await open();
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'b 11-02 10:30 11-02 10:30',
      'c 11-02 11:01 11-02 11:01',
      'x 11-02 10:10 11-02 10:10 US',
      'end 11-02 15:00 11-02 15:00',
    );
    await orders.run({ bound: '2026-11-03 00:00+00' });
    expect(await ledgerOf(orders)).toEqual([
      "10:00–11:00 'EU' v1 2 20.00",
      "10:10–10:40 'US' v1 1 10.00",
      "11:01–11:31 'EU' v1 1 10.00",
    ]);
  });

  test('a row that bridges two open sessions makes one of them', async () => {
    const orders = await open({ watermark: '{ strategy: bounded, delay: 2 hours }' });
    await orders.land('a 11-02 10:00 11-02 10:00', 'c 11-02 10:50 11-02 10:50');
    await orders.run({ bound: '2026-11-02 10:55+00' });
    await orders.land('b 11-02 10:25 11-02 10:56', 'end 11-02 15:00 11-02 15:00');
    await orders.run({ bound: '2026-11-03 00:00+00' });
    expect(await ledgerOf(orders)).toEqual(["10:00–11:20 'EU' v1 3 30.00"]);
  });
});

describe('after the end, within the allowed lateness', () => {
  test('a row inside the session is counted by a version 2', async () => {
    const orders = await open();
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'b 11-02 10:20 11-02 10:20',
      'w 11-02 11:00 11-02 11:00 US',
    );
    await orders.run({ bound: '2026-11-02 11:01+00' });
    await orders.land('late 11-02 10:10 11-02 11:02');
    await orders.run({ bound: '2026-11-02 11:03+00' });
    expect(await ledgerOf(orders)).toEqual([
      "10:00–10:50 'EU' v1 2 20.00",
      "10:00–10:50 'EU' v2 3 30.00 late_firing",
    ]);
    expect(await orders.lateEvents()).toEqual(["late 'EU' late_firing included v2 late_firing"]);
  });

  test('a row that extends a sealed session past the watermark voids it; the longer one is sealed in its turn', async () => {
    const orders = await open();
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'w 11-02 10:31 11-02 10:31 US',
      'b 11-02 10:20 11-02 10:32',
    );
    await orders.run({ bound: '2026-11-02 10:40+00' });
    expect(await ledgerOf(orders)).toEqual([
      "10:00–10:30 'EU' v1 1 10.00",
      "10:00–10:30 'EU' v2 void late_firing",
    ]);
    await orders.land('end 11-02 15:00 11-02 15:00 US');
    await orders.run({ bound: '2026-11-03 00:00+00' });
    expect(await ledgerOf(orders)).toEqual([
      "10:00–10:30 'EU' v1 1 10.00",
      "10:00–10:30 'EU' v2 void late_firing",
      "10:00–10:50 'EU' v1 2 20.00",
      "10:31–11:01 'US' v1 1 10.00",
    ]);
    expect(await orders.lateEvents()).toEqual([]);
    expect(
      await orders.rows(`select replaces from gold.daily_orders where version = 1 and orders = 2`),
    ).toEqual([
      {
        replaces: [{ window_start: '2026-11-02 10:00:00+00', window_end: '2026-11-02 10:30:00+00' }],
      },
    ]);
  });

  test('what is kept by window follows an open session whose bounds move', async () => {
    const orders = await open();
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'w 11-02 10:31 11-02 10:31 US',
      'late 11-02 10:00 11-02 10:32',
      'b 11-02 10:20 11-02 10:33',
      'b 11-02 10:21 11-02 10:34 EU 12',
    );
    await orders.run({ bound: '2026-11-02 10:40+00' });
    await orders.land('c 11-02 10:40 11-02 10:45');
    await orders.run({ bound: '2026-11-02 10:46+00' });
    await orders.land('end 11-02 15:00 11-02 15:00 US');
    await orders.run({ bound: '2026-11-02 15:01+00' });
    expect((await ledgerOf(orders)).filter((line) => line.includes("EU' v1"))).toEqual([
      "10:00–10:30 'EU' v1 1 10.00",
      "10:00–11:10 'EU' v1 4 40.00",
    ]);
    for (const table of ['gold.daily_orders_late_event', 'errata.daily_orders_copy'])
      expect(
        await orders.rows(
          `select distinct to_char(window_end at time zone 'UTC', 'HH24:MI') as "to" from ${table}`,
        ),
      ).toEqual([{ to: '11:10' }]);
    expect(await orders.lateEvents()).toEqual([
      "late 'EU' late_firing included v1 late_firing",
      "b 'EU' - -",
    ]);
  });

  test('a session that arises after its end has no version 1', async () => {
    const orders = await open();
    await orders.land('w 11-02 11:00 11-02 11:00 US', 'late 11-02 10:00 11-02 11:01');
    await orders.run({ bound: '2026-11-02 12:00+00' });
    expect(await ledgerOf(orders)).toEqual(["10:00–10:30 'EU' v2 1 10.00 late_firing"]);
  });
});

describe('refused rows', () => {
  const refused = async (policy: 'auto' | 'grace') => {
    const orders = await open({ policy, lateness: '0' });
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'c 11-02 10:50 11-02 10:50',
      'w 11-02 12:00 11-02 12:00 US',
      'bridge 11-02 10:25 11-02 12:01',
    );
    await orders.run({ bound: '2026-11-02 12:30+00' });
    return orders;
  };
  const bridged = [
    "10:00–10:30 'EU' v1 1 10.00",
    "10:00–10:30 'EU' v2 void refused",
    "10:00–11:20 'EU' v2 3 30.00 refused",
    "10:50–11:20 'EU' v1 1 10.00",
    "10:50–11:20 'EU' v2 void refused",
  ];

  test('regroup at their own place where the policy publishes them', async () => {
    expect(await ledgerOf(await refused('auto'))).toEqual(bridged);
  });

  test('wait in the session that they make by themselves, and regroup the sealed ones when a person releases them', async () => {
    const orders = await refused('grace');
    expect(await ledgerOf(orders)).toEqual([bridged[0], bridged[3]]);
    expect(
      await orders.rows(
        `select event_id, landing, state, to_char(window_start at time zone 'UTC', 'HH24:MI') as "from", to_char(window_end at time zone 'UTC', 'HH24:MI') as "to", to_char(watermark at time zone 'UTC', 'HH24:MI') as watermark
         from gold.daily_orders_late_event`,
      ),
    ).toEqual([
      {
        event_id: 'bridge',
        landing: 'side_output',
        state: 'pending',
        from: '10:25',
        to: '10:55',
        watermark: '12:00',
      },
    ]);
    await releaseEvents(
      orders.control,
      orders.rollup,
      { actor: 'ann', reason: 'found' },
      { bound: '2026-11-02 12:30+00' },
    );
    expect(await ledgerOf(orders)).toEqual(bridged);
    expect(await orders.lateEvents()).toEqual(["bridge 'EU' side_output included v2 refused"]);
    expect(
      await orders.rows(
        `select sum(revenue)::text as latest, (select sum(restated_revenue)::text from gold.daily_orders_reconciliation) as restated from gold.daily_orders_latest`,
      ),
    ).toEqual([{ latest: '30.00', restated: '30.00' }]);
  });
});

describe('copies (R5)', () => {
  test('one of a row that the session has extends nothing, is no late event, and a conflict is named', async () => {
    const orders = await open();
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'b 11-02 10:05 11-02 10:05',
      'b 11-02 10:05 11-02 10:06',
      'a 11-02 10:20 11-02 10:07 EU 12',
      'w 11-02 12:00 11-02 12:00 US',
      'a 11-02 10:00 11-02 12:01',
    );
    await orders.run({ bound: '2026-11-02 13:00+00' });
    expect(await ledgerOf(orders)).toEqual(["10:00–10:35 'EU' v1 2 20.00"]);
    expect(await orders.lateEvents()).toEqual(["a 'EU' - -"]);
    expect(
      await orders.rows('select conflicts_with from gold.daily_orders_late_event where is_conflict'),
    ).toEqual([{ conflicts_with: { this: '(EU,12.00,)', counted: '(EU,10.00,)' } }]);
    expect(await orders.rows('select sum(copies)::text as copies from errata.daily_orders_copy')).toEqual([
      { copies: '3' },
    ]);
  });

  describe('one id in two sessions that a further row joins: the first ingested counts', () => {
    const pair = ['x 11-02 10:00 11-02 10:00 EU 5', 'x 11-02 11:00 11-02 11:00 EU 7'];
    const joined = [
      "10:00–10:30 'EU' v1 1 5.00",
      "10:00–10:30 'EU' v2 void late_firing",
      "10:00–11:30 'EU' v2 2 6.00 late_firing",
      "11:00–11:30 'EU' v1 1 7.00",
      "11:00–11:30 'EU' v2 void late_firing",
    ];
    const sealed = 'w 11-02 12:00 11-02 12:00 US';
    const bridge = 'b 11-02 10:30 11-02 12:01 EU 1';

    test.each([
      ['in runs of their own', true],
      ['in one run, whose versions 1 still count what had arrived', false],
    ])('after both were sealed, %s', async (_, isCut) => {
      const orders = await open({ lateness: '3 hours' });
      await orders.land(...pair, sealed);
      if (isCut) await orders.run({ bound: '2026-11-02 12:00:30+00' });
      await orders.land(bridge);
      await orders.run({ bound: '2026-11-02 13:00+00' });
      expect((await ledgerOf(orders)).filter((line) => !line.includes('US'))).toEqual(joined);
      expect(await orders.lateEvents()).toEqual(["x 'EU' - -", "b 'EU' late_firing included v2 late_firing"]);
      expect(
        await orders.rows('select conflicts_with from gold.daily_orders_late_event where is_conflict'),
      ).toEqual([{ conflicts_with: { this: '(EU,7.00,)', counted: '(EU,5.00,)' } }]);
      expect(await orders.rows('select copies::text from errata.daily_orders_copy')).toEqual([
        { copies: '1' },
      ]);
      const { text } = await inTransaction(orders.control, 'repeatable read', (transaction) =>
        explained(transaction, orders.rollup, '2026-11-02T10:00Z/2026-11-02T11:30Z', ['EU']),
      );
      expect(text).toContain('It adds up');
      // a copy that comes later is one of the first
      await orders.land('x 11-02 11:00 11-02 13:01 EU 5');
      await orders.run({ bound: '2026-11-02 13:30+00' });
      expect((await ledgerOf(orders)).filter((line) => !line.includes('US'))).toEqual(joined);
      expect(await orders.lateEvents()).toHaveLength(2);
    });

    test('the second had come late: it was counted by name, and is a copy from then on', async () => {
      const orders = await open({ lateness: '3 hours' });
      await orders.land(
        'a 11-02 11:00 11-02 11:00 EU 2',
        sealed,
        'x 11-02 11:20 11-02 12:01 EU 7',
        'x 11-02 10:00 11-02 11:10 EU 7',
      );
      await orders.run({ bound: '2026-11-02 12:02+00' });
      await orders.land('b 11-02 10:30 11-02 12:03 EU 1');
      await orders.run({ bound: '2026-11-02 13:00+00' });
      expect(await ledgerOf(orders)).toContain("10:00–11:50 'EU' v2 3 10.00 late_firing");
      expect(await orders.lateEvents()).toEqual([
        "x 'EU' late_firing included v2 late_firing",
        "b 'EU' late_firing included v2 late_firing",
      ]);
      expect(await orders.rows('select count(*)::text from gold.daily_orders_late_event')).toEqual([
        { count: '2' },
      ]);
    });

    test('before anything is sealed, and by rows of one instant', async () => {
      const orders = await open();
      await orders.land(
        'x 11-02 10:00 11-02 10:00 EU 5',
        'b 11-02 10:30 11-02 10:05 EU 1',
        'x 11-02 11:00 11-02 10:05 EU 7',
      );
      await orders.run({ bound: '2026-11-02 10:06+00' });
      expect(await orders.rows('select revenue from gold.daily_orders_live')).toEqual([{ revenue: '6.00' }]);
      await orders.land(sealed);
      await orders.run({ bound: '2026-11-02 13:00+00' });
      expect(await ledgerOf(orders)).toEqual(["10:00–11:30 'EU' v1 2 6.00"]);
    });

    test('all that join are copies: the joined session is published all the same', async () => {
      const orders = await open({ lateness: '3 hours' });
      await orders.land(
        'x 11-02 10:00 11-02 10:00 EU 5',
        'y 11-02 11:30 11-02 11:30 EU 3',
        sealed,
        'y 11-02 10:30 11-02 12:01 EU 3',
        'x 11-02 11:00 11-02 12:01 EU 5',
      );
      await orders.run({ bound: '2026-11-02 13:00+00' });
      expect(await ledgerOf(orders)).toContain("10:00–12:00 'EU' v2 2 8.00 late_firing");
      expect(await orders.lateEvents()).toEqual([]);
    });

    test('by the word of a person who releases a refused row', async () => {
      const orders = await open({ policy: 'grace' });
      await orders.land(...pair, sealed, 'b 11-02 10:30 11-02 14:00 EU 1', 'w 11-02 14:00 11-02 13:59 US');
      await orders.run({ bound: '2026-11-02 15:00+00' });
      expect(await orders.lateEvents()).toEqual(["b 'EU' side_output pending refused"]);
      await releaseEvents(
        orders.control,
        orders.rollup,
        { actor: 'ada', reason: 'checked', eventIds: ['b'] },
        { bound: '2026-11-02 15:30+00' },
      );
      expect(await ledgerOf(orders)).toContain("10:00–11:30 'EU' v2 2 6.00 refused");
    });

    test('the first is deleted: the other counts in its place', async () => {
      const orders = await open({ lateness: '3 hours' });
      await orders.land(...pair, sealed, bridge);
      await orders.run({ bound: '2026-11-02 13:00+00' });
      await orders.rows('delete from bronze.orders where amount = 5');
      await amendWindows(
        orders.control,
        orders.rollup,
        {
          actor: 'ada',
          reason: 'deleted',
          windowFrom: '2026-11-02 10:00+00',
          windowTo: '2026-11-02 10:01+00',
        },
        { bound: '2026-11-02 14:00+00' },
      );
      expect(await ledgerOf(orders)).toContain("10:00–11:30 'EU' v3 2 8.00 source_change");
    });
  });

  test('of two equal rows of one instant one counts; where rows are unique both do', async () => {
    for (const [identity, counted] of [
      ['event_id: order_id', 1],
      ['unique_rows: true', 2],
    ] as const) {
      const orders = await open({
        bronze: `{ table: bronze.orders, ${identity}, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }`,
      });
      await orders.land(
        'a 11-02 10:00 11-02 10:00',
        'a 11-02 10:00 11-02 10:00',
        'w 11-02 12:00 11-02 12:00 US',
      );
      await orders.run({ bound: '2026-11-02 13:00+00' });
      expect(await ledgerOf(orders)).toEqual([`10:00–10:30 'EU' v1 ${counted} ${counted}0.00`]);
    }
  });
});

test('NULL and empty keys are sessions of their own', async () => {
  const orders = await open();
  await orders.land(
    'a 11-02 10:00 11-02 10:00 NULL',
    "b 11-02 10:10 11-02 10:10 ''",
    'c 11-02 10:20 11-02 10:20 NULL',
    'w 11-02 12:00 11-02 12:00 US',
    'late 11-02 10:15 11-02 12:01 NULL',
  );
  await orders.run({ bound: '2026-11-02 13:00+00' });
  expect(await ledgerOf(orders)).toEqual([
    '10:00–10:50 NULL v1 2 20.00',
    '10:00–10:50 NULL v2 3 30.00 refused',
    "10:10–10:40 '' v1 1 10.00",
  ]);
});

describe('bronze rows deleted and changed', () => {
  const word = { actor: 'kim', reason: 'test orders' };
  const at = { bound: '2026-11-02 13:00+00' };
  const rows = ['a 11-02 10:00 11-02 10:00', 'b 11-02 10:20 11-02 10:20', 'c 11-02 10:40 11-02 10:40'];
  const sealed = async (options: OrdersOptions = {}) => {
    const orders = await open(options);
    await orders.land(...rows, 'w 11-02 12:00 11-02 12:00 US');
    await orders.run(at);
    return orders;
  };

  test('a session keeps its bounds without a deleted row, and is void without any', async () => {
    const orders = await sealed();
    await orders.rows(`delete from bronze.orders where order_id = 'b'`);
    await amendWindows(
      orders.control,
      orders.rollup,
      { ...word, windowFrom: '2026-11-02 10:00+00', windowTo: '2026-11-02 11:00+00' },
      at,
    );
    await orders.rows(`delete from bronze.orders where region = 'EU'`);
    await amendWindows(
      orders.control,
      orders.rollup,
      { ...word, windowFrom: '2026-11-02 10:00+00', windowTo: '2026-11-02 11:00+00' },
      at,
    );
    await orders.run({ bound: '2026-11-02 14:00+00' });
    expect(await ledgerOf(orders)).toEqual([
      "10:00–11:10 'EU' v1 3 30.00",
      "10:00–11:10 'EU' v2 2 20.00 source_change",
      "10:00–11:10 'EU' v3 void source_change",
    ]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });

  test('a changed row counts with its new value; one that moves leaves here and arrives there, in one run', async () => {
    const orders = await sealed({
      bronze:
        '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01, track_changes: true }',
    });
    await orders.rows(`update bronze.orders set amount = 15 where order_id = 'b'`);
    await orders.rows(`update bronze.orders set ordered_at = '2026-11-02 08:00+00' where order_id = 'c'`);
    await orders.run({ bound: '2026-11-02 14:00+00' });
    expect(await ledgerOf(orders)).toEqual([
      "08:00–08:30 'EU' v2 1 10.00 refused+source_change",
      "10:00–11:10 'EU' v1 3 30.00",
      "10:00–11:10 'EU' v2 2 25.00 source_change",
    ]);
  });

  test('what is deleted before the end ships in no version', async () => {
    const orders = await open();
    await orders.land(...rows);
    await orders.run({ bound: '2026-11-02 10:45+00' });
    await orders.rows(`delete from bronze.orders where order_id = 'b'`);
    await orders.land('w 11-02 12:00 11-02 12:00 US');
    await orders.run(at);
    expect(await ledgerOf(orders)).toEqual(["10:00–11:10 'EU' v1 2 20.00"]);
  });
});

test('neither version 1 nor a void is written over an ingestion partition that is gone (R15)', async () => {
  const orders = await open({ ddl: dailyPartitions });
  await orders.land('a 11-01 23:50 11-01 23:50', 'b 11-02 00:10 11-02 00:10');
  await orders.run({ bound: '2026-11-02 00:30+00' });
  await orders.rows('alter table bronze.orders detach partition bronze.orders_20261101');
  await orders.land('w 11-02 12:00 11-02 12:00 US');
  const blocked = await orders.run({ bound: '2026-11-02 13:00+00' });
  expect(await ledgerOf(orders)).toEqual([]);
  expect(blocked).toMatchObject({ needsAttention: true, counts: { windows_sealed: 0, windows_blocked: 1 } });
  await orders.rows(
    `alter table bronze.orders attach partition bronze.orders_20261101 for values from ('2026-11-01 00:00+00') to ('2026-11-02 00:00+00')`,
  );
  await orders.run({ bound: '2026-11-02 14:00+00' });
  expect(await ledgerOf(orders)).toEqual(["23:50–00:40 'EU' v1 2 20.00"]);
  // refused, it would extend the session backwards
  await orders.rows('alter table bronze.orders detach partition bronze.orders_20261101');
  await orders.land('r 11-01 23:40 11-02 15:00');
  const held = await orders.run({ bound: '2026-11-02 16:00+00' });
  expect(held.counts).toMatchObject({ windows_corrected: 0, windows_blocked: 2 });
  expect(await ledgerOf(orders)).toEqual(["23:50–00:40 'EU' v1 2 20.00"]);
  await orders.rows(
    `alter table bronze.orders attach partition bronze.orders_20261101 for values from ('2026-11-01 00:00+00') to ('2026-11-02 00:00+00')`,
  );
  await orders.run({ bound: '2026-11-02 17:00+00' });
  expect(await ledgerOf(orders)).toEqual([
    "23:40–00:40 'EU' v2 3 30.00 refused",
    "23:50–00:40 'EU' v1 2 20.00",
    "23:50–00:40 'EU' v2 void refused",
  ]);
});

describe('where the stream seals', () => {
  const ship = (orders: Orders, start: string, end: string, count: number, revenue: number) =>
    orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ($1, $2, 'EU', $3, $4)`,
      [`2026-11-02 ${start}+00`, `2026-11-02 ${end}+00`, count, revenue],
    );

  test('its sessions are compared with ours: equal, missing, and another', async () => {
    const orders = await open({ seal: '{ by: stream }' });
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'b 11-02 11:00 11-02 11:00',
      'c 11-02 12:00 11-02 12:00',
      'w 11-02 15:00 11-02 15:00 US',
    );
    await ship(orders, '10:00', '10:30', 1, 10);
    await ship(orders, '12:00', '12:30', 1, 11);
    await orders.run({ bound: '2026-11-02 16:00+00' });
    expect(await ledgerOf(orders)).toEqual([
      "10:00–10:30 'EU' v1 1 10",
      "11:00–11:30 'EU' v2 1 10.00 seal_mismatch",
      "12:00–12:30 'EU' v1 1 11",
      "12:00–12:30 'EU' v2 1 10.00 seal_mismatch",
    ]);
    await expect(ship(orders, '10:00', '10:10', 1, 10)).rejects.toThrow(
      'a window that this rollup does not have',
    );
  });
});

test('where the stream seals, a session that was extended becomes void whether its total came before the run or after it', async () => {
  for (const shippedFirst of [true, false]) {
    const orders = await open({ seal: '{ by: stream }' });
    const ship = (end: string, count: number) =>
      orders.rows(
        `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-11-02 10:00+00', $1, 'EU', $2, $3)`,
        [`2026-11-02 ${end}+00`, count, 10 * count],
      );
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'w 11-02 10:40 11-02 10:40 US',
      'b 11-02 10:20 11-02 10:42',
      'w2 11-02 11:00 11-02 11:00 US',
    );
    if (shippedFirst) await ship('10:30', 1);
    await ship('10:50', 2);
    await orders.run({ bound: '2026-11-02 11:01+00' });
    if (!shippedFirst) await ship('10:30', 1);
    await orders.run({ bound: '2026-11-02 11:02+00' });
    expect(await ledgerOf(orders)).toEqual([
      "10:00–10:30 'EU' v1 1 10",
      "10:00–10:30 'EU' v2 void late_firing",
      "10:00–10:50 'EU' v1 2 20",
    ]);
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
    // its rows are in the other session, whatever the stream says of it
    await ship('10:30', 7);
    await orders.run({ bound: '2026-11-02 11:03+00' });
    expect(await ledgerOf(orders)).toHaveLength(3);
    expect(await orders.rows('select run_id is not null as heard from errata.daily_orders_emission')).toEqual(
      [{ heard: true }],
    );
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  }
});

test('a limit on windows never parts a session from those that it replaced (R19)', async () => {
  const orders = await open({ lateness: '0' });
  await orders.land('a 11-02 10:00 11-02 10:00', 'c 11-02 10:50 11-02 10:50', 'w 11-02 12:00 11-02 12:00 US');
  await orders.run({ bound: '2026-11-02 12:01+00' });
  await orders.land('bridge 11-02 10:25 11-02 12:02');
  await orders.run({ bound: '2026-11-02 12:30+00', maxWindows: 1 });
  expect(await orders.rows(`select sum(revenue)::text as revenue from gold.daily_orders_latest`)).toEqual([
    { revenue: '30.00' },
  ]);
});

test('open sessions are in the live view, and explain tells what a void session became', async () => {
  const orders = await open();
  await orders.land('a 11-02 10:00 11-02 10:00', 'w 11-02 10:31 11-02 10:31 US', 'b 11-02 10:20 11-02 10:32');
  await orders.run({ bound: '2026-11-02 10:40+00' });
  expect(
    await orders.rows(
      `select to_char(window_start at time zone 'UTC', 'HH24:MI') as "from", region, orders::text, is_open from gold.daily_orders_live where orders > 0 order by window_start, region`,
    ),
  ).toEqual([
    { from: '10:00', region: 'EU', orders: '2', is_open: true },
    { from: '10:31', region: 'US', orders: '1', is_open: true },
  ]);
  const explain = (window: string, ...key: string[]) =>
    inTransaction(orders.control, 'repeatable read', (transaction) =>
      explained(transaction, orders.rollup, window, key),
    );
  expect((await explain('2026-11-02T10:35Z')).text).toContain('lies in sessions of several keys');
  expect((await explain('2026-11-02T10:05Z', 'EU')).text).toContain('10:00:00Z to 2026-11-02 10:50:00Z');
  const shipped = await explain('2026-11-02T10:00Z/2026-11-02T10:30Z', 'EU');
  expect(shipped.text).toContain('void: its rows are in the session 2026-11-02 10:00Z to 10:50Z');
});

test('however the log is cut, the same answer (R17)', async () => {
  const rows = [
    'a 11-02 10:00 11-02 10:00',
    'b 11-02 10:20 11-02 10:20',
    'w 11-02 11:00 11-02 11:00 US',
    'c 11-02 10:55 11-02 11:05',
    'x 11-02 13:00 11-02 13:00 US',
    'd 11-02 10:30 11-02 13:01',
    'e 11-02 09:40 11-02 13:02',
  ];
  const whole = await open();
  await whole.land(...rows);
  await whole.run({ bound: '2026-11-02 15:00+00' });
  const cut = await open();
  for (const row of rows) {
    await cut.land(row);
    const [, , , day, time] = row.split(' ');
    await cut.run({ bound: `2026-${day} ${time}:30+00` });
  }
  await cut.run({ bound: '2026-11-02 15:00+00' });
  const latest = (orders: Orders) =>
    orders.rows(
      `select window_start, window_end, region, case when not is_void then revenue end as revenue from gold.daily_orders_latest where not is_void order by 1, 2, 3`,
    );
  const first = (orders: Orders) =>
    orders.rows(
      'select window_start, window_end, region, revenue from gold.daily_orders_sealed order by 1, 2, 3',
    );
  expect(await latest(cut)).toEqual(await latest(whole));
  expect(await first(cut)).toEqual(await first(whole));
  expect(await cut.lateEvents()).toHaveLength((await whole.lateEvents()).length);
});
