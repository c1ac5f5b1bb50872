/** Periods closed and reopened (R12). Figures are worked out by hand. */
import { describe, expect, test } from 'vitest';
import { approve } from '../../src/commands/approve.ts';
import { close } from '../../src/commands/close.ts';
import { periods } from '../../src/commands/periods.ts';
import { reopen } from '../../src/commands/reopen.ts';
import { restate } from '../../src/commands/restate.ts';
import { waive } from '../../src/commands/waive.ts';
import { createPool } from '../../src/db/pool.ts';
import { approveProposals } from '../../src/publication/decide.ts';
import { closePeriod, reopenPeriod } from '../../src/publication/periods.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { waiveEvents } from '../../src/publication/waive.ts';
import { call } from '../report/verb-context.ts';
import { openTestDatabase } from '../support/database.ts';
import { type Orders, type OrdersOptions, openOrders, tableWithDelays } from '../support/orders.ts';
import { expectAddsUp } from './adds-up.ts';

const ada = { actor: 'ada', reason: 'month end' };
/** After the wall clock's month, so that a person's run sees what has landed by then. */
const at = (time: string) => ({ bound: `2026-${time}:00Z` });

/** March of 1,000.00 in EU, sealed; 7.00 of April, still open. */
async function march(options: OrdersOptions = {}): Promise<Orders> {
  const orders = await openOrders({ lateness: '0', ...options });
  await orders.land(
    'a 03-10 10:00 03-10 10:01 EU 600',
    'b 03-31 23:00 03-31 23:01 EU 400',
    'c 04-04 10:00 04-04 10:01 EU 7',
  );
  await orders.run(at('04-05 00:00'));
  return orders;
}

const ofMarch = async (orders: Orders) =>
  orders.rows(
    `select sum(latest_revenue) as latest, sum(pending_revenue) as pending, sum(held_revenue) as held, sum(restated_revenue) as restated
     from gold.daily_orders_reconciliation where window_start < '2026-04-01Z'`,
  );
const stored = (orders: Orders) =>
  orders.rows(
    `select period, measures from errata.period_total join errata.period_act using (act_id) order by act_id`,
  );
const posted = (orders: Orders) =>
  orders.rows(
    `select version, revenue, kind, posting_period, actor, approver from gold.daily_orders where version > 1 and window_start < '2026-04-01Z' order by stamp`,
  );
const open = async (orders: Orders) => {
  const [row] = await orders.rows<{ month: string }>(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM') as month`,
  );
  return row?.month as string;
};
const role = async (orders: Orders) => {
  const [row] = await orders.rows<{ name: string }>('select current_user::text as name');
  return row?.name as string;
};

describe('a late event after the close (B29)', () => {
  test('the close stays what it was; what came after is said, with the event; the next month does not contain it', async () => {
    const orders = await march({ policy: 'auto' });
    const closed = await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-03' });
    await orders.land('late 03-20 10:00 04-20 10:00 EU 50', 'd 05-03 10:00 05-03 10:01 EU 1');
    const run = await orders.run(at('05-05 00:00'));
    expect(run).toMatchObject({ needsAttention: true, counts: { windows_corrected: 0, windows_held: 1 } });
    expect(await orders.lateEvents()).toEqual(["late 'EU' side_output held refused"]);
    expect(await ofMarch(orders)).toEqual([
      { latest: '1000.00', pending: '0', held: '50.00', restated: '1050.00' },
    ]);
    await expectAddsUp(orders);
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-04' });
    expect(await stored(orders)).toEqual([
      { period: '2026-03', measures: { orders: '2', revenue: '1000.00' } },
      { period: '2026-04', measures: { orders: '1', revenue: '7.00' } },
    ]);
    const { text } = await call(periods, orders, [], {});
    expect(text).toContain(
      'revenue: closed with 1,000.00; now 1,050.00, restated after close: +50.00 (held +50.00)',
    );
    expect(text).toContain('events since: late');
    expect(text).toContain('revenue: closed with 7.00; nothing since');
    expect(
      await orders.rows(
        `select sum(revenue) as revenue from gold.daily_orders_as_of((select stamp from errata.mark where name = $1)) where window_start < '2026-04-01Z'`,
        [closed.mark],
      ),
    ).toEqual([{ revenue: '1000.00' }]);
    expect(await orders.rows('select name from errata.mark order by stamp')).toEqual([
      { name: 'daily_orders 2026-03 close' },
      { name: 'daily_orders 2026-04 close' },
    ]);
    expect(
      await orders.rows(
        `select is_closed, count(*)::int as windows from gold.daily_orders_latest group by 1 order by 1`,
      ),
    ).toEqual([{ is_closed: true, windows: 3 }]);
    // a further run changes nothing, and no person publishes it after a hard close
    await orders.run(at('05-05 00:00'));
    const { exitCode, text: refused } = await call(approve, orders, ['daily_orders'], { ...ada, all: true });
    expect(exitCode).toBe(3);
    expect(refused).toContain('the period 2026-03 is closed');
    expect(await posted(orders)).toEqual([]);
    await expectAddsUp(orders);
  });
});

