import { describe, expect, test } from 'vitest';
import { type Orders, type OrdersOptions, openOrders, plainTable } from '../support/orders.ts';

const refusedTable = `create schema stream;
  create table stream.refused (order_id text, ordered_at timestamptz, ws timestamptz, we timestamptz, wm timestamptz, written_at timestamptz)`;

/** `id [column=instant ...]`, instants as in `10-29T00:00`. */
interface External extends Orders {
  refuse(...entries: string[]): Promise<void>;
  /** Version 1 of the day in October, by the stream. */
  ship(day: string, orders: number, revenue: number, region?: string | null): Promise<void>;
  /** `id landing` of each entry; `-`: it waits. */
  entries(): Promise<string[]>;
}

interface Options extends OrdersOptions {
  readonly refused?: string;
}

async function openExternal(options: Options = {}): Promise<External> {
  const {
    refused = '{ table: stream.refused, window_start: ws, window_end: we, watermark: wm, refused_at: written_at }',
  } = options;
  const orders = await openOrders({
    watermark: `{ strategy: external, refused: ${refused} }`,
    seal: '{ by: stream }',
    policy: 'grace',
    ddl: `${plainTable}; ${refusedTable}`,
    ...options,
  });
  return {
    ...orders,
    refuse: async (...entries) => {
      for (const entry of entries) {
        const [id, ...said] = entry.split(' ');
        const columns = said.map((pair) => pair.split('=') as [string, string]);
        await orders.rows(
          `insert into stream.refused (${['order_id', ...columns.map(([name]) => name)].join(', ')})
           values (${['$1', ...columns.map((_, place) => `$${place + 2}`)].join(', ')})`,
          [id, ...columns.map(([, instant]) => `2026-${instant}Z`)],
        );
      }
    },
    ship: async (day, count, revenue, region = 'EU') => {
      const [start, end] = [`2026-10-${day}T00:00Z`, `2026-10-${Number(day) + 1}T00:00Z`];
      await orders.rows(
        'insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ($1, $2, $3, $4, $5)',
        [start, end, region, count, revenue.toFixed(2)],
      );
    },
    entries: async () =>
      (
        await orders.rows<{ line: string }>(
          `select concat_ws(' ', coalesce(event_id, 'NULL'), coalesce(landing, '-')) as line from errata.refused_entry order by event_id, window_start, refused_entry_id`,
        )
      ).map(({ line }) => line),
  };
}

const a = 'a 10-29 10:00 10-29 10:01';
const b = 'b 10-29 11:00 10-29 11:01';
const r = 'r 10-29 12:00 10-31 04:00 EU 7';
const day = 'ws=10-29T00:00 we=10-30T00:00';

const judged = (orders: Orders) =>
  orders.rows(
    'select event_id, landing, cause, watermark, state from gold.daily_orders_late_event order by event_id',
  );

