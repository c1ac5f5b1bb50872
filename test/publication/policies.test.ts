/** Who publishes (R10): the whole table, cause by cause and policy by policy. Figures are worked out by hand. */
import { describe, expect, test } from 'vitest';
import { amendWindows } from '../../src/publication/amend.ts';
import { releaseQuarantined } from '../../src/publication/quarantine.ts';
import { restateWindows } from '../../src/publication/restate.ts';
import { openErrata } from '../support/errata.ts';
import { type Orders, type OrdersOptions, openOrders, ordersYaml } from '../support/orders.ts';
import { expectAddsUp } from './adds-up.ts';

const pass = ['p 10-30 02:00 10-30 02:01 ZZ 1', 'q 10-31 03:00 10-31 03:01 ZZ 1'];
const first = ['a 10-29 10:00 10-29 10:01 EU 10', 'b 10-29 11:00 10-29 11:01 EU 20'];
const at = { bound: '2026-10-31T05:00Z' };
const later = { bound: '2026-10-31T06:00Z' };
const word = { actor: 'kim', reason: 'a test order' };
const day = { windowFrom: '2026-10-29T00:00Z', windowTo: '2026-10-30T00:00Z' };
/** The stream's totals: of the 29th as given, of the 30th as bronze has it. */
const emit = (orders: Orders, count: number, revenue: number) =>
  orders.rows(
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
     values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', 'EU', $1, $2), ('2026-10-30T00:00Z', '2026-10-31T00:00Z', 'ZZ', 1, 1)`,
    [count, revenue.toFixed(2)],
  );

type Policy = 'auto' | 'grace' | 'review';
type Outcome = 'publish' | 'pending' | 'propose' | 'nothing';

interface Cause {
  readonly cause: string;
  readonly options?: OrdersOptions;
  /** From a sealed day of 2 orders and 30.00 to what the cause makes of it. */
  readonly happen: (orders: Orders, policy: Policy) => Promise<unknown>;
  /** Orders and revenue that it asks for. */
  readonly wants: string;
  readonly outcome: Readonly<Record<Policy, Outcome>>;
}

const byStream = { seal: '{ by: stream, after: 0 }' };

const table: readonly Cause[] = [
  {
    cause: 'late_firing',
    options: { lateness: '72 hours' },
    happen: async (orders) => {
      await orders.land('x 10-29 12:00 10-31 05:30 EU 7');
      return orders.run(later);
    },
    wants: '3 37.00',
    outcome: { auto: 'publish', grace: 'publish', review: 'propose' },
  },
  {
    cause: 'straggler',
    happen: async (orders) => {
      await orders.land('x 10-29 12:00 10-29 12:01 EU 7');
      return orders.run(later);
    },
    wants: '3 37.00',
    outcome: { auto: 'publish', grace: 'publish', review: 'propose' },
  },
  {
    cause: 'refused',
    options: { lateness: '0' },
    happen: async (orders) => {
      await orders.land('x 10-29 12:00 10-31 05:30 EU 7');
      return orders.run(later);
    },
    wants: '3 37.00',
    outcome: { auto: 'publish', grace: 'pending', review: 'propose' },
  },
  {
    cause: 'source_change',
    happen: async (orders) => {
      await orders.rows(`delete from bronze.orders where order_id = 'b'`);
      return amendWindows(orders.control, orders.rollup, { ...word, ...day }, later);
    },
    wants: '1 10.00',
    outcome: { auto: 'publish', grace: 'propose', review: 'propose' },
  },
  {
    cause: 'quarantine_release',
    happen: async (orders) => {
      // its clock is ahead by more than max_future_skew
      await orders.land('x 10-29 12:00 10-29 09:00 EU 7');
      await orders.run(at);
      return releaseQuarantined(orders.control, orders.rollup, { ...word, eventIds: ['x'] }, later);
    },
    wants: '3 37.00',
    outcome: { auto: 'publish', grace: 'propose', review: 'propose' },
  },
  {
    cause: 'seal_mismatch',
    options: byStream,
    happen: async (orders) => {
      await emit(orders, 2, 29);
      return orders.run(later);
    },
    wants: '2 30.00',
    outcome: { auto: 'publish', grace: 'propose', review: 'propose' },
  },
  {
    cause: 'stream_emission',
    options: byStream,
    happen: async (orders) => {
      await emit(orders, 2, 30);
      await orders.run(at);
      await emit(orders, 3, 37);
      return orders.run(later);
    },
    wants: '3 37.00',
    outcome: { auto: 'publish', grace: 'publish', review: 'publish' },
  },
  {
    cause: 'definition',
    happen: async (orders, policy) => {
      const { control, rollup } = await openErrata(
        orders.database,
        ordersYaml({ policy, measures: '{ orders: count(*), revenue: sum(amount), most: max(amount) }' }),
      );
      // the window is recomputed, and differs in the new measure alone
      return amendWindows(control, rollup, { ...word, ...day }, later);
    },
    wants: '2 30.00',
    outcome: { auto: 'nothing', grace: 'nothing', review: 'nothing' },
  },
];