describe('after a soft close', () => {
  test.each(['auto', 'grace', 'review'] as const)(
    'a member of the role publishes adjustments: %s',
    async (policy) => {
      const orders = await march({ policy });
      await closePeriod(orders.control, orders.rollup, {
        ...ada,
        period: '2026-03',
        postingRole: await role(orders),
      });
      await orders.land('late 03-20 10:00 04-20 10:00 EU 50');
      await orders.run(at('04-21 00:00'));
      expect(await posted(orders)).toEqual([]);
      if (policy === 'grace') {
        expect(await orders.lateEvents()).toEqual(["late 'EU' side_output pending refused"]);
        await releaseEvents(orders.control, orders.rollup, { ...ada, eventIds: ['late'] });
      } else {
        expect(await ofMarch(orders)).toMatchObject([{ latest: '1000.00', held: '50.00' }]);
        expect(await approveProposals(orders.control, orders.rollup, ada)).toMatchObject({ stale: [] });
      }
      expect(await posted(orders)).toEqual([
        {
          version: 2,
          revenue: '50.00',
          kind: 'adjustment',
          posting_period: await open(orders),
          actor: 'ada',
          approver: 'ada',
        },
      ]);
      expect(await ofMarch(orders)).toMatchObject([{ latest: '1050.00', held: '0' }]);
      await expectAddsUp(orders);
      const { text } = await call(periods, orders, [], {});
      expect(text).toContain(
        `2026-03-20 EU, version 2: adjustment, posted to ${await open(orders)}, orders +1, revenue +50.00, with late`,
      );
      await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['late'] });
      expect(await posted(orders)).toMatchObject([{ kind: 'adjustment' }, { kind: 'adjustment' }]);
      await expectAddsUp(orders);
    },
  );

  test('who is no member of the role does not', async () => {
    const database = await openTestDatabase();
    const [etl, finance] = ['etl', 'finance'].map(
      (name) => `errata_${name}_${Math.random().toString(36).slice(2, 8)}`,
    );
    const name = new URL(database.url).pathname.slice(1);
    await database.pool.query(`create role ${etl}; create role ${finance};
      grant create on database "${name}" to ${etl}; grant create on schema public to ${etl}`);
    const pool = createPool(database.url, { max: 5 });
    pool.on('connect', (client) => void client.query(`set role ${etl}`));
    try {
      const orders = await march({ policy: 'auto', database: { ...database, pool } });
      await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-03', postingRole: finance });
      await orders.land('late 03-20 10:00 04-20 10:00 EU 50');
      await orders.run(at('04-21 00:00'));
      const { stale } = await approveProposals(orders.control, orders.rollup, ada);
      expect(stale).toMatchObject([{ why: 'the period 2026-03 is closed' }]);
      expect(await posted(orders)).toEqual([]);
      await database.pool.query(`grant ${finance} to ${etl}`);
      expect(await approveProposals(orders.control, orders.rollup, ada)).toMatchObject({ stale: [] });
      expect(await posted(orders)).toMatchObject([{ kind: 'adjustment' }]);
    } finally {
      await pool.end();
      await database.pool.query(
        `drop owned by ${etl} cascade; revoke create on schema public from ${etl}; drop role ${etl}, ${finance}`,
      );
    }
  });

  test('after a hard one nobody does: events stay held, and restating and taking back are refused', async () => {
    const orders = await march({ policy: 'grace' });
    await orders.land('y 03-20 10:00 04-10 10:00 EU 50');
    await orders.run(at('04-11 00:00'));
    await releaseEvents(orders.control, orders.rollup, { ...ada, eventIds: ['y'] }, at('04-11 00:00'));
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-03' });
    await orders.land('late 03-21 10:00 04-20 10:00 EU 5');
    await orders.run(at('04-21 00:00'));
    await releaseEvents(orders.control, orders.rollup, { ...ada, eventIds: ['late'] });
    expect((await orders.lateEvents()).at(-1)).toBe("late 'EU' side_output held refused");
    await expect(
      call(restate, orders, ['daily_orders'], { ...ada, window: '2026-03-21' }),
    ).rejects.toMatchObject({ exitCode: 3 });
    await expect(call(waive, orders, ['daily_orders'], { ...ada, event: ['y'] })).rejects.toMatchObject({
      message: '1 keyed window cannot be published without what it waives; nothing was done',
      detail: expect.stringContaining('the period 2026-03 is closed'),
      exitCode: 3,
    });
    await expectAddsUp(orders);
    await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['late'] });
    expect((await orders.lateEvents()).at(-1)).toBe("late 'EU' side_output waived refused");
    await expectAddsUp(orders);
  });
});

