/** A delay by key: each keyed window is judged and sealed by its key's watermark (R2, R8). */
import { describe, expect, test } from 'vitest';
import { applyRollup } from '../../src/catalog/apply.ts';
import { bindingsOf } from '../../src/catalog/bindings.ts';
import { execute, prepare } from '../../src/db/statement.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { readReach } from '../../src/report/explain/explain.ts';
import { openErrata } from '../support/errata.ts';
import { openOrders, tableWithDelays as table } from '../support/orders.ts';

describe('delay by key', () => {
  /** Tumbling windows of 10 seconds from second 0; a delay of 5 seconds unless the table says another. */
  const open = async (
    options: {
      strategy?: string;
      seal?: string;
      bronze?: string;
      policy?: 'auto' | 'grace';
      ddl?: string;
    } = {},
  ) => {
    const orders = await openOrders({
      ddl: `${options.ddl ? table.replace(/create table bronze[^;]*$/, options.ddl) : table}; create schema if not exists gold; create table gold.result (window_start timestamptz, region text, orders bigint, revenue numeric)`,
      window: '{ tumbling: 10 s }',
      watermark: `{ strategy: ${options.strategy ?? 'bounded'}, delay: 5 s, max_future_skew: none, overrides: { table: ops.delays, by: [region], delay: delay, allowed_lateness: lateness } }`,
      lateness: '0',
      seal: options.seal ?? '{ by: errata }',
      policy: options.policy ?? 'auto',
      ...(options.bronze ? { bronze: options.bronze } : {}),
    });
    const at = (second: number | string) => `2026-01-01T00:00:00Z'::timestamptz + interval '${second} s`;
    return {
      ...orders,
      delays: async (...rows: string[]) => {
        await orders.rows('truncate ops.delays');
        for (const row of rows) {
          const [region, delay] = row.split(' ');
          await orders.rows(`insert into ops.delays values ($1, $2::interval)`, [
            region === 'NULL' ? null : region,
            delay,
          ]);
        }
      },
      /** Rows of `region second_of_arrival second_of_event`; the id is all of it. */
      rows_of: async (...rows: string[]) => {
        for (const row of rows) {
          const [region = '', arrival = '', event = '', id = row] = row.split(' ');
          await orders.rows(
            `insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount) values ($1, '${at(event)}', '${at(arrival)}', $2, 1)`,
            [id, region === 'NULL' ? null : region],
          );
        }
      },
      runAt: async (second: number, more: object = {}) => {
        const [row] = await orders.rows<{ bound: string }>(`select ('${at(second)}')::text as bound`);
        return await orders.run({ bound: row?.bound, ...more });
      },
      /** `region second_of_window vN orders`. */
      versions: async () =>
        (
          await orders.rows<{ line: string }>(
            `select concat_ws(' ', coalesce(region, 'NULL'), extract(epoch from window_start - '2026-01-01Z')::int, 'v' || version, orders) as line
             from gold.daily_orders order by window_start, region nulls last, version`,
          )
        ).map(({ line }) => line),
      /** `region second_of_window`, of what `live` shows beside the ledger. */
      openNow: async () =>
        (
          await orders.rows<{ line: string }>(
            `select concat_ws(' ', coalesce(region, 'NULL'), extract(epoch from window_start - '2026-01-01Z')::int) as line
             from errata.daily_orders_open_windows() order by window_start, region nulls last`,
          )
        ).map(({ line }) => line),
    };
  };
  const three = ['EU 1 1', 'US 1 1', 'NULL 1 1', 'XX 1 1'];

  test.each(['bounded', 'fixed_delay'])(
    '%s: each keyed window is sealed by the watermark of its key',
    async (strategy) => {
      const errata = await open({ strategy });
      await errata.delays('US 20s', 'NULL 0s', 'none 100s');
      await errata.rows_of(...three);
      const tick = async (second: number) => {
        await errata.rows_of(`tick ${second} ${second}`);
        await errata.runAt(second + 0.5);
        return (await errata.versions()).filter((line) => !line.startsWith('tick'));
      };
      // the rows of second 10 let the watermark reach 10, less each delay
      expect(await tick(10)).toEqual(['NULL 0 v1 1']);
      expect((await errata.openNow()).filter((line) => line.endsWith(' 0'))).toEqual([
        'EU 0',
        'US 0',
        'XX 0',
      ]);
      expect(await tick(15)).toEqual(['EU 0 v1 1', 'XX 0 v1 1', 'NULL 0 v1 1']);
      // US has time until second 30; then a row of that window is late, as one of EU is now
      await errata.rows_of('US 16 2', 'EU 16 2');
      expect(await tick(29)).toEqual(['EU 0 v1 1', 'EU 0 v2 2', 'XX 0 v1 1', 'NULL 0 v1 1']);
      expect((await errata.openNow()).filter((line) => line.endsWith(' 0'))).toEqual(['US 0']);
      expect(await tick(30)).toEqual(['EU 0 v1 1', 'EU 0 v2 2', 'US 0 v1 2', 'XX 0 v1 1', 'NULL 0 v1 1']);
      await errata.rows_of('US 31 3');
      await tick(32);
      expect(await errata.lateEvents()).toEqual([
        "EU 16 2 'EU' side_output included v2 refused",
        "US 31 3 'US' side_output included v2 refused",
      ]);
      expect(
        await errata.rows(
          `select region, extract(epoch from watermark - '2026-01-01Z')::int as watermark from gold.daily_orders_late_event order by ingested_at`,
        ),
      ).toEqual([
        { region: 'EU', watermark: strategy === 'bounded' ? 10 : 11 },
        { region: 'US', watermark: strategy === 'bounded' ? 10 : 11 },
      ]);
    },
  );

  test('no keyed window is sealed twice or left out when delays come, change and go', async () => {
    const errata = await open();
    const steps: [number, string[]][] = [
      [20, []],
      [40, ['US 30s', 'EU 0s']],
      [60, ['US 50s', 'EU 0s']],
      [80, ['US 2s', 'EU 40s', 'XX 10s']],
      [100, ['EU 0s']],
      [103, []],
      [120, []],
      [140, ['NULL 30s']],
      [160, []],
    ];
    let from = 0;
    for (const [to, delays] of steps) {
      await errata.delays(...delays);
      for (let second = from + 1; second <= to; second++)
        await errata.rows_of(...['EU', 'US', 'NULL', 'XX'].map((region) => `${region} ${second} ${second}`));
      from = to;
      await errata.runAt(to + 0.5);
      // what live shows as open and what is published are all there is, once
      const lines = [
        ...(await errata.versions()).map((line) => line.split(' v')[0]),
        ...(await errata.openNow()),
      ];
      expect(new Set(lines).size).toBe(lines.length);
      expect(lines.length).toBe((Math.floor(to / 10) + 1) * 4);
    }
    await errata.rows_of('EU 300 300');
    await errata.runAt(301);
    const versions = await errata.versions();
    expect(versions.filter((line) => !line.includes(' v1 '))).toEqual([]);
    expect(versions.filter((line) => Number(line.split(' ')[1]) < 160)).toHaveLength(16 * 4);
    const counts = versions.map((line) => line.split(' ')).filter(([, window]) => Number(window) < 160);
    expect(counts.filter(([, window, , rows]) => rows !== (window === '0' ? '9' : '10'))).toEqual([]);
    // and what has caught up is no longer remembered
    expect(await errata.rows('select * from errata.daily_orders_override')).toEqual([]);
  });

  test('one id under two keys: the first ingested counts, whichever of the two is sealed first (R5)', async () => {
    const errata = await open();
    await errata.delays('US 20s');
    await errata.rows_of(
      'US 2 2 first-US',
      'EU 3 3 first-US',
      'EU 4 4 first-EU',
      'US 5 5 first-EU',
      'EU 6 6 plain',
      'US 6 6',
      'EU 8 8 behind',
      'US 8 8 twice',
      'US 9 9 twice',
    );
    await errata.rows_of('EU 16 16');
    await errata.runAt(17);
    expect((await errata.versions()).filter((line) => line.includes(' 0 '))).toEqual(['EU 0 v1 3']);
    // nothing is decided of ids that only an open keyed window has
    expect(await errata.rows('select distinct event_id from errata.daily_orders_copy order by 1')).toEqual([
      { event_id: 'first-EU' },
      { event_id: 'first-US' },
    ]);
    // copies of what EU has sealed come while US is open, one of them with an earlier ingestion; one of what is open there
    // comes to what is sealed; and one of what EU has sealed comes to EU
    await errata.rows_of(
      'US 18 7 first-EU',
      'US 7 7 behind',
      'EU 18 7 first-US',
      'EU 19 6 plain',
      'EU 32 32',
    );
    await errata.runAt(26);
    await errata.runAt(33);
    expect((await errata.versions()).filter((line) => line.includes(' 0 '))).toEqual([
      'EU 0 v1 3',
      'US 0 v1 3',
    ]);
    expect(
      await errata.rows('select event_id from gold.daily_orders_late_event where landing is not null'),
    ).toEqual([]);
    expect(
      await errata.rows(
        'select region, event_id from gold.daily_orders_late_event where is_conflict order by 2, ingested_at',
      ),
    ).toEqual([
      { region: 'US', event_id: 'behind' },
      { region: 'US', event_id: 'first-EU' },
      { region: 'US', event_id: 'first-EU' },
      { region: 'EU', event_id: 'first-US' },
      { region: 'EU', event_id: 'first-US' },
    ]);
  });

  test('the stream seals: a keyed window is judged, and missed, when its key is sealed', async () => {
    const errata = await open({ seal: '{ by: stream }' });
    await errata.delays('US 20s');
    await errata.rows_of('EU 1 1', 'US 1 1', 'XX 1 1', 'EU 11 11', 'US 11 11');
    for (const region of ['EU', 'US'])
      await errata.rows(
        `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-01-01Z', '2026-01-01 00:00:10Z', $1, 7, 7)`,
        [region],
      );
    await errata.rows_of('XX 16 16');
    const plan = await errata.plan({ bound: '2026-01-01T00:00:17Z' });
    expect(plan.changes.map(({ key }) => key.region).sort()).toEqual(['EU', 'XX']);
    await errata.runAt(17);
    expect(await errata.versions()).toEqual(['EU 0 v1 7', 'US 0 v1 7', 'XX 0 v2 1']);
    await errata.rows_of('XX 31 31');
    await errata.runAt(32);
    expect((await errata.versions()).filter((line) => line.startsWith('US'))).toEqual(['US 0 v1 7']);
    expect(await errata.rows('select region, blocked_reason from errata.daily_orders_touched')).toEqual([
      { region: 'EU', blocked_reason: 'version 1 counts 7 events, bronze holds 1 of them so far' },
      { region: 'US', blocked_reason: 'version 1 counts 7 events, bronze holds 1 of them so far' },
    ]);
  });

  test('adopted from a table: a keyed window when its key is sealed', async () => {
    const errata = await open({ seal: '{ from: gold.result }' });
    await errata.delays('US 20s', 'NULL 0s');
    await errata.rows_of(...three, 'XX 15 15');
    await errata.rows(
      `insert into gold.result select '2026-01-01Z', region, 1, 1 from unnest(array['EU', 'US', null]) as r (region)`,
    );
    await errata.runAt(16);
    expect(await errata.versions()).toEqual(['EU 0 v1 1', 'XX 0 v2 1', 'NULL 0 v1 1']);
    await errata.rows_of('XX 30 30');
    await errata.runAt(31);
    expect((await errata.versions()).filter((line) => line.includes(' 0 '))).toEqual([
      'EU 0 v1 1',
      'US 0 v1 1',
      'XX 0 v2 1',
      'NULL 0 v1 1',
    ]);
  });

  test('a baseline, status, explain and latest know how far each key is sealed', async () => {
    const errata = await open();
    await errata.delays('US 20s');
    await errata.rows(`update ops.delays set lateness = '1 hour' where region = 'US'`);
    await errata.rows_of('EU 1 1', 'US 1 1', 'EU 16 16', 'US 16 2', 'EU 16 3');
    await errata.runAt(17, { verb: 'baseline' });
    expect((await errata.versions()).filter((line) => line.includes(' 0 '))).toEqual(['EU 0 v1 2']);
    expect(await errata.openNow()).toEqual(['US 0', 'EU 10']);
    await errata.rows(
      `insert into errata.daily_orders_touched (window_start, window_end, region, cause, since)
       select '2026-01-01Z', '2026-01-01 00:00:10Z', region, 'source_change', '2026-01-01Z' from unnest(array['EU', 'US']) as r (region)`,
    );
    const bindings = bindingsOf(errata.rollup);
    const queued = await execute(errata.control, prepare('report/queue.sql', bindings), {
      sealed_until: '2026-01-01 00:00:11Z',
      complete_from: '2026-01-01Z',
      at: '2026-01-01Z',
    });
    expect(queued.rows.map(({ waits_for: waits, keyed_windows: count }) => `${waits} ${count}`)).toEqual([
      'run 1',
      'seal 1',
    ]);
    const window = { window_start: '2026-01-01Z', window_end: '2026-01-01 00:00:10Z' };
    const reach = (key: Record<string, string | null>) =>
      inTransaction(errata.control, 'read committed', (transaction) =>
        readReach(transaction, errata.rollup, window, key),
      );
    expect(await reach({ region: 'EU' })).toMatchObject({
      sealed_until: '2026-01-01 00:00:11+00',
      is_open: false,
    });
    expect(await reach({ region: 'US' })).toMatchObject({
      sealed_until: '2025-12-31 23:59:56+00',
      is_open: true,
    });
    expect(await reach({ region: null })).toMatchObject({ is_open: false });
    expect(await reach({})).toMatchObject({ is_open: true });
    await errata.rows_of('EU 50 50');
    await errata.runAt(51);
    expect(
      await errata.rows(
        `select region, is_provisional from gold.daily_orders_latest where window_start = '2026-01-01Z' order by 1`,
      ),
    ).toEqual([
      { region: 'EU', is_provisional: false },
      { region: 'US', is_provisional: true },
    ]);
  });

  test('a row that appears after its own key was sealed is a straggler; before, it is not', async () => {
    const errata = await open();
    await errata.delays('NULL 0s', 'US 20s');
    await errata.rows_of(...three, 'EU 16 16');
    await errata.runAt(17);
    await errata.rows_of('NULL 2 2', 'US 2 2', 'NULL 3 12', 'EU 19 19');
    await errata.runAt(20);
    expect(await errata.lateEvents()).toEqual(['NULL 2 2 NULL open included v2 straggler']);
    await errata.rows_of('NULL 4 13', 'EU 22 22');
    await errata.runAt(27);
    await errata.rows_of('NULL 5 14', 'EU 5 14');
    await errata.runAt(28);
    expect((await errata.lateEvents()).map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'NULL 2 2',
      'NULL 5 14',
    ]);
  });

  test('a baseline includes what is late where its key is sealed, though the others are not', async () => {
    const errata = await open();
    await errata.delays('NULL 0s');
    await errata.rows_of('NULL 1 1', 'EU 1 1', 'EU 11 11', 'NULL 12 2');
    await errata.runAt(14, { verb: 'baseline' });
    expect(await errata.versions()).toEqual(['NULL 0 v1 2']);
    expect(await errata.lateEvents()).toEqual(['NULL 12 2 NULL side_output included v1 refused']);
    // sealed, and no lateness: nothing changes it by itself any more
    expect(await errata.rows('select region, is_provisional from gold.daily_orders_latest')).toEqual([
      { region: null, is_provisional: false },
    ]);
  });

  test('another delay of the rollup moves no key that has its own, and none is sealed before its time', async () => {
    for (const strategy of ['bounded', 'fixed_delay']) {
      const errata = await open({ strategy });
      await errata.delays('US 20s');
      await errata.rows_of('US 1 1', 'EU 1 1', 'US 12 12', 'EU 22 22');
      await errata.runAt(23);
      const settings = errata.rollup.settings;
      const raised = {
        ...errata.rollup,
        settings: {
          ...settings,
          watermark: { ...settings.watermark, delay: { microseconds: 60_000_000n, text: '60 s' } },
        },
      };
      await inTransaction(errata.control, 'read committed', (transaction) =>
        applyRollup(transaction, raised),
      );
      const us = async () => (await errata.versions()).filter((line) => line.startsWith('US'));
      await errata.rows_of('US 29 3', 'EU 29 29');
      await runRollup(errata.control, raised, { bound: '2026-01-01T00:00:29.5Z' });
      expect(await us()).toEqual([]);
      await errata.rows_of('EU 30 30');
      await runRollup(errata.control, raised, { bound: '2026-01-01T00:00:30.5Z' });
      // under bounded the watermark stands still until it has made up for the difference, and US with it
      expect(await us()).toEqual(strategy === 'bounded' ? [] : ['US 0 v1 2']);
      await errata.rows_of('EU 90 90');
      await runRollup(errata.control, raised, { bound: '2026-01-01T00:01:31Z' });
      expect((await errata.versions()).sort()).toEqual([
        'EU 0 v1 1',
        'EU 20 v1 2',
        'US 0 v1 2',
        'US 10 v1 1',
      ]);
    }
  });

  test('delays of their own come together with another delay of the rollup: its steps so far were reckoned by the old one', async () => {
    const window = '{ tumbling: 10 m }';
    const orders = await openOrders({
      ddl: table,
      window,
      watermark: '{ strategy: bounded, delay: 5 m, max_future_skew: none }',
      lateness: '0',
    });
    await orders.land(
      'a 10-29 10:12 10-29 10:13 US',
      'b 10-29 10:12 10-29 10:13 EU',
      'c 10-29 10:22 10-29 10:22 EU',
    );
    await orders.run({ bound: '2026-10-29T10:23Z' });
    await orders.rows(`insert into ops.delays values ('US', '1 m')`);
    const now = await openErrata(
      orders.database,
      `
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }
    window: ${window}
    key: [region]
    measures: { orders: count(*), revenue: sum(amount) }
    watermark: { strategy: bounded, delay: 2 h, max_future_skew: none, overrides: { table: ops.delays, by: [region], delay: delay } }
    seal: { by: errata }
    publish: { policy: auto }
`,
    );
    await now.run({ bound: '2026-10-29T10:24Z' });
    // the greatest event time is 10:22, so US stands at 10:21, 4 minutes ahead of the rollup
    expect(await now.rows('select region, errata_shift from errata.daily_orders_override')).toEqual([
      { region: 'US', errata_shift: '00:04:00' },
    ]);
    expect(await orders.ledger()).toEqual(["10-29 'US' v1 1 10.00"]);
  });

  test('the setting stays while a key is sealed otherwise than the rest, and can go after', async () => {
    const errata = await open();
    await errata.delays('US 20s');
    await errata.rows_of('US 1 1', 'EU 1 1', 'EU 22 22');
    await errata.runAt(23);
    const settings = errata.rollup.settings;
    const { overrides: _, ...watermark } = settings.watermark;
    const without = { ...errata.rollup, overrides: undefined, settings: { ...settings, watermark } };
    const migrate = () =>
      inTransaction(errata.control, 'read committed', (transaction) => applyRollup(transaction, without));
    await expect(migrate()).rejects.toMatchObject({
      exitCode: 2,
      detail:
        'keys with a delay of their own are sealed otherwise than the rest: 1, such as {"region": "US"}',
    });
    await errata.delays();
    await errata.runAt(24);
    expect(await errata.versions()).toEqual(['EU 0 v1 1', 'US 0 v1 1']);
    await migrate();
    await errata.rows_of('US 29 3');
    await runRollup(errata.control, without, { bound: '2026-01-01T00:00:30Z' });
    expect(await errata.versions()).toEqual(['EU 0 v1 1', 'US 0 v1 1', 'US 0 v2 2']);
  });

  test('nothing is sealed while rows of a window of any key are gone, and no key is lost by it (R15)', async () => {
    const errata = await open({
      ddl: `create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)) partition by range (ingested_at);
        create table bronze.early partition of bronze.orders for values from ('2026-01-01Z') to ('2026-01-01 00:00:05Z');
        create table bronze.later partition of bronze.orders for values from ('2026-01-01 00:00:05Z') to ('2027-01-01Z')`,
    });
    await errata.delays('US 20s');
    // sealed until second 16: the new delay of EU would be past the end of the next window, had the run not been blocked
    await errata.rows_of('US 1 1', 'EU 1 1', 'EU 6 16', 'EU 6 21');
    await errata.runAt(7);
    await errata.rows('alter table bronze.orders detach partition bronze.early');
    await errata.rows_of('EU 8 26', 'EU 9 36');
    await errata.delays('US 10s', 'EU 0s');
    const report = await errata.runAt(10);
    expect(report.counts).toMatchObject({ sealing_blocked: 1, windows_sealed: 0 });
    await errata.rows(
      `alter table bronze.orders attach partition bronze.early for values from ('2026-01-01Z') to ('2026-01-01 00:00:05Z')`,
    );
    await errata.runAt(11);
    expect(await errata.versions()).toEqual(['EU 0 v1 1', 'US 0 v1 1', 'EU 10 v1 1', 'EU 20 v1 2']);
  });

  test('by a part of the key, by a table that names it otherwise and has another type of text', async () => {
    const orders = await openOrders({
      ddl: `${table}; create table ops.slow (dev varchar(9) primary key, lag interval)`,
      key: '[amount, region]',
      watermark:
        '{ strategy: bounded, delay: 1 hour, overrides: { table: ops.slow, by: { region: dev }, delay: lag } }',
    });
    await orders.rows(`insert into ops.slow values ('US', '1 day')`);
    await orders.land(
      'a 10-29 10:00 10-29 10:01 EU 1',
      'b 10-29 10:00 10-29 10:01 US 1',
      'c 10-29 10:00 10-29 10:01 US 2',
      'd 10-30 23:59 10-30 23:59 ZZ 3',
    );
    await orders.run({ bound: '2026-10-31T00:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 1.00"]);
    await orders.land('e 10-31 00:00 10-31 00:00:01 ZZ 3');
    await orders.run({ bound: '2026-10-31T00:01Z' });
    expect(await orders.ledger()).toEqual([
      "10-29 'EU' v1 1 1.00",
      "10-29 'US' v1 1 1.00",
      "10-29 'US' v1 1 2.00",
    ]);
  });
});