const cells = table.flatMap((row) =>
  (['auto', 'grace', 'review'] as const).map((policy) => ({ ...row, policy, becomes: row.outcome[policy] })),
);

describe('the table of R10', () => {
  test.each(cells)(
    '$cause under $policy: $becomes',
    async ({ cause, options, happen, wants, policy, becomes }) => {
      const orders = await openOrders({ ...options, policy });
      await orders.land(...first, ...pass);
      if (!options?.seal) await orders.run(at);
      await happen(orders, policy);
      const corrections = await orders.rows<{ line: string }>(
        `select concat_ws(' ', orders, revenue, array_to_string(causes, '+')) as line from gold.daily_orders where version > 1`,
      );
      const proposals = await orders.rows<{ line: string }>(
        `select concat_ws(' ', measures ->> 'orders', measures ->> 'revenue', array_to_string(causes, '+')) as line
       from errata.proposal where state = 'open'`,
      );
      const states = await orders.rows<{ state: string; released: boolean }>(
        `select state, released from gold.daily_orders_late_event where window_start is not null`,
      );
      const line = [{ line: `${wants} ${cause}` }];
      expect({ corrections, proposals }).toEqual({
        corrections: becomes === 'publish' ? line : [],
        proposals: becomes === 'propose' ? line : [],
      });
      if (becomes === 'pending') expect(states).toEqual([{ state: 'pending', released: false }]);
      // what the stream says and bronze does not is the stream's
      if (cause !== 'stream_emission') await expectAddsUp(orders);
    },
  );

  test.each(['auto', 'grace', 'review'] as const)(
    'a definition enters by restating alone: %s',
    async (policy) => {
      const orders = await openOrders({ policy });
      await orders.land(...first, ...pass);
      await orders.run(at);
      const { control, rollup } = await openErrata(
        orders.database,
        ordersYaml({ policy, measures: '{ orders: count(*), revenue: sum(amount), most: max(amount) }' }),
      );
      await restateWindows(control, rollup, { actor: 'kim', reason: 'the greatest order', ...day });
      expect(
        await orders.rows(
          'select version, orders, revenue, most, kind, causes, actor, approver, reason from gold.daily_orders where version > 1',
        ),
      ).toEqual([
        {
          version: 2,
          orders: '2',
          revenue: '30.00',
          most: '20.00',
          kind: 'restatement',
          causes: ['definition'],
          actor: 'kim',
          approver: 'kim',
          reason: 'the greatest order',
        },
      ]);
      await expectAddsUp(orders);
    },
  );
});

describe('the stream has said what bronze gives (R10)', () => {
  test('under review too its later emission is published, with the late event by name', async () => {
    const orders = await openOrders({ ...byStream, policy: 'review', lateness: '72 hours' });
    await orders.land(...first, ...pass);
    await emit(orders, 2, 30);
    await orders.run(at);
    await orders.land('x 10-29 12:00 10-31 05:30 EU 7');
    await emit(orders, 3, 37);
    await orders.run(later);
    expect(await orders.ledger()).toContain("10-29 'EU' v2 3 37.00 late_firing+stream_emission");
    expect(await orders.lateEvents()).toEqual(["x 'EU' late_firing included v2 late_firing"]);
    expect(await orders.rows('select from errata.proposal')).toEqual([]);
    await expectAddsUp(orders);
  });
});

describe('a seal mismatch that awaits a person', () => {
  test('a late firing joins its proposal and does not carry it into the ledger', async () => {
    const orders = await openOrders({ ...byStream, policy: 'grace', lateness: '72 hours' });
    await orders.land(...first, ...pass);
    await emit(orders, 2, 29);
    await orders.run(at);
    await orders.land('x 10-29 12:00 10-31 05:30 EU 7');
    await orders.run(later);
    expect((await orders.ledger()).filter((line) => line.includes('v2'))).toEqual([]);
    expect(
      await orders.rows(
        `select measures ->> 'revenue' as revenue, causes from errata.proposal where state = 'open'`,
      ),
    ).toEqual([{ revenue: '37.00', causes: ['late_firing', 'seal_mismatch'] }]);
    await expectAddsUp(orders);
  });
});

