/** Proposals over sessions (R6s, R10): what a session would publish and what it replaces are decided as one. Figures by hand. */
import { beforeAll, describe, expect, test } from 'vitest';
import { approve } from '../../src/commands/approve.ts';
import { review } from '../../src/commands/review.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { approveProposals, rejectProposals } from '../../src/publication/decide.ts';
import { closePeriod } from '../../src/publication/periods.ts';
import { releaseQuarantined } from '../../src/publication/quarantine.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { restateWindows } from '../../src/publication/restate.ts';
import { call } from '../report/verb-context.ts';
import { openErrata } from '../support/errata.ts';
import { type Orders, type OrdersOptions, openOrders, ordersYaml } from '../support/orders.ts';
import { reconciled, windowLines } from '../support/reconcile.ts';

const word = { actor: 'kim', reason: 'checked' };
const gap = { window: '{ session_gap: 30 minutes }', watermark: '{ strategy: bounded, delay: 0 }' };
const open = (options: OrdersOptions = {}) => openOrders({ ...gap, lateness: '3 hours', ...options });
const at = (time: string) => ({ bound: `2026-11-02T${time}:00Z` });

/** `start–end vN orders revenue causes`, of a key. */
const ledgerOf = async (orders: Orders, region = 'EU') =>
  (
    await orders.rows<{ line: string }>(
      `select concat_ws(' ', to_char(window_start at time zone 'UTC', 'HH24:MI') || '–' || to_char(window_end at time zone 'UTC', 'HH24:MI'), 'v' || version,
         case when is_void then 'void' else orders || ' ' || revenue end, nullif(array_to_string(causes, '+'), '')) as line
       from gold.daily_orders where region = $1 order by window_start, window_end, version`,
      [region],
    )
  ).map((row) => row.line);

/** `start–end orders revenue causes`, open ones. */
const proposed = async (orders: Orders, region = 'EU') =>
  (
    await orders.rows<{ line: string }>(
      `select concat_ws(' ', to_char(window_start at time zone 'UTC', 'HH24:MI') || '–' || to_char(window_end at time zone 'UTC', 'HH24:MI'),
         case when event_count = 0 then 'void' else concat_ws(' ', measures ->> 'orders', measures ->> 'revenue') end, array_to_string(causes, '+')) as line
       from errata.proposal where state = 'open' and key ->> 0 = $1 order by window_start, window_end`,
      [region],
    )
  ).map((row) => row.line);

/** R14, and nothing unexplained by counting anew. @returns the sums of a key. */
async function addsUp(orders: Orders, region = 'EU') {
  const [sums] = await orders.rows<Record<string, string>>(
    `select sum(latest_revenue)::text as latest, sum(pending_revenue)::text as pending, sum(held_revenue)::text as held, sum(waived_revenue)::text as waived,
       (sum(restated_revenue) - (select sum(amount) from (select distinct on (order_id) amount from bronze.orders where region = $1) as b))::text as beyond,
       count(*) filter (where latest_revenue + pending_revenue + held_revenue + waived_revenue <> restated_revenue or sealed_revenue + corrections_revenue <> latest_revenue)::text as wrong
     from gold.daily_orders_reconciliation where region = $1`,
    [region],
  );
  expect(sums).toMatchObject({ wrong: '0' });
  expect(Number(sums?.beyond)).toBe(0);
  expect(windowLines(await reconciled(orders)).filter((line) => line.includes('unexplained'))).toEqual([]);
  return {
    latest: Number(sums?.latest),
    pending: Number(sums?.pending),
    held: Number(sums?.held),
    waived: Number(sums?.waived),
  };
}

/** Two sealed sessions of EU, 10.00 and 20.00; the watermark at 12:00. */
async function two(options: OrdersOptions = {}): Promise<Orders> {
  const orders = await open(options);
  await orders.land(
    'a 11-02 10:00 11-02 10:00',
    'c 11-02 10:50 11-02 10:50 EU 20',
    'w 11-02 12:00 11-02 12:00 US 1',
    'w2 11-02 13:00 11-02 12:00 US 1',
  );
  await orders.run(at('12:01'));
  return orders;
}
const sealed = ['10:00–10:30 v1 1 10.00', '10:50–11:20 v1 1 20.00'];
const bridge = 'b 11-02 10:25 11-02 12:02 EU 5';
const merged = (cause: string) => [
  '10:00–10:30 v1 1 10.00',
  `10:00–10:30 v2 void ${cause}`,
  `10:00–11:20 v2 3 35.00 ${cause}`,
  '10:50–11:20 v1 1 20.00',
  `10:50–11:20 v2 void ${cause}`,
];

