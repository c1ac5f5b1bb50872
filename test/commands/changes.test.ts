/** `errata changes`, and the notices of what changed: figures worked out by hand. */
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changes } from '../../src/commands/changes.ts';
import { status } from '../../src/commands/status.ts';
import { durationOf } from '../../src/config/duration.ts';
import { deliverNotices } from '../../src/notices/deliver.ts';
import { call, settingsOf } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';

let orders: Orders;
let [first, second, third] = ['', '', ''];

/** 29 October: EU 1 order of 10, corrected to 2 of 17 and to 3 of 20; NULL had none, and gets 1 of 5. */
beforeAll(async () => {
  orders = await openOrders({ policy: 'auto' });
  await orders.land('a 10-29 10:00 10-29 10:00 EU', 'w 10-31 10:00 10-31 10:00 EU');
  ({ runId: first } = await orders.run({ bound: '2026-10-31T12:00Z' }));
  await orders.land('b 10-29 11:00 10-31 13:00 EU 7', 'n 10-29 11:00 10-31 13:00 NULL 5');
  ({ runId: second } = await orders.run({ bound: '2026-10-31T14:00Z' }));
  await orders.land('c 10-29 11:00 10-31 15:00 EU 3');
  ({ runId: third } = await orders.run({ bound: '2026-10-31T16:00Z' }));
}, 60_000);

const look = async (flags: { since?: string; run?: string }) => {
  const { text, data } = await call(changes, orders, ['daily_orders'], flags);
  const [{ windows } = { windows: [] }] = data as {
    windows: { key: object; measures: object; causes: string[] }[];
  }[];
  return { text, windows };
};

describe('errata changes', () => {
  test('since a run: from what stood then to what stands now, over all runs between', async () => {
    const { text, windows } = await look({ since: first });
    expect(windows).toMatchObject([
      {
        key: { region: null },
        old_version: null,
        new_version: 2,
        measures: { orders: [null, '1'], revenue: [null, '5.00'] },
        causes: ['refused'],
        runs: [second],
      },
      {
        key: { region: 'EU' },
        old_version: 1,
        new_version: 3,
        measures: { orders: ['1', '3'], revenue: ['10.00', '20.00'] },
        deltas: { orders: '2', revenue: '10.00' },
        causes: ['refused'],
        runs: [second, third],
      },
    ]);
    expect(text.split('\n').slice(1)).toEqual([
      '  window      region  version  measure    old    new   delta  causes',
      '  2026-10-29  NULL          2  orders       –      1      +1  refused',
      '                               revenue      –   5.00   +5.00',
      '  2026-10-29  EU            3  orders       1      3      +2  refused',
      '                               revenue  10.00  20.00  +10.00',
    ]);
  });

  test('by one run: what it changed, beside what stood before it', async () => {
    expect((await look({ run: third })).windows).toMatchObject([
      { old_version: 2, new_version: 3, measures: { orders: ['2', '3'], revenue: ['17.00', '20.00'] } },
    ]);
    expect((await look({ run: first })).windows).toEqual([]);
  });

  test('since an instant, and since a mark', async () => {
    const [run] = await orders.rows<{ stamp: string }>(
      'select stamp::text from errata.run where run_id = $1',
      [second],
    );
    expect((await look({ since: run?.stamp as string })).windows).toHaveLength(1);
    await orders.rows(`insert into errata.mark values ('October, mailed', $1, 'ada', clock_timestamp())`, [
      run?.stamp,
    ]);
    expect((await look({ since: 'October, mailed' })).windows).toMatchObject([
      { old_version: 2, new_version: 3 },
    ]);
    const { text } = await look({ since: third });
    expect(text).toMatch(/^daily_orders: nothing changed since 20/);
  });

  test('for SQL: the same by a function, since a run, a mark or an instant', async () => {
    const since = (word: string) =>
      orders.rows(
        `select region, old_version, version, previous_revenue, revenue, delta_revenue, previous_event_count, event_count, is_void, causes, run_id
         from gold.daily_orders_changes($1) order by region nulls first`,
        [word],
      );
    const changed = [
      {
        region: null,
        old_version: null,
        version: 2,
        previous_revenue: null,
        revenue: '5.00',
        delta_revenue: '5.00',
        previous_event_count: null,
        event_count: '1',
        is_void: false,
        causes: ['refused'],
        run_id: second,
      },
      {
        region: 'EU',
        old_version: 1,
        version: 3,
        previous_revenue: '10.00',
        revenue: '20.00',
        delta_revenue: '10.00',
        previous_event_count: '1',
        event_count: '3',
        is_void: false,
        causes: ['refused'],
        run_id: third,
      },
    ];
    expect(await since(first)).toEqual(changed);
    const [run] = await orders.rows<{ stamp: string }>(
      'select stamp::text from errata.run where run_id = $1',
      [first],
    );
    expect(await since(run?.stamp as string)).toEqual(changed);
    await orders.rows(
      `insert into errata.mark values ('as of the second', (select stamp from errata.run where run_id = $1), 'ada', clock_timestamp())`,
      [second],
    );
    expect(await since('as of the second')).toMatchObject([
      { region: 'EU', old_version: 2, version: 3, delta_revenue: '3.00' },
    ]);
    expect(await since(third)).toEqual([]);
    await expect(since('soon')).rejects.toThrow("'soon' is no mark, no run and no instant");
    await expect(since('999')).rejects.toThrow('there is no run 999 that came to its end');
    expect(
      await orders.rows(`select obj_description('gold.daily_orders_changes(text)'::regprocedure) as said`),
    ).toMatchObject([{ said: expect.stringMatching(/^Keyed windows that got a correction since/) }]);
  });

  test.each([
    [{}, 'say since when: --since WORD or --run N, one of them'],
    [{ since: '1', run: '1' }, 'say since when: --since WORD or --run N, one of them'],
    [{ since: 'yesterday' }, '--since "yesterday" is no mark, no run and no instant'],
    [{ since: '4711' }, 'there is no run 4711'],
    [{ run: 'x' }, '--run "x" is not the number of a run'],
    [{ run: '1', limit: '0' }, '--limit "0" is not a number of keyed windows'],
  ])('%j: %s', async (flags, message) => {
    await expect(call(changes, orders, [], flags)).rejects.toMatchObject({ message, exitCode: 2 });
  });
});