describe('thresholds', () => {
  const revenue = (orders: Orders) =>
    orders.rows<{ version: number; revenue: string }>(
      `select version, revenue from gold.daily_orders where region = 'EU' and window_start = '2026-10-29Z' order by version`,
    );
  const proposed = (orders: Orders) =>
    orders.rows(
      `select measures ->> 'revenue' as revenue, why from errata.proposal where state = 'open' order by 1`,
    );
  const why = (to: string, base: string, limit: string) =>
    `revenue would be ${to}, the value last sealed or approved is ${base}, and the threshold is ${limit}`;

  test.each([
    ['revenue: 7.00', '7.00', 'publish'],
    ['revenue: 6.99', '6.99', 'propose'],
    ['revenue: { absolute: 6.99 }', '6.99', 'propose'],
    // 7 of 30 are 23.3 %
    ['revenue: 24%', '24%', 'publish'],
    ['revenue: 23%', '23%', 'propose'],
    ['revenue: { absolute: 1000, relative: 23% }', '1000 or 23%', 'propose'],
    ['orders: 1', '1', 'publish'],
  ])('review_beyond: { %s }', async (limit, text, becomes) => {
    const orders = await openOrders({
      policy: 'auto',
      lateness: '72 hours',
      publish: `review_beyond: { ${limit} }`,
    });
    await orders.land(...first, ...pass, 'x 10-29 12:00 10-31 04:00 EU 7');
    await orders.run(at);
    expect(await proposed(orders)).toEqual(
      becomes === 'propose' ? [{ revenue: '37.00', why: why('37.00', '30.00', text) }] : [],
    );
    expect(await revenue(orders)).toHaveLength(becomes === 'propose' ? 1 : 2);
    await expectAddsUp(orders);
  });

  test('many small steps do not creep past it', async () => {
    const orders = await openOrders({
      policy: 'auto',
      lateness: '72 hours',
      publish: 'review_beyond: { revenue: 10 }',
    });
    await orders.land(...first, ...pass);
    await orders.run(at);
    for (const [place, bound] of ['2026-10-31T05:30Z', '2026-10-31T06:00Z', '2026-10-31T06:30Z'].entries()) {
      await orders.land(`x${place} 10-29 12:00 10-31 05:${10 + place} EU 4`);
      await orders.run({ bound });
      await expectAddsUp(orders);
    }
    expect(await revenue(orders)).toEqual([
      { version: 1, revenue: '30.00' },
      { version: 2, revenue: '34.00' },
      { version: 3, revenue: '38.00' },
    ]);
    expect(await proposed(orders)).toEqual([{ revenue: '42.00', why: why('42.00', '30.00', '10') }]);
  });

  test('where nothing shipped, the threshold is measured from nothing', async () => {
    const orders = await openOrders({ policy: 'auto', publish: 'review_beyond: { revenue: 50% }' });
    await orders.land(...first, ...pass, 'x 10-29 12:00 10-31 04:00 US 7');
    await orders.run(at);
    expect(await proposed(orders)).toEqual([{ revenue: '7.00', why: why('7.00', 'nothing', '50%') }]);
    await expectAddsUp(orders);
  });
});

describe('a horizon', () => {
  test('what is older is proposed under every policy, what is not is published', async () => {
    const orders = await openOrders({ policy: 'auto', publish: 'horizon: 24 hours' });
    await orders.land(...first, ...pass, 'y 10-30 04:00 10-30 04:01 EU 5');
    await orders.run(at);
    await orders.land('x 10-29 12:00 10-31 05:30 EU 7', 'z 10-30 12:00 10-31 05:30 EU 3');
    await orders.run(later);
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 2 30.00",
      "10-30 'EU' v1 1 5.00",
      "10-30 'EU' v2 2 8.00 late_firing",
      "10-30 'ZZ' v1 1 1.00",
    ]);
    expect(await orders.rows('select measures, why from errata.proposal')).toEqual([
      {
        measures: { orders: '3', revenue: '37.00' },
        why: 'the window ended more than the horizon ago, 2026-10-30 00:00:00+00',
      },
    ]);
    await expectAddsUp(orders);
  });
});