describe('external: the refused rows of the stream are the side output (R2)', () => {
  test('a row that an entry names is refused, with the watermark that the stream wrote; a row that none names is open', async () => {
    const orders = await openExternal();
    await orders.land(a, b, r);
    await orders.refuse(`r ${day} wm=10-31T00:00`);
    await orders.ship('29', 2, 20);
    const { counts } = await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(counts).toMatchObject({ side_output: 1, stragglers: 0, refused_waiting: 0, events_pending: 1 });
    expect(await judged(orders)).toEqual([
      {
        event_id: 'r',
        landing: 'side_output',
        cause: 'refused',
        watermark: '2026-10-31 00:00:00+00',
        state: 'pending',
      },
    ]);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    expect(await orders.entries()).toEqual(['r side_output']);
    expect(
      await orders.rows(
        'select sealed_revenue, pending_revenue, restated_revenue from gold.daily_orders_reconciliation',
      ),
    ).toEqual([{ sealed_revenue: '20.00', pending_revenue: '7.00', restated_revenue: '27.00' }]);
  });

  test('without a watermark none is stored; under auto the row is published', async () => {
    const orders = await openExternal({ refused: 'stream.refused', policy: 'auto' });
    await orders.land(a, b, r);
    await orders.refuse('r');
    await orders.ship('29', 2, 20);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(await judged(orders)).toMatchObject([
      { landing: 'side_output', watermark: null, state: 'included' },
    ]);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 27.00 refused"]);
  });

  test('an entry whose row is not in bronze yet waits, is reported, and is taken up when the row comes', async () => {
    const orders = await openExternal();
    await orders.land(a, b);
    await orders.refuse(`r ${day} wm=10-31T00:00`);
    await orders.ship('29', 2, 20);
    const first = await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(first.counts).toMatchObject({ side_output: 0, refused_waiting: 1 });
    expect(await orders.entries()).toEqual(['r -']);
    await orders.land(r);
    const second = await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(second.counts).toMatchObject({ side_output: 1, stragglers: 0, refused_waiting: 0 });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
  });

  test('an entry that is written after its row was examined is taken up by the next run (R6)', async () => {
    const orders = await openExternal();
    await orders.land(a, b, r);
    await orders.ship('29', 2, 20);
    // the row looks as if the stream should have counted it: that is proposed
    const first = await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(first.counts).toMatchObject({ side_output: 0, windows_proposed: 1 });
    await orders.refuse(`r ${day}`);
    const second = await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(second.counts).toMatchObject({ side_output: 1, windows_proposed: 0, windows_blocked: 0 });
    expect(await judged(orders)).toMatchObject([{ event_id: 'r', landing: 'side_output', state: 'pending' }]);
    expect(await orders.rows('select state from errata.proposal')).toEqual([{ state: 'stale' }]);
    expect(await orders.rows('select count(*) from errata.daily_orders_touched')).toEqual([{ count: '0' }]);
    expect((await orders.run({ bound: '2026-10-31T07:00Z' })).counts).toMatchObject({ side_output: 0 });
  });

  test('one written before its window is sealed leaves the row out of what version 1 is compared with', async () => {
    const orders = await openExternal({ policy: 'auto' });
    await orders.land(a, b, r);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    await orders.refuse(`r ${day}`);
    await orders.ship('29', 2, 20);
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 27.00 refused"]);
  });

  test('a keyed window for which nothing shipped, and whose only row turns out to be refused, is void of proposals', async () => {
    const orders = await openExternal();
    await orders.land(a, 'r 10-29 12:00 10-31 04:00 US 7');
    await orders.ship('29', 1, 10);
    expect((await orders.run({ bound: '2026-10-31T05:00Z' })).counts).toMatchObject({ windows_proposed: 1 });
    await orders.refuse('r');
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(await orders.rows('select state from errata.proposal')).toEqual([{ state: 'stale' }]);
    expect(await judged(orders)).toMatchObject([{ event_id: 'r', landing: 'side_output', state: 'pending' }]);
  });

  test('what a version has counted stays what it was judged, and the entry says so (R6)', async () => {
    const orders = await openExternal({ policy: 'auto' });
    await orders.land(a, b);
    await orders.ship('29', 2, 20);
    await orders.run({ bound: '2026-10-31T03:00Z' });
    await orders.land(r);
    const straggling = await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(straggling.counts).toMatchObject({ stragglers: 1 });
    await orders.refuse(`r ${day}`);
    const { counts } = await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(counts).toMatchObject({
      side_output: 0,
      windows_corrected: 0,
      refused_waiting: 0,
      refused_judged_otherwise: 1,
    });
    expect(await judged(orders)).toMatchObject([
      { event_id: 'r', landing: 'open', cause: 'straggler', state: 'included' },
    ]);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 27.00 straggler"]);
    expect(await orders.entries()).toEqual(['r open']);
    expect((await orders.run({ bound: '2026-10-31T07:00Z' })).counts).toMatchObject({
      refused_judged_otherwise: 0,
    });
  });

  test('nor is a straggler that waits for its turn judged again', async () => {
    const orders = await openExternal({ policy: 'auto' });
    await orders.land('y 10-28 10:00 10-28 10:01', a);
    await orders.ship('28', 1, 10);
    await orders.ship('29', 1, 10);
    await orders.run({ bound: '2026-10-31T03:00Z' });
    await orders.land('x 10-28 12:00 10-31 04:00 EU 3', r);
    await orders.run({ bound: '2026-10-31T05:00Z', maxWindows: 1 });
    await orders.refuse(`r ${day}`);
    const { counts } = await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(counts).toMatchObject({ refused_judged_otherwise: 1 });
    expect((await orders.ledger()).at(-1)).toBe("10-29 'EU' v2 2 17.00 straggler");
  });

  test('nor is a row taken back that a seal mismatch has published', async () => {
    const orders = await openExternal({ policy: 'auto' });
    await orders.land(a, b, r);
    await orders.ship('29', 2, 20);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    await orders.refuse(`r ${day}`);
    const { counts } = await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(counts).toMatchObject({ refused_judged_otherwise: 1, windows_blocked: 0 });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00", "10-29 'EU' v2 3 27.00 seal_mismatch"]);
    await orders.land('s 10-29 13:00 10-31 06:30 EU 1');
    await orders.run({ bound: '2026-10-31T07:00Z' });
    expect((await orders.ledger()).at(-1)).toBe("10-29 'EU' v3 4 28.00 straggler");
  });

  test('a version 1 that counts a refused row includes it, also where the entry comes later (R10)', async () => {
    const orders = await openExternal();
    await orders.land(a, b, r);
    await orders.ship('29', 3, 27);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    await orders.refuse(`r ${day}`);
    const { counts } = await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(counts).toMatchObject({ side_output: 1, windows_blocked: 0 });
    expect(await judged(orders)).toMatchObject([
      { event_id: 'r', landing: 'side_output', state: 'included' },
    ]);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 3 27.00"]);
  });

  test('a straggler that the stream had counted makes no version', async () => {
    const orders = await openExternal();
    await orders.land(a);
    await orders.ship('29', 2, 20);
    expect((await orders.run({ bound: '2026-10-31T05:00Z' })).counts).toMatchObject({ windows_blocked: 1 });
    await orders.land(b);
    expect((await orders.run({ bound: '2026-10-31T06:00Z' })).counts).toMatchObject({ windows_blocked: 0 });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 2 20.00"]);
    expect(await judged(orders)).toEqual([]);
  });

  test('retried inserts are one entry, with the watermark of the first', async () => {
    const orders = await openExternal();
    await orders.land(a, r);
    await orders.refuse(
      `r ${day} wm=10-31T02:00 written_at=10-31T02:00`,
      `r ${day} wm=10-31T00:00 written_at=10-31T01:00`,
      `r ${day} wm=10-31T00:00 written_at=10-31T01:00`,
    );
    await orders.ship('29', 1, 10);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    await orders.refuse(`r ${day} wm=10-30T12:00 written_at=10-31T05:30`);
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(await orders.entries()).toEqual(['r side_output']);
    expect(await judged(orders)).toMatchObject([{ watermark: '2026-10-31 00:00:00+00' }]);
  });

  test('a copy of a refused row is no late event, whichever comes first', async () => {
    const orders = await openExternal();
    await orders.land(a, r, 'r 10-29 12:00 10-31 04:30 EU 7');
    await orders.refuse('r');
    await orders.ship('29', 1, 10);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    await orders.land('r 10-29 12:00 10-31 05:30 EU 7');
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(await orders.lateEvents()).toEqual(["r 'EU' side_output pending refused"]);
    expect(await orders.rows('select sum(copies)::text as copies from errata.daily_orders_copy')).toEqual([
      { copies: '2' },
    ]);
  });

  test('a quarantined row answers its entry', async () => {
    const orders = await openExternal();
    await orders.land(a, 'far 11-20 00:00 10-29 11:00');
    await orders.refuse('far ws=11-20T00:00 we=11-21T00:00');
    expect((await orders.run({ bound: '2026-10-31T05:00Z' })).counts).toMatchObject({
      quarantined: 1,
      refused_waiting: 0,
    });
    expect(await orders.entries()).toEqual(['far quarantined']);
  });

  test('event_time tells two rows with one id apart', async () => {
    const orders = await openExternal({ refused: '{ table: stream.refused, event_time: ordered_at }' });
    await orders.land(a, 'r 10-28 12:00 10-28 12:01', r);
    await orders.refuse('r ordered_at=10-29T12:00');
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(
      await orders.rows(
        "select event_id, window_start from gold.daily_orders_late_event where landing = 'side_output'",
      ),
    ).toEqual([{ event_id: 'r', window_start: '2026-10-29 00:00:00+00' }]);
  });

  test('an entry that names another window than its row has waits', async () => {
    const orders = await openExternal();
    await orders.land(a, r);
    await orders.refuse('r ws=10-28T00:00 we=10-29T00:00');
    expect((await orders.run({ bound: '2026-10-31T05:00Z' })).counts).toMatchObject({
      side_output: 0,
      refused_waiting: 1,
    });
  });

  test('an entry without an id waits, once', async () => {
    const orders = await openExternal();
    await orders.land(a);
    await orders.rows('insert into stream.refused (wm) values (null), (null)');
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect((await orders.run({ bound: '2026-10-31T06:00Z' })).counts).toMatchObject({ refused_waiting: 1 });
  });

  test('keys that are NULL, and several columns that identify a row', async () => {
    const orders = await openExternal({
      bronze:
        '{ table: bronze.orders, identified_by: [order_id, region], event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }',
      ddl: `${plainTable}; ${refusedTable}; alter table stream.refused add "Odd ""Region" text`,
      refused: `{ table: stream.refused, event_id: [order_id, 'Odd "Region'], window_start: ws }`,
    });
    await orders.land('a 10-29 10:00 10-29 10:01 NULL', 'r 10-29 12:00 10-31 04:00 NULL 7', r);
    await orders.refuse('r ws=10-29T00:00');
    await orders.ship('29', 1, 10, null);
    await orders.ship('29', 1, 7);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    await orders.refuse('a ws=10-29T00:00');
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(await orders.lateEvents()).toEqual([
      '(a,) NULL side_output pending refused',
      '(r,) NULL side_output pending refused',
    ]);
  });

  test('hopping: refused in the window that is named, open in the others; without a window, in all', async () => {
    const orders = await openExternal({
      window: '{ hopping: 2 days, every: 1 day }',
      refused: '{ table: stream.refused, window_end: we }',
    });
    await orders.land('r 10-29 12:00 10-31 04:00', 's 10-29 12:00 10-31 04:00');
    await orders.refuse('r we=10-30T00:00', 's');
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(
      await orders.rows(
        `select event_id || to_char(window_end at time zone 'UTC', ' MM-DD') as line from gold.daily_orders_late_event order by 1`,
      ),
    ).toEqual([{ line: 'r 10-30' }, { line: 's 10-30' }, { line: 's 10-31' }]);
  });
});