type Policy = 'auto' | 'grace' | 'review';
type Outcome = 'publish' | 'pending' | 'propose' | 'nothing';

/** R10 cause by cause, each under a key of its own, of which a session shipped 1 order and 10.00: what it asks for. */
const table: readonly {
  cause: string;
  wants: readonly string[];
  outcome: Readonly<Record<Policy, Outcome>>;
}[] = [
  {
    cause: 'late_firing',
    wants: ['10:00–10:30 void', '10:00–10:40 2 17.00'],
    outcome: { auto: 'publish', grace: 'publish', review: 'propose' },
  },
  {
    cause: 'straggler',
    wants: ['10:00–10:30 void', '10:00–10:40 2 17.00'],
    outcome: { auto: 'publish', grace: 'publish', review: 'propose' },
  },
  {
    cause: 'refused',
    wants: ['05:00–05:30 void', '05:00–05:40 2 17.00'],
    outcome: { auto: 'publish', grace: 'pending', review: 'propose' },
  },
  {
    cause: 'source_change',
    wants: ['10:00–10:30 1 4.00'],
    outcome: { auto: 'publish', grace: 'propose', review: 'propose' },
  },
  {
    cause: 'quarantine_release',
    wants: ['10:00–10:30 void', '10:00–10:40 2 17.00'],
    outcome: { auto: 'publish', grace: 'propose', review: 'propose' },
  },
  {
    cause: 'seal_mismatch',
    wants: ['10:00–10:30 1 10.00'],
    outcome: { auto: 'publish', grace: 'propose', review: 'propose' },
  },
  {
    cause: 'stream_emission',
    wants: ['10:00–10:30 2 17.00'],
    outcome: { auto: 'publish', grace: 'publish', review: 'publish' },
  },
  { cause: 'definition', wants: [], outcome: { auto: 'nothing', grace: 'nothing', review: 'nothing' } },
];

describe.each(['auto', 'grace', 'review'] as const)('the table of R10 over sessions, under %s', (policy) => {
  let bySelf: Orders;
  let byStream: Orders;

  beforeAll(async () => {
    const amend = (orders: Pick<Orders, 'control' | 'rollup'>, region: string) =>
      amendWindows(
        orders.control,
        orders.rollup,
        { ...word, windowFrom: '2026-11-02T10:00Z', windowTo: '2026-11-02T10:01Z', key: { region } },
        at('12:03'),
      );
    bySelf = await open({ policy });
    const regions = ['late_firing', 'straggler', 'source_change', 'quarantine_release', 'definition'];
    await bySelf.land(
      'refused 11-02 05:00 11-02 05:00 refused',
      ...regions.map((region) => `${region} 11-02 10:00 11-02 10:00 ${region}`),
      'w 11-02 12:00 11-02 12:00 US 1',
    );
    await bySelf.run(at('12:01'));
    await bySelf.land(
      'x1 11-02 10:10 11-02 12:02 late_firing 7',
      'x2 11-02 10:10 11-02 10:20 straggler 7',
      'x3 11-02 05:10 11-02 12:02 refused 7',
      'x4 11-02 10:10 11-02 08:00 quarantine_release 7',
    );
    await bySelf.run(at('12:03'));
    await bySelf.rows(`update bronze.orders set amount = 4 where order_id = 'source_change'`);
    await amend(bySelf, 'source_change');
    await releaseQuarantined(bySelf.control, bySelf.rollup, { ...word, eventIds: ['x4'] }, at('12:03'));
    const changed = await openErrata(
      bySelf.database,
      ordersYaml({
        ...gap,
        lateness: '3 hours',
        policy,
        measures: '{ orders: count(*), revenue: sum(amount), most: max(amount) }',
      }),
    );
    await amend(changed, 'definition');

    byStream = await open({ policy, seal: '{ by: stream }' });
    const ship = (region: string, count: number, revenue: number) =>
      byStream.rows(
        `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-11-02T10:00Z', '2026-11-02T10:30Z', $1, $2, $3)`,
        [region, count, revenue.toFixed(2)],
      );
    await byStream.land(
      'm 11-02 10:00 11-02 10:00 seal_mismatch',
      'e 11-02 10:00 11-02 10:00 stream_emission',
      'w 11-02 12:00 11-02 12:00 US 1',
    );
    await ship('seal_mismatch', 1, 9);
    await ship('stream_emission', 1, 10);
    await byStream.run(at('12:03'));
    await ship('stream_emission', 2, 17);
    await byStream.run(at('12:04'));
  }, 60_000);

  test.each(table.map((row) => ({ ...row, becomes: row.outcome[policy] })))(
    '$cause: $becomes',
    async ({ cause, wants, becomes }) => {
      const orders = cause === 'seal_mismatch' || cause === 'stream_emission' ? byStream : bySelf;
      const versions = (await ledgerOf(orders, cause))
        .filter((line) => !line.includes(' v1 '))
        .map((line) => line.replace(' v2', ''));
      const asks = wants.map((line) => `${line} ${cause}`);
      expect({ versions, proposed: await proposed(orders, cause) }).toEqual({
        versions: becomes === 'publish' ? asks : [],
        proposed: becomes === 'propose' ? asks : [],
      });
      if (becomes === 'pending')
        expect(
          await orders.rows('select state, released from gold.daily_orders_late_event where region = $1', [
            cause,
          ]),
        ).toEqual([{ state: 'pending', released: false }]);
      if (orders === bySelf) await addsUp(orders, cause);
    },
  );
});