describe('closed by force, before all of it was sealed', () => {
  const sealedSince = async (orders: Orders) =>
    orders.rows(
      `select version, revenue, kind, posting_period from gold.daily_orders where window_start >= '2026-04-01Z' order by window_start, version`,
    );

  test('what is sealed later ships as version 1; what differs from it is held', async () => {
    const orders = await march({ policy: 'auto' });
    const { text: said } = await call(close, orders, ['daily_orders', '2026-04'], {
      ...ada,
      hard: true,
      force: true,
    });
    expect(said).toContain('not all of it was sealed: its last window ends 2026-05-01 00:00:00+00');
    await orders.land(
      'd 04-04 11:00 04-05 10:00 EU 3',
      'e 05-03 10:00 05-03 10:01 EU 1',
      'late 04-04 12:00 05-04 10:00 EU 50',
      'new 04-09 12:00 05-04 10:00 EU 4',
    );
    const run = await orders.run(at('05-05 00:00'));
    expect(run).toMatchObject({ needsAttention: true, counts: { windows_corrected: 0, windows_held: 2 } });
    // d came in time, for a window that was open when April was closed
    expect(await sealedSince(orders)).toEqual([
      { version: 1, revenue: '10.00', kind: 'seal', posting_period: null },
    ]);
    expect(await orders.lateEvents()).toEqual([
      "late 'EU' side_output held refused",
      "new 'EU' side_output held refused",
    ]);
    const { text } = await call(periods, orders, [], {});
    expect(text).toContain('(hard), though not all of it was sealed');
    expect(text).toContain(
      'revenue: closed with 0; now 64.00, restated after close: +64.00 (sealed since +10.00, held +54.00)',
    );
    expect(text).not.toContain('version 1');
    expect(
      await orders.rows(
        `select is_closed, revenue from gold.daily_orders_latest where window_start >= '2026-04-01Z'`,
      ),
    ).toEqual([{ is_closed: true, revenue: '10.00' }]);
    await expectAddsUp(orders);
    await orders.run(at('05-05 00:00'));
    expect(await sealedSince(orders)).toHaveLength(1);
  });

  test('a stream’s own: its version 1 enters, what it says later is held, and what it never said too', async () => {
    const orders = await march({ policy: 'auto', seal: '{ by: stream, after: 15 minutes }' });
    const emit = (day: number, count: number, revenue: string) =>
      orders.rows(
        `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values (make_timestamptz(2026, 4, $1, 0, 0, 0, 'UTC'), make_timestamptz(2026, 4, $1 + 1, 0, 0, 0, 'UTC'), 'EU', $2, $3)`,
        [day, count, revenue],
      );
    await call(close, orders, ['daily_orders', '2026-04'], { ...ada, hard: true, force: true });
    await emit(4, 1, '7.00');
    await orders.land('n 04-09 10:00 04-09 10:01 EU 4', 'e 05-03 10:00 05-03 10:01 EU 1');
    expect(await orders.run(at('05-05 00:00'))).toMatchObject({ counts: { windows_held: 1 } });
    await emit(4, 2, '9.00');
    expect(await orders.run(at('05-05 00:00'))).toMatchObject({ counts: { windows_held: 1 } });
    expect(await sealedSince(orders)).toEqual([
      { version: 1, revenue: '7.00', kind: 'seal', posting_period: null },
    ]);
    expect(
      await orders.rows(
        `select causes, measures ->> 'revenue' as revenue, is_held from errata.proposal where state = 'open' and window_start >= '2026-04-01Z' order by window_start`,
      ),
    ).toEqual([
      { causes: ['stream_emission'], revenue: '9.00', is_held: true },
      { causes: ['seal_mismatch'], revenue: '4.00', is_held: true },
    ]);
    // at last it says the ninth: that is version 1 all the same, and nothing is left to hold of it
    await emit(9, 1, '4.00');
    await orders.run(at('05-05 00:00'));
    expect(await sealedSince(orders)).toHaveLength(2);
    expect(
      await orders.rows(
        `select causes from errata.proposal where state = 'open' and window_start >= '2026-04-01Z'`,
      ),
    ).toEqual([{ causes: ['stream_emission'] }]);
  });

  test('a version 1 that contradicts its own rows: the difference is held', async () => {
    const orders = await march({ policy: 'auto', seal: '{ by: stream, after: 15 minutes }' });
    await call(close, orders, ['daily_orders', '2026-04'], { ...ada, hard: true, force: true });
    await orders.rows(
      `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-04-04Z', '2026-04-05Z', 'EU', 1, 5)`,
    );
    await orders.land('e 05-03 10:00 05-03 10:01 EU 1');
    await orders.run(at('05-05 00:00'));
    expect(await sealedSince(orders)).toMatchObject([{ version: 1, revenue: '5' }]);
    expect(
      await orders.rows(
        `select sum(held_revenue) as held from gold.daily_orders_reconciliation where window_start >= '2026-04-01Z'`,
      ),
    ).toEqual([{ held: '2.00' }]);
  });
});