describe('external, over sessions: an entry names a row, whatever session the stream had it in (R6s)', () => {
  const ship = (orders: Orders, from: string, to: string, count: number, revenue: string) =>
    orders.rows(
      "insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ($1, $2, 'EU', $3, $4)",
      [`2026-${from}Z`, `2026-${to}Z`, count, revenue],
    );

  test('it is refused in the session that it makes by itself; a copy answers its entry too', async () => {
    const orders = await openExternal({
      window: '{ session_gap: 2 hours }',
      refused:
        '{ table: stream.refused, event_time: ordered_at, window_start: ws, window_end: we, watermark: wm }',
    });
    await orders.land(a, b, r);
    await orders.refuse('r ws=10-29T10:00 we=10-29T14:00 wm=10-30T00:00');
    await ship(orders, '10-29T10:00', '10-29T13:00', 2, '20.00');
    const { counts } = await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(counts).toMatchObject({ side_output: 1, refused_waiting: 0, windows_blocked: 0 });
    expect(await judged(orders)).toMatchObject([
      { event_id: 'r', landing: 'side_output', watermark: '2026-10-30 00:00:00+00', state: 'pending' },
    ]);
    expect(await orders.entries()).toEqual(['r side_output']);
    await orders.land('a 10-29 10:05 10-31 05:30');
    await orders.refuse('a ordered_at=10-29T10:05 wm=10-30T00:00');
    expect((await orders.run({ bound: '2026-10-31T06:00Z' })).counts).toMatchObject({ refused_waiting: 0 });
    expect(await orders.entries()).toEqual(['a copy', 'r side_output']);
    expect((await orders.ledger()).length).toBe(1);
  });

  test('what has joined a session before its entry came stays in it, and the entry says so (R6)', async () => {
    const orders = await openExternal({ window: '{ session_gap: 2 hours }' });
    await orders.land(a, b);
    await orders.run({ bound: '2026-10-29T12:00Z' });
    await orders.refuse('b wm=10-30T00:00');
    expect((await orders.run({ bound: '2026-10-31T06:00Z' })).counts).toMatchObject({
      side_output: 0,
      refused_waiting: 0,
      refused_judged_otherwise: 1,
    });
    expect(await orders.entries()).toEqual(['b open']);
  });

  test('a total that lies within a sealed session of ours becomes void: its rows are counted there', async () => {
    const orders = await openExternal({ window: '{ session_gap: 2 hours }', policy: 'auto' });
    await orders.land(a, b, 'c 10-29 12:30 10-29 12:31');
    await ship(orders, '10-29T11:00', '10-29T13:00', 1, '10.00');
    await ship(orders, '10-29T10:00', '10-29T14:30', 3, '30.00');
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(
      await orders.rows(
        "select to_char(window_start at time zone 'UTC', 'HH24:MI') as start, version, orders, is_void, causes from gold.daily_orders order by window_start, version",
      ),
    ).toEqual([
      { start: '10:00', version: 1, orders: '3', is_void: false, causes: [] },
      { start: '11:00', version: 1, orders: '1', is_void: false, causes: [] },
      { start: '11:00', version: 2, orders: null, is_void: true, causes: ['seal_mismatch'] },
    ]);
  });
});