describe('sessions that a late row bridges, under review', () => {
  const asked = [
    '10:00–10:30 void late_firing',
    '10:00–11:20 3 35.00 late_firing',
    '10:50–11:20 void late_firing',
  ];

  test('the proposal names the session and what it would replace; nothing is published', async () => {
    const orders = await two({ policy: 'review' });
    await orders.land(bridge);
    await orders.run(at('12:03'));
    expect(await ledgerOf(orders)).toEqual(sealed);
    expect(await proposed(orders)).toEqual(asked);
    expect(
      await orders.rows(
        `select replaces, replaced_by from errata.proposal order by window_end - window_start desc limit 1`,
      ),
    ).toEqual([
      {
        replaces: [
          { window_start: '2026-11-02 10:00:00+00', window_end: '2026-11-02 10:30:00+00' },
          { window_start: '2026-11-02 10:50:00+00', window_end: '2026-11-02 11:20:00+00' },
        ],
        replaced_by: null,
      },
    ]);
    const { text } = await call(review, orders, [], {});
    expect(text).toContain('replaces 2026-11-02 10:00Z to 10:30Z, 2026-11-02 10:50Z to 11:20Z');
    expect(text).toContain('its rows are in 2026-11-02 10:00Z to 11:20Z');
    expect(await addsUp(orders)).toEqual({ latest: 30, pending: 5, held: 0, waived: 0 });
    // a further run proposes nothing anew
    await orders.run(at('12:04'));
    expect(await orders.rows('select count(*)::int as proposals from errata.proposal')).toEqual([
      { proposals: 3 },
    ]);
  });

  test('approved by any one of them, all are published in one run, linked', async () => {
    const orders = await two({ policy: 'review' });
    await orders.land(bridge);
    await orders.run(at('12:03'));
    const report = await approveProposals(
      orders.control,
      orders.rollup,
      {
        ...word,
        windowFrom: '2026-11-02T10:50Z',
        windowTo: '2026-11-02T10:51Z',
      },
      at('12:04'),
    );
    expect(report).toMatchObject({ approved: 3, stale: [] });
    expect(await ledgerOf(orders)).toEqual(merged('late_firing'));
    expect(
      await orders.rows(
        `select distinct run_id is not null as is_of_run, stamp = (select max(stamp) from gold.daily_orders) as is_at_once, approver, reason from gold.daily_orders where version > 1`,
      ),
    ).toEqual([{ is_of_run: true, is_at_once: true, approver: 'kim', reason: 'checked' }]);
    expect(
      await orders.rows('select replaces from gold.daily_orders where replaces is not null'),
    ).toMatchObject([
      { replaces: [{ window_end: '2026-11-02 10:30:00+00' }, { window_end: '2026-11-02 11:20:00+00' }] },
    ]);
    expect(await proposed(orders)).toEqual([]);
    expect(await addsUp(orders)).toEqual({ latest: 35, pending: 0, held: 0, waived: 0 });
  });

  test('where a later row has moved the bounds it is stale, says what changed, and is proposed anew', async () => {
    const orders = await two({ policy: 'review' });
    await orders.land(bridge);
    await orders.run(at('12:03'));
    await orders.land('d 11-02 11:15 11-02 12:04 EU 2');
    const report = await approveProposals(orders.control, orders.rollup, word, at('12:05'));
    expect(report).toMatchObject({ approved: 0, corrections: 0 });
    const now = 'the session from 2026-11-02 10:00:00+00 to 2026-11-02 11:45:00+00';
    expect(report.stale.map(({ window_start: start, why }) => [start.slice(11, 16), why])).toEqual([
      ['10:00', `it goes with ${now}`],
      ['10:00', `a later row has moved the bounds: its rows are in ${now}`],
      ['10:50', `it goes with ${now}`],
    ]);
    expect(await ledgerOf(orders)).toEqual(sealed);
    // what waits in the queue is proposed by the next run, if not by this one
    await orders.run(at('12:06'));
    expect(await proposed(orders)).toEqual([
      '10:00–10:30 void late_firing',
      '10:00–11:45 4 37.00 late_firing',
      '10:50–11:20 void late_firing',
    ]);
    expect(await addsUp(orders)).toMatchObject({ latest: 30, pending: 7 });
    expect(await approveProposals(orders.control, orders.rollup, word, at('12:07'))).toMatchObject({
      approved: 3,
      stale: [],
    });
    expect(await ledgerOf(orders)).toEqual([
      '10:00–10:30 v1 1 10.00',
      '10:00–10:30 v2 void late_firing',
      '10:00–11:45 v2 4 37.00 late_firing',
      '10:50–11:20 v1 1 20.00',
      '10:50–11:20 v2 void late_firing',
    ]);
    expect(await addsUp(orders)).toMatchObject({ latest: 37, pending: 0 });
  });

  test('the command says so, with exit code 3', async () => {
    const orders = await two({ policy: 'review' });
    await orders.land(bridge);
    await orders.run();
    await orders.land('d 11-02 11:15 11-02 12:04 EU 2');
    const { exitCode, text } = await call(approve, orders, ['daily_orders'], { ...word, all: true });
    expect(exitCode).toBe(3);
    expect(text).toContain('stale, nothing of it was published');
    expect(text).toContain('a later row has moved the bounds');
  });

  test('rejected, what shipped stands, and is not proposed again; a further row is, with what was rejected', async () => {
    const orders = await two({ policy: 'review' });
    await orders.land(bridge);
    await orders.run(at('12:03'));
    expect(await rejectProposals(orders.control, orders.rollup, word)).toMatchObject({
      rejected: 3,
      waived: 1,
    });
    expect(await ledgerOf(orders)).toEqual(sealed);
    expect(await addsUp(orders)).toEqual({ latest: 30, pending: 0, held: 0, waived: 5 });
    await orders.run(at('12:04'));
    expect(await proposed(orders)).toEqual([]);
    await orders.land('d 11-02 10:55 11-02 12:05 EU 2');
    await orders.run(at('12:06'));
    expect(await proposed(orders)).toEqual([
      '10:00–10:30 void late_firing',
      '10:00–11:25 3 32.00 late_firing',
      '10:50–11:20 void late_firing',
    ]);
    expect(await addsUp(orders)).toEqual({ latest: 30, pending: 2, held: 0, waived: 5 });
    expect(await approveProposals(orders.control, orders.rollup, word, at('12:07'))).toMatchObject({
      stale: [],
    });
    expect(await addsUp(orders)).toEqual({ latest: 32, pending: 0, held: 0, waived: 5 });
  });

  test('restated while it is proposed: refused, the proposals come first', async () => {
    const orders = await two({ policy: 'review' });
    await orders.land(bridge);
    await orders.run(at('12:03'));
    await expect(
      restateWindows(orders.control, orders.rollup, {
        ...word,
        windowFrom: '2026-11-02T10:00Z',
        windowTo: '2026-11-02T10:01Z',
      }),
    ).rejects.toMatchObject({ message: '2 keyed windows cannot be restated; nothing was done', exitCode: 3 });
  });
});