describe('reopened', () => {
  test('what was held is judged by the next run, listed, and the close stays what it was', async () => {
    const orders = await march({ policy: 'auto' });
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-03' });
    await orders.land('late 03-20 10:00 04-20 10:00 EU 50');
    await orders.run(at('04-21 00:00'));
    await reopenPeriod(orders.control, orders.rollup, {
      ...ada,
      period: '2026-03',
      until: '2999-01-01 00:00:00+00',
    });
    await expectAddsUp(orders);
    await orders.run(at('04-21 00:00'));
    expect(await posted(orders)).toMatchObject([
      { revenue: '50.00', kind: 'correction', posting_period: null },
    ]);
    expect(await stored(orders)).toEqual([
      { period: '2026-03', measures: { orders: '2', revenue: '1000.00' } },
    ]);
    const { text } = await call(periods, orders, [], {});
    expect(text).toContain('posted while it stood reopened, orders +1, revenue +50.00, with late');
    await expectAddsUp(orders);
    // closed again: the second close has its own statement and mark
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-03' });
    expect(await stored(orders)).toHaveLength(2);
    expect(await orders.rows('select name from errata.mark order by stamp')).toEqual([
      { name: 'daily_orders 2026-03 close' },
      { name: 'daily_orders 2026-03 close 2' },
    ]);
  });

  test('once it has expired the period stands closed as before', async () => {
    const orders = await march({ policy: 'auto' });
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-03' });
    const [soon] = await orders.rows<{ until: string }>(
      `select (clock_timestamp() + interval '1500 milliseconds')::text as until`,
    );
    await reopenPeriod(orders.control, orders.rollup, {
      ...ada,
      period: '2026-03',
      until: soon?.until as string,
    });
    await orders.rows('select pg_sleep_until($1::timestamptz)', [soon?.until]);
    await orders.land('late 03-20 10:00 04-20 10:00 EU 50');
    expect(await orders.run(at('04-21 00:00'))).toMatchObject({ counts: { windows_held: 1 } });
    expect(await posted(orders)).toEqual([]);
  });
});