describe('external: what the stream has sealed says how far its watermark had come (R8)', () => {
  const sealedUntil = async (orders: Orders) =>
    (await orders.rows<{ sealed: string }>('select sealed_until as sealed from errata.rollup'))[0]?.sealed;

  test('a version 1 seals every window up to its end, whoever had rows there', async () => {
    const orders = await openExternal({ policy: 'auto' });
    await orders.land(a, b, 'c 10-28 10:00 10-28 10:01 US 3', 'd 10-30 10:00 10-30 10:01');
    await orders.ship('29', 2, 20);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-30 00:00:00+00');
    expect(await orders.ledger()).toEqual(["10-28 'US' v2 1 3.00 seal_mismatch", "10-29 'EU' v1 2 20.00"]);
  });

  test('seal.after waits in ingested_at', async () => {
    const orders = await openExternal({ seal: '{ by: stream, after: 15 minutes }' });
    await orders.land(a, b);
    await orders.ship('29', 2, 20);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(await sealedUntil(orders)).toBe(null);
    await orders.run({ bound: '2026-10-31T05:15Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-30 00:00:00+00');
  });

  test('the watermark of an entry seals too', async () => {
    const orders = await openExternal();
    await orders.land(a, b);
    await orders.refuse(`r ${day} wm=10-31T00:00 written_at=10-31T04:00`);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-31 00:00:00+00');
  });

  test('totals and refusals that lie further ahead than a watermark can seal nothing, and are reported', async () => {
    const orders = await openExternal({ policy: 'auto' });
    await orders.land(a, b);
    await orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2999-10-29T00:00Z', '2999-10-30T00:00Z', 'EU', 1, 1)`,
    );
    await orders.rows(
      `insert into stream.refused values ('f', null, null, null, '2999-01-01', '2026-10-31 04:00+00'), ('g', null, null, null, 'infinity', null)`,
    );
    const { counts } = await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(counts).toMatchObject({ stream_ahead: 2, windows_corrected: 0 });
    expect(await sealedUntil(orders)).toBe(null);
    await orders.ship('29', 2, 20);
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-30 00:00:00+00');
  });

  test('max_future_skew: none takes the stream at its word', async () => {
    const orders = await openExternal({
      watermark:
        '{ strategy: external, refused: { table: stream.refused, watermark: wm }, max_future_skew: none }',
    });
    await orders.land(a);
    await orders.refuse('f wm=11-05T00:00');
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(await sealedUntil(orders)).toBe('2026-11-05 00:00:00+00');
  });

  test('a total that was written out of order lowers nothing, and one seen late still seals', async () => {
    const orders = await openExternal();
    await orders.land(a, b);
    await orders.ship('29', 2, 20);
    await orders.run({ bound: '2026-10-31T05:00Z' });
    await orders.ship('27', 1, 1);
    await orders.run({ bound: '2026-10-31T06:00Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-30 00:00:00+00');
    await orders.refuse('late wm=10-31T00:00 written_at=10-31T01:00');
    await orders.run({ bound: '2026-10-31T07:00Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-31 00:00:00+00');
    expect(await orders.rows('select watermark from errata.watermark_step order by at')).toEqual([
      { watermark: '2026-10-30 00:00:00+00' },
      { watermark: '2026-10-31 00:00:00+00' },
    ]);
  });

  test('totals adopted from a table seal as the stream writes them', async () => {
    const orders = await openExternal({
      seal: '{ from: stream.total, after: 15 minutes }',
      ddl: `${plainTable}; ${refusedTable}; create table stream.total (window_start timestamptz, region text, orders bigint, revenue numeric(12,2))`,
    });
    await orders.land(a, b, r);
    await orders.refuse(`r ${day}`);
    await orders.rows(
      `insert into stream.total values ('2026-10-29T00:00Z', 'EU', 2, 20), ('2026-10-28T00:00Z', 'EU', 0, 0), ('2999-01-01T00:00Z', 'EU', 1, 1), (null, 'EU', 1, 1)`,
    );
    expect((await orders.run({ bound: '2026-10-31T05:00Z' })).counts).toMatchObject({
      windows_sealed: 0,
      stream_ahead: 1,
    });
    await orders.run({ bound: '2026-10-31T05:30Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-30 00:00:00+00');
    expect((await orders.ledger()).filter((line) => line.includes('10-29'))).toEqual([
      "10-29 'EU' v1 2 20.00",
    ]);
    expect(await judged(orders)).toMatchObject([{ event_id: 'r', landing: 'side_output', state: 'pending' }]);
  });

  test('calendar days with a change of the clock, and a run repeated at its bound', async () => {
    const orders = await openExternal({
      window: '{ calendar: 1 day, time_zone: Europe/Berlin }',
      refused: '{ table: stream.refused, window_start: ws }',
    });
    await orders.land('a 10-25 10:00 10-25 10:01', 'r 10-25 11:00 10-27 10:01');
    await orders.refuse('r ws=10-24T22:00');
    await orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-24T22:00Z', '2026-10-25T23:00Z', 'EU', 1, 10.00)`,
    );
    await orders.run({ bound: '2026-10-31T05:00Z' });
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-25 23:00:00+00');
    expect(await orders.lateEvents()).toEqual(["r 'EU' side_output pending refused"]);
    expect(await orders.ledger()).toEqual(["10-24 'EU' v1 1 10.00"]);
  });

  test('hopping windows: the end of each says how far', async () => {
    const orders = await openExternal({ window: '{ hopping: 2 days, every: 1 day }', policy: 'auto' });
    await orders.land(a);
    await orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-28T00:00Z', '2026-10-30T00:00Z', 'EU', 1, 10.00)`,
    );
    await orders.run({ bound: '2026-10-31T05:00Z' });
    expect(await sealedUntil(orders)).toBe('2026-10-30 00:00:00+00');
    expect(await orders.ledger()).toEqual(["10-28 'EU' v1 1 10.00"]);
  });
});