describe('a session that is extended before its end', () => {
  test('its rows ship in version 1 of the longer one: it is void without anybody’s word', async () => {
    const orders = await open({
      policy: 'review',
      publish: 'review_beyond: { revenue: 1 }',
      lateness: '1 hour',
    });
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'w 11-02 10:31 11-02 10:31 US 1',
      'b 11-02 10:20 11-02 10:32',
    );
    await orders.run(at('10:40'));
    await orders.land('end 11-02 15:00 11-02 15:00 US 1');
    await orders.run(at('16:00'));
    expect(await ledgerOf(orders)).toEqual([
      '10:00–10:30 v1 1 10.00',
      '10:00–10:30 v2 void late_firing',
      '10:00–10:50 v1 2 20.00',
    ]);
    expect(await proposed(orders)).toEqual([]);
  });

  test('also where it was proposed before', async () => {
    const orders = await open({ policy: 'review', lateness: '3 hours' });
    await orders.land(
      'a 11-02 10:00 11-02 10:00',
      'w 11-02 11:00 11-02 11:00 US 1',
      'x 11-02 10:10 11-02 11:01 EU 7',
    );
    await orders.run(at('11:02'));
    expect(await proposed(orders)).toEqual([
      '10:00–10:30 void late_firing',
      '10:00–10:40 2 17.00 late_firing',
    ]);
    await orders.land('y 11-02 10:35 11-02 11:03 EU 3');
    await orders.run(at('11:04'));
    await orders.land('end 11-02 15:00 11-02 15:00 US 1');
    await orders.run(at('16:00'));
    expect(await ledgerOf(orders)).toEqual([
      '10:00–10:30 v1 1 10.00',
      '10:00–10:30 v2 void late_firing',
      '10:00–11:05 v1 3 20.00',
    ]);
    expect(await proposed(orders)).toEqual([]);
    expect(await addsUp(orders)).toMatchObject({ pending: 0 });
  });
});