describe('closing', () => {
  test('waits for the windows of the period, unless it is forced', async () => {
    const orders = await march();
    const closing = (flags: object) =>
      call(close, orders, ['daily_orders', '2026-04'], { ...ada, hard: true, ...flags });
    await expect(closing({})).rejects.toMatchObject({
      message: 'period 2026-04 of rollup "daily_orders" has windows that are not sealed',
      exitCode: 2,
    });
    expect((await closing({ force: true })).text).toMatch(
      /^daily_orders: closed 2026-04, in run \d+; its mark "daily_orders 2026-04 close" is /,
    );
    expect(await orders.rows('select is_forced from errata.period_act')).toEqual([{ is_forced: true }]);
  });

  test('waits for the keys that have a longer delay', async () => {
    const orders = await march({
      ddl: `${tableWithDelays}; insert into ops.delays values ('US', '10 days')`,
      watermark:
        '{ strategy: bounded, delay: 1 hour, overrides: { table: ops.delays, by: [region], delay: delay } }',
    });
    const closing = (flags: object) =>
      call(close, orders, ['daily_orders', '2026-03'], { ...ada, hard: true, ...flags });
    await expect(closing({})).rejects.toMatchObject({
      message: 'period 2026-03 of rollup "daily_orders" has windows that are not sealed',
      exitCode: 2,
    });
    await orders.land('e 04-20 10:00 04-20 10:01 EU 1');
    await orders.run(at('04-21 00:00'));
    await closing({});
  });

  test('a soft close may be made hard, and not the other way', async () => {
    const orders = await march();
    const soft = await role(orders);
    await call(close, orders, ['daily_orders', '2026-03'], { ...ada, soft });
    await call(close, orders, ['daily_orders', '2026-03'], { ...ada, hard: true });
    await expect(call(close, orders, ['daily_orders', '2026-03'], { ...ada, soft })).rejects.toMatchObject({
      message: 'period 2026-03 of rollup "daily_orders" is closed already',
      exitCode: 2,
    });
  });

  test('an act, a statement and a mark are never changed', async () => {
    const orders = await march();
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-03' });
    for (const statement of [
      `update errata.period_act set act = 'reopen'`,
      'delete from errata.period_total',
      'truncate errata.mark',
    ])
      await expect(orders.rows(statement)).rejects.toThrow('of what a period was closed with is refused');
  });

  test('by a calendar of your own', async () => {
    const orders = await march({
      periods: '{ table: finance.quarters, period: name }',
      ddl: `create schema bronze; create schema finance;
        create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2));
        create table finance.quarters (name text, starts_at timestamptz, ends_at timestamptz);
        insert into finance.quarters values ('Q1', '2026-01-01Z', '2026-04-01Z'), ('Q2', '2026-04-01Z', '2026-07-01Z'), ('later', '2026-07-01Z', '2999-01-01Z')`,
    });
    await closePeriod(orders.control, orders.rollup, {
      ...ada,
      period: 'Q1',
      postingRole: await role(orders),
    });
    expect(await stored(orders)).toEqual([{ period: 'Q1', measures: { orders: '2', revenue: '1000.00' } }]);
    await orders.land('late 02-20 10:00 04-20 10:00 EU 50');
    await orders.run(at('04-21 00:00'));
    await approveProposals(orders.control, orders.rollup, ada);
    expect(await posted(orders)).toMatchObject([{ kind: 'adjustment', posting_period: 'later' }]);
    await expect(call(close, orders, ['daily_orders', 'Q9'], { ...ada, hard: true })).rejects.toMatchObject({
      message: 'rollup "daily_orders" has no period "Q9"',
      exitCode: 2,
    });
  });

  test('what must be said', async () => {
    const orders = await march();
    const wrong = (verb: typeof close | typeof reopen, period: string, flags: object) =>
      expect(call<object>(verb, orders, ['daily_orders', period], flags)).rejects;
    await wrong(close, '2026-03', { hard: true, actor: 'ada' }).toMatchObject({
      message: 'to close a period takes a person and a reason',
      exitCode: 2,
    });
    await wrong(close, '2026-03', ada).toMatchObject({ message: 'a close is either soft or hard' });
    await wrong(close, '2026-03', { ...ada, hard: true, soft: 'bi' }).toMatchObject({ exitCode: 2 });
    await wrong(close, '2026-13', { ...ada, hard: true }).toMatchObject({
      message: '"2026-13" is not a month',
      exitCode: 2,
    });
    await wrong(close, '2026-03', { ...ada, soft: 'no_such_role' }).toMatchObject({
      message: 'there is no database role "no_such_role"',
      exitCode: 2,
    });
    await wrong(reopen, '2026-03', { ...ada }).toMatchObject({ message: 'a reopening must expire' });
    await wrong(reopen, '2026-03', { ...ada, until: 'soon' }).toMatchObject({ exitCode: 2 });
    await wrong(reopen, '2026-03', { ...ada, until: '2999-01-01' }).toMatchObject({
      message: 'period 2026-03 of rollup "daily_orders" is not closed',
      exitCode: 2,
    });
    await call(close, orders, ['daily_orders', '2026-03'], { ...ada, hard: true });
    await wrong(reopen, '2026-03', { ...ada, until: '2026-03-01' }).toMatchObject({
      message: 'the reopening would have expired: 2026-03-01 00:00:00+00',
      exitCode: 2,
    });
  });
});