describe('notices', () => {
  const secret = 'sixteen characters at least';
  let server: Server;
  let answer = 200;
  let whileDelivered = async () => {};
  const received: { id: string; body: string; signature: string }[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part) => {
        body += part;
      });
      request.on('end', async () => {
        await whileDelivered();
        received.push({
          id: String(request.headers['errata-notice']),
          body,
          signature: String(request.headers['errata-signature']),
        });
        response.writeHead(answer).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => server.close());

  const notices = () => ({
    webhook: `http://127.0.0.1:${(server.address() as AddressInfo).port}/told?token=hidden`,
    secret,
    timeout: durationOf(2_000_000n),
    keep: durationOf(90n * 86_400_000_000n),
  });
  const settings = () => ({ ...settingsOf(orders), notices: notices() });
  const waiting = () =>
    orders.rows(
      'select attempts, last_error, delivered_at is not null as is_delivered from errata.outbox order by 1',
    );

  test('a run that changed a number names it, in its own commit; listeners hear it', async () => {
    const told: string[] = [];
    const listener = await orders.database.pool.connect();
    listener.on('notification', ({ payload }) => told.push(payload as string));
    await listener.query('listen errata');
    const rollup = { ...orders.rollup, settings: { ...orders.rollup.settings, notices: notices() } };
    const { runRollup } = await import('../../src/pipeline/run.ts');
    await runRollup(orders.control, rollup, { bound: '2026-10-31T17:00Z' });
    await listener.query('select 1');
    // nothing changed
    expect([told, await waiting()]).toEqual([[], []]);
    await orders.land('d 10-29 11:00 10-31 18:00 EU 4');
    const { runId } = await runRollup(orders.control, rollup, { bound: '2026-10-31T19:00Z' });
    await expect.poll(() => told.length).toBe(1);
    await listener.query('unlisten errata');
    listener.release();
    const window = {
      window_start: '2026-10-29 00:00:00+00',
      window_end: '2026-10-30 00:00:00+00',
      local_date: '2026-10-29',
      key: { region: 'EU' },
      version: 4,
      is_void: false,
      causes: ['refused'],
      measures: { orders: { old: '3', new: '4' }, revenue: { old: '20.00', new: '24.00' } },
    };
    expect(JSON.parse(told[0] as string)).toMatchObject({
      rollup: 'daily_orders',
      run_id: runId,
      windows_changed: 1,
      windows: [window],
    });

    // who answers with an error is asked again, later
    answer = 503;
    expect(await deliverNotices(orders.control, settings())).toEqual({
      delivered: 0,
      failure: 'it answered with status 503',
      left: 1,
    });
    answer = 200;
    expect(await deliverNotices(orders.control, settings())).toEqual({
      delivered: 0,
      failure: null,
      left: 1,
    });
    expect(await waiting()).toEqual([
      { attempts: 1, last_error: 'it answered with status 503', is_delivered: false },
    ]);
    await orders.rows('update errata.outbox set next_attempt_at = clock_timestamp()');
    // two at once take it once
    const both = await Promise.all([
      deliverNotices(orders.control, settings()),
      deliverNotices(orders.control, settings()),
    ]);
    expect(both.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(1);
    expect(await waiting()).toEqual([{ attempts: 2, last_error: null, is_delivered: true }]);
    expect(received).toHaveLength(2);
    expect(received[0]).toEqual(received[1]);
    expect(JSON.parse(received[1]?.body as string)).toMatchObject({ run_id: runId, windows: [window] });
    expect(received[1]?.signature).toBe(
      `sha256=${createHmac('sha256', secret)
        .update(received[1]?.body as string)
        .digest('hex')}`,
    );
  });

  test('no transaction is open, and nothing locked, while it is delivered', async () => {
    await orders.rows(
      `insert into errata.outbox (run_id, notice) values ($1, '{"rollup": "daily_orders"}')`,
      [first],
    );
    const seen: unknown[] = [];
    whileDelivered = async () => {
      seen.push(
        await orders.rows(
          `select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
        ),
        (
          await orders.rows(
            'select notice_id from errata.outbox where delivered_at is null for update nowait',
          )
        ).length,
        // a second one finds it claimed
        await deliverNotices(orders.control, settings()),
      );
    };
    expect(await deliverNotices(orders.control, settings())).toMatchObject({ delivered: 1, left: 0 });
    whileDelivered = async () => {};
    expect(seen).toEqual([[{ count: '0' }], 1, { delivered: 0, failure: null, left: 1 }]);
  });

  test('who dies with a claim is followed by another once its time is over', async () => {
    const [notice] = await orders.rows<{ id: string }>(
      `insert into errata.outbox (run_id, notice) values ($1, '{"rollup": "daily_orders"}') returning notice_id::text as id`,
      [first],
    );
    const died = { ...settings(), notices: { ...notices(), timeout: durationOf(3_600_000_000n) } };
    const { execute, prepare } = await import('../../src/db/statement.ts');
    const { inTransaction } = await import('../../src/db/transaction.ts');
    const { trustedSql } = await import('../../src/db/identifiers.ts');
    await inTransaction(orders.control, 'read committed', (transaction) =>
      execute(transaction, prepare('notices/claim.sql', { schema: trustedSql('errata') }), {
        rollups: ['daily_orders'],
        now: '2026-01-01T00:00Z',
        lease: `${died.notices.timeout.microseconds} microseconds`,
      }),
    );
    expect(
      await orders.rows(
        'select attempts, next_attempt_at::text as until from errata.outbox where notice_id = $1',
        [notice?.id],
      ),
    ).toEqual([{ attempts: 1, until: '2026-01-01 01:00:00+00' }]);
    expect(await deliverNotices(orders.control, settings())).toMatchObject({ delivered: 1, left: 0 });
  });

  test('those that were delivered are deleted when their time is up, the others never', async () => {
    await orders.rows(
      `insert into errata.outbox (run_id, notice, delivered_at, next_attempt_at)
       values ($1, '{"rollup": "daily_orders", "n": 1}', clock_timestamp() - interval '91 days', null),
         ($1, '{"rollup": "daily_orders", "n": 2}', clock_timestamp() - interval '89 days', null),
         ($1, '{"rollup": "another", "n": 3}', clock_timestamp() - interval '91 days', null),
         ($1, '{"rollup": "daily_orders", "n": 4}', null, clock_timestamp() + interval '1 day')`,
      [first],
    );
    await deliverNotices(orders.control, settings());
    const left = () =>
      orders.rows(`select notice ->> 'n' as n from errata.outbox where notice ? 'n' order by 1`);
    expect(await left()).toEqual([{ n: '2' }, { n: '3' }, { n: '4' }]);
    await deliverNotices(orders.control, {
      ...settings(),
      notices: { ...notices(), keep: durationOf(86_400_000_000n) },
    });
    expect(await left()).toEqual([{ n: '3' }, { n: '4' }]);
    await orders.rows(`delete from errata.outbox where notice ? 'n'`);
  });

  test('nobody there: it stays, and the address is in no message', async () => {
    await orders.rows(
      `insert into errata.outbox (run_id, notice) values ($1, '{"rollup": "daily_orders"}')`,
      [first],
    );
    const gone = {
      ...settings(),
      notices: { ...notices(), webhook: 'http://127.0.0.1:9/told?token=hidden' },
    };
    const { failure, left } = await deliverNotices(orders.control, gone);
    expect(failure).toMatch(/^it cannot be reached/);
    expect(failure).not.toContain('hidden');
    expect(left).toBe(1);
    // until then it is the status that says so
    const statusOf = async (sql: string) => {
      await orders.rows(sql);
      const { exitCode, text, data } = await call(status, orders, ['daily_orders'], {});
      const [{ notices: told } = { notices: undefined }] = (data as { rollups: { notices: object }[] })
        .rollups;
      return { exitCode, text, told };
    };
    const today = await statusOf('select');
    expect(today.told).toMatchObject({ undelivered: '1', attempts: 1, last_error: failure });
    expect(today.text).toMatch(
      /notices {5}1 notice undelivered, the oldest for .*; tried 1 time: it cannot be reached/,
    );
    expect(today.text).toContain('1 notice undelivered');
    const quiet = today.exitCode;
    const old = await statusOf(
      `update errata.run set stamp = stamp - interval '25 hours' where run_id = ${first}`,
    );
    expect([quiet, old.exitCode]).toEqual([0, 3]);
    expect(old.text).toContain('the oldest notice has waited for 1 day 1 hour: it cannot be reached');
  });
});