describe('thresholds and horizon', () => {
  test.each([
    // 35 beside the 30 of the two that it replaces
    ['revenue: 5', 'publish'],
    ['revenue: 4.99', 'propose'],
  ])('review_beyond: { %s }, measured from what the session replaces: %s', async (limit, becomes) => {
    const orders = await two({ policy: 'auto', publish: `review_beyond: { ${limit} }` });
    await orders.land(bridge);
    await orders.run(at('12:03'));
    expect(await ledgerOf(orders)).toEqual(becomes === 'publish' ? merged('late_firing') : sealed);
    expect(await proposed(orders)).toHaveLength(becomes === 'publish' ? 0 : 3);
    await addsUp(orders);
    if (becomes === 'publish') return;
    await approveProposals(orders.control, orders.rollup, word, at('12:04'));
    expect(await ledgerOf(orders)).toEqual(merged('late_firing'));
    // from then on it is measured from what was approved
    await orders.land('d 11-02 10:40 11-02 12:05 EU 4');
    await orders.run(at('12:06'));
    expect((await ledgerOf(orders))[3]).toBe('10:00–11:20 v3 4 39.00 late_firing');
  });

  test('a later row that brings it back below the threshold publishes all of it', async () => {
    const orders = await two({ policy: 'auto', publish: 'review_beyond: { revenue: 4.99 }' });
    await orders.land(bridge);
    await orders.run(at('12:03'));
    expect(await proposed(orders)).toHaveLength(3);
    await orders.land('d 11-02 10:40 11-02 12:05 EU -3');
    await orders.run(at('12:06'));
    expect(await proposed(orders)).toEqual([]);
    expect(await addsUp(orders)).toEqual({ latest: 32, pending: 0, held: 0, waived: 0 });
  });

  test('a horizon: the session that results says how old it is', async () => {
    for (const [horizon, proposals] of [
      ['30 minutes', 3],
      ['2 hours', 0],
    ] as const) {
      const orders = await two({ policy: 'auto', publish: `horizon: ${horizon}` });
      await orders.land(bridge);
      await orders.run(at('12:03'));
      expect(await proposed(orders)).toHaveLength(proposals);
    }
  });

  test('a refused row that a person releases is that person’s word, whatever the threshold', async () => {
    const orders = await two({
      policy: 'grace',
      lateness: '0',
      publish: 'review_beyond: { revenue: 1 }, horizon: 10 minutes',
    });
    await orders.land(bridge);
    await orders.run(at('12:03'));
    expect(await ledgerOf(orders)).toEqual(sealed);
    await releaseEvents(orders.control, orders.rollup, word, at('12:04'));
    expect(await ledgerOf(orders)).toEqual(merged('refused'));
    expect(await orders.rows('select distinct approver from gold.daily_orders where version > 1')).toEqual([
      { approver: 'kim' },
    ]);
  });
});

test('in a closed period all of it is held', async () => {
  const orders = await two({ policy: 'auto' });
  await closePeriod(orders.control, orders.rollup, { ...word, period: '2026-11', isForced: true });
  await orders.land(bridge);
  await orders.run();
  expect(await ledgerOf(orders)).toEqual(sealed);
  expect(
    await orders.rows('select is_held, count(*)::int as proposals from errata.proposal group by 1'),
  ).toEqual([{ is_held: true, proposals: 3 }]);
  expect(await addsUp(orders)).toEqual({ latest: 30, pending: 0, held: 5, waived: 0 });
});
