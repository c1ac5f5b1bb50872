/** R19: a keyed window whose measure cannot be computed is set aside; the rest is sealed and published without it. */
import { describe, expect, test } from 'vitest';
import { explain } from '../../src/commands/explain.ts';
import { publish } from '../../src/commands/publish.ts';
import { status } from '../../src/commands/status.ts';
import { summaryLine } from '../../src/output/summary.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';

/** An amount of 0 cannot be divided by. */
const measures = '{ orders: count(*), revenue: sum(10 / amount) }';
const passDay = 'pass 10-30 02:00 10-30 02:01 ZZ 1';
const good = ['a 10-29 10:00 10-29 10:01 EU 5', 'b 10-29 11:00 10-29 11:01 US 2'];
const bad = 'bad 10-29 12:00 10-29 12:01 EU 0';
const person = { actor: 'kim', reason: 'the till was wrong' };

const correct = (orders: Orders, id = 'bad') =>
  orders.rows(`update bronze.orders set amount = 10 where order_id = '${id}'`);

/** `start region orders revenue vN` of all versions, however windows are cut. */
const versions = (orders: Orders) =>
  orders
    .rows<{ line: string }>(
      `select concat_ws(' ', to_char(window_start at time zone 'UTC', 'MM-DD HH24:MI'), to_jsonb(g) ->> 'region', 'v' || version, event_count, round(revenue, 2), case when is_void then 'void' end, nullif(array_to_string(causes, '+'), '')) as line
       from gold.daily_orders as g order by window_start, window_end, to_jsonb(g) ->> 'region', version`,
    )
    .then((rows) => rows.map(({ line }) => line));

describe.each<[string, OrdersOptions]>([
  ['tumbling', { window: '{ tumbling: 1 hour }' }],
  ['calendar', { window: '{ calendar: 1 day, time_zone: UTC }' }],
  ['hopping', { window: '{ hopping: 2 hours, every: 1 hour }' }],
  ['session', { window: '{ session_gap: 30 minutes }' }],
  ['no key', { window: '{ tumbling: 1 hour }', key: '[]' }],
])('%s windows: the failing keyed window is set aside, and heals', (_, options) => {
  const failing = (orders: Orders) =>
    orders.rows<{ causes: string; error: string; tries: number }>(
      `select string_agg(distinct cause, '+' order by cause) as causes, max(error) as error, max(tries) as tries
       from errata.daily_orders_touched where error is not null group by window_start, window_end order by window_start`,
    );
  const opened = async (corrected: boolean): Promise<Orders> => {
    const orders = await openOrders({ measures, lateness: '0', ...options });
    await orders.land(...good, corrected ? bad.replace(/0$/, '10') : bad, passDay);
    return orders;
  };

  test('at the seal: version 1 is written by the run that can compute it', async () => {
    const [orders, healthy] = [await opened(false), await opened(true)];
    const report = await orders.run({ bound: '2026-10-30T03:00Z' });
    await healthy.run({ bound: '2026-10-30T03:00Z' });
    const all = await versions(healthy);
    const some = await versions(orders);
    expect(report.needsAttention).toBe(true);
    expect(report.counts.windows_failing).toBe(all.length - some.length);
    expect(all.length).toBeGreaterThan(some.length);
    expect(some.length).toBeGreaterThan(0);
    expect(all).toEqual(expect.arrayContaining(some));
    for (const row of await failing(orders))
      expect(row).toEqual({ causes: 'unsealed', error: 'division by zero (22012)', tries: 1 });

    // nothing has changed: tried again, and counted
    const second = await orders.run({ bound: '2026-10-30T03:30Z' });
    expect(second.failing[0]).toMatchObject({
      is_unsealed: true,
      tries: 2,
      error: 'division by zero (22012)',
    });
    expect(await versions(orders)).toEqual(some);

    // a late event to the failing window waits for its version 1; in a session it would replace it
    const late = options.window?.includes('session') ? [] : [orders, healthy];
    for (const one of late) {
      await one.land('late 10-29 12:10 10-30 04:00 EU 2');
      await one.run({ bound: '2026-10-30T04:30Z' });
    }
    await correct(orders);
    const healed = await orders.run({ bound: '2026-10-30T05:00Z' });
    await healthy.run({ bound: '2026-10-30T05:00Z' });
    expect(await versions(orders)).toEqual(await versions(healthy));
    // the corrected row is no straggler: it is in version 1
    expect(healed.counts.stragglers).toBe(0);
    expect(healed.counts).not.toHaveProperty('windows_failing');
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
    expect(healed.needsAttention).toBe(false);
    expect((await orders.run({ bound: '2026-10-30T06:00Z' })).counts.windows_corrected).toBe(0);
  });

  test('at the recompute: a late row fails its window, and no other', async () => {
    const [orders, healthy] = [await opened(true), await opened(true)];
    const late = (amount: string) => [
      `worse 10-29 12:10 10-30 04:00 EU ${amount}`,
      'fine 10-29 11:10 10-30 04:00 US 4',
    ];
    for (const one of [orders, healthy]) await one.run({ bound: '2026-10-30T03:00Z' });
    const before = await versions(orders);
    await orders.land(...late('0'));
    await healthy.land(...late('10'));
    const report = await orders.run({ bound: '2026-10-30T04:30Z' });
    await healthy.run({ bound: '2026-10-30T04:30Z' });
    expect(report.counts.contributions_failing).toBe(1);
    expect(report.counts.windows_failing).toBeGreaterThan(0);
    expect(report.needsAttention).toBe(true);
    const some = await versions(orders);
    const all = await versions(healthy);
    if (options.key !== '[]') expect(some.length).toBeGreaterThan(before.length);
    expect(all.length).toBeGreaterThan(some.length);
    expect(all).toEqual(expect.arrayContaining(some));
    // never lost: kept by name, without its own contribution (R16)
    expect(
      (
        await orders.rows<{ line: string }>(
          `select distinct concat_ws(' ', event_id, landing, state, coalesce(orders::text, '-'), coalesce(revenue::text, '-')) as line from gold.daily_orders_late_event where event_id = 'worse'`,
        )
      ).map(({ line }) => line),
    ).toEqual(['worse side_output pending - -']);
    await orders.run({ bound: '2026-10-30T04:40Z' });
    expect((await failing(orders))[0]).toMatchObject({ tries: 2 });
    await correct(orders, 'worse');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    await healthy.run({ bound: '2026-10-30T05:00Z' });
    const plain = (lines: string[]) => lines.map((line) => line.replace(/ refused.*| source_change.*/, ''));
    expect(plain(await versions(orders))).toEqual(plain(await versions(healthy)));
    expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
  });
});

test('the failing row is deleted: version 1 over the rest; nothing is left of a window without rows', async () => {
  const orders = await openOrders({ measures, window: '{ tumbling: 1 hour }' });
  await orders.land('x 10-29 12:10 10-29 12:10 EU 5', bad, 'only 10-29 14:00 10-29 14:01 US 0', passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  expect(await versions(orders)).toEqual([]);
  await orders.rows(`delete from bronze.orders where amount = 0`);
  await orders.run({ bound: '2026-10-30T04:00Z' });
  expect(await versions(orders)).toEqual(['10-29 12:00 EU v1 1 2.00']);
  expect(await orders.rows('select * from errata.daily_orders_touched')).toEqual([]);
});

test('a person who amends it is not refused, and version 1 comes first', async () => {
  const orders = await openOrders({ measures });
  await orders.land(...good, bad, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await correct(orders);
  await amendWindows(
    orders.control,
    orders.rollup,
    { ...person, windowFrom: '2026-10-29T00:00Z', windowTo: '2026-10-30T00:00Z', key: { region: 'EU' } },
    { bound: '2026-10-30T04:00Z' },
  );
  expect(await versions(orders)).toEqual(['10-29 00:00 EU v1 2 3.00', '10-29 00:00 US v1 1 5.00']);
});

test('a session that failed at its seal and was replaced before its row was corrected has no version 1', async () => {
  const orders = await openOrders({ measures, lateness: '0', window: '{ session_gap: 30 minutes }' });
  await orders.land(...good, bad, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land('late 10-29 12:10 10-30 04:00 EU 2');
  await orders.run({ bound: '2026-10-30T04:30Z' });
  expect(await versions(orders)).toEqual(['10-29 10:00 EU v1 1 2.00', '10-29 11:00 US v1 1 5.00']);
  await correct(orders);
  expect(await orders.run({ bound: '2026-10-30T05:00Z' })).toMatchObject({
    needsAttention: false,
    failing: [],
  });
  expect(await versions(orders)).toEqual([
    '10-29 10:00 EU v1 1 2.00',
    '10-29 11:00 US v1 1 5.00',
    '10-29 12:00 EU v2 2 6.00 refused+source_change',
  ]);
});

test('a session that fails and the one that it replaced change in one run', async () => {
  const orders = await openOrders({ measures, lateness: '0', window: '{ session_gap: 30 minutes }' });
  await orders.land('x 10-29 12:00 10-29 12:01 EU 5', passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land('bad 10-29 12:10 10-30 04:00 EU 0', 'fine 10-29 12:10 10-30 04:00 US 1');
  await orders.run({ bound: '2026-10-30T04:30Z' });
  const before = ['10-29 12:00 EU v1 1 2.00', '10-29 12:10 US v2 1 10.00 refused'];
  expect(await versions(orders)).toEqual(before);
  await orders.run({ bound: '2026-10-30T04:40Z' });
  expect(await versions(orders)).toEqual(before);
  await correct(orders);
  await orders.run({ bound: '2026-10-30T05:00Z' });
  expect(await versions(orders)).toEqual([
    before[0],
    '10-29 12:00 EU v2 0 void refused',
    '10-29 12:00 EU v2 2 3.00 refused+source_change',
    before[1],
  ]);
});

test('a limited run takes the longest waiting first, and what fails or is blocked never holds up the rest', async () => {
  const orders = await openOrders({ measures, window: '{ tumbling: 1 hour }' });
  const hours = ['10', '11', '12', '13'];
  await orders.land(...hours.map((hour) => `o${hour} 10-29 ${hour}:00 10-29 ${hour}:01 EU 5`), passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  const corrected = () =>
    orders
      .rows<{ at: string }>(
        `select to_char(window_start at time zone 'UTC', 'HH24') as at from gold.daily_orders where version = 2 order by run_id, window_start`,
      )
      .then((rows) => rows.map(({ at }) => at));
  // queued in this order: the failing 12, then 13; later 10 and 11, of which 10 starts earlier
  await orders.land('l12 10-29 12:10 10-30 04:00 EU 0', 'l13 10-29 13:10 10-30 04:00 EU 5');
  await orders.run({ bound: '2026-10-30T04:30Z', maxWindows: 1 });
  expect(await corrected()).toEqual([]);
  await orders.land('l11 10-29 11:10 10-30 05:00 EU 5', 'l10 10-29 10:10 10-30 05:00 EU 5');
  for (const minute of ['10', '20', '30'])
    await orders.run({ bound: `2026-10-30T05:${minute}Z`, maxWindows: 1 });
  expect(await corrected()).toEqual(['13', '10', '11']);
  await correct(orders, 'l12');
  await orders.run({ bound: '2026-10-30T05:40Z', maxWindows: 1 });
  expect(await corrected()).toEqual(['13', '10', '11', '12']);
});

test('under grace a refused row whose share cannot be computed is pending, named, and needs a person', async () => {
  const orders = await openOrders({ measures, lateness: '0', policy: 'grace' });
  await orders.land(...good, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land(bad.replace('10-29 12:01', '10-30 04:00'));
  const report = await orders.run({ bound: '2026-10-30T04:30Z' });
  expect(report.counts).toMatchObject({ side_output: 1, contributions_failing: 1, events_pending: 1 });
  expect(await orders.lateEvents()).toEqual(["bad 'EU' side_output pending refused"]);
  const failed = await releaseEvents(
    orders.control,
    orders.rollup,
    { ...person, eventIds: ['bad'] },
    { bound: '2026-10-30T05:00Z' },
  );
  expect(failed).toMatchObject({
    needsAttention: true,
    counts: { windows_failing: 1, windows_corrected: 0 },
  });
  await correct(orders);
  await orders.run({ bound: '2026-10-30T06:00Z' });
  expect((await orders.rows('select revenue from gold.daily_orders_late_event')).length).toBe(1);
});

test('a baseline: what failed gets version 1 with the late rows in it', async () => {
  const [orders, healthy] = [await openOrders({ measures }), await openOrders({ measures })];
  const late = 'late 10-29 13:00 10-31 04:00 EU 4';
  const jump = 'jump 10-31 03:00 10-31 03:01 ZZ 1';
  await orders.land(...good, bad, passDay, jump, late);
  await healthy.land(...good, bad.replace(/0$/, '10'), passDay, jump, late);
  for (const one of [orders, healthy])
    await one.run({ bound: '2026-10-31T05:00Z', verb: 'baseline', ...person });
  expect(await versions(orders)).not.toEqual(await versions(healthy));
  await correct(orders);
  await orders.run({ bound: '2026-10-31T06:00Z' });
  expect(await versions(orders)).toEqual(await versions(healthy));
});

test('an ingestion partition that may have held rows of it is gone: version 1 is not written over part of them (R15)', async () => {
  const { dailyPartitions } = await import('../support/orders.ts');
  const orders = await openOrders({ measures, ddl: dailyPartitions });
  await orders.land(...good, bad, 'c 10-29 23:00 10-30 00:10 EU 5', passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.rows('alter table bronze.orders detach partition bronze.orders_20261029');
  await orders.land('late 10-29 13:00 10-30 03:30 EU 5');
  const report = await orders.run({ bound: '2026-10-30T04:00Z' });
  expect(report.needsAttention).toBe(true);
  // neither version 1 nor a correction of it
  expect(await versions(orders)).toEqual(['10-29 00:00 US v1 1 5.00']);
  expect((await call(status, orders, [], {})).text).toContain(
    'its version 1 is still to be written, and ingestion',
  );
  await orders.rows(`update bronze.orders_20261029 set amount = 10 where order_id = 'bad'`);
  await orders.rows(
    `alter table bronze.orders attach partition bronze.orders_20261029 for values from ('2026-10-29 00:00+00') to ('2026-10-30 00:00+00')`,
  );
  await orders.run({ bound: '2026-10-30T05:00Z' });
  expect(await versions(orders)).toEqual([
    '10-29 00:00 EU v1 3 5.00',
    '10-29 00:00 EU v2 4 7.00 late_firing',
    '10-29 00:00 US v1 1 5.00',
  ]);
});

test('what is no fault of a row ends the run, and a measure that fails everywhere is said to', async () => {
  const orders = await openOrders({ measures });
  await orders.land(...good, passDay);
  await orders.rows(`alter table gold.daily_orders drop column revenue cascade`);
  await expect(orders.run({ bound: '2026-10-30T03:00Z' })).rejects.toMatchObject({ code: '42703' });
});

test('run, status and explain say so, with the error and the tries, and exit code 3', async () => {
  const orders = await openOrders({ measures });
  await orders.land(...good, bad, passDay);
  const report = await orders.run({ bound: '2026-10-30T03:00Z' });
  expect(summaryLine([{ rollup: 'daily_orders', report }])).toContain(
    '1 keyed window failing: a measure cannot be computed',
  );
  const said = await call(status, orders, [], {});
  expect(said.exitCode).toBe(3);
  expect(said.text).toContain('daily_orders: 1 failing');
  expect(said.text).toContain(
    'a measure of 1 keyed window cannot be computed, the first at 2026-10-29 00:00:00Z: division by zero (22012); tried by 1 run;',
  );
  const told = await call(explain, orders, ['daily_orders', '2026-10-29', 'EU'], {});
  expect(told.text).toContain('It is sealed, and its version 1 is still to be written');
  expect(told.text).toContain(
    'failing since 2026-10-30 03:00:00Z (unsealed), tried by 1 run: division by zero (22012); the next run tries it again',
  );
});

test('a limited run corrects nothing of a keyed window whose version 1 is still to be written', async () => {
  const orders = await openOrders({ measures, window: '{ tumbling: 1 hour }' });
  await orders.land(bad, 'bad2 10-29 13:00 10-29 13:01 EU 0', passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land('late 10-29 13:10 10-30 04:00 EU 5');
  await correct(orders);
  await correct(orders, 'bad2');
  const first = '10-29 12:00 EU v1 1 1.00';
  await orders.run({ bound: '2026-10-30T05:00Z', maxWindows: 1 });
  expect(await versions(orders)).toEqual([first]);
  await orders.run({ bound: '2026-10-30T06:00Z', maxWindows: 1 });
  expect(await versions(orders)).toEqual([
    first,
    '10-29 13:00 EU v1 1 1.00',
    '10-29 13:00 EU v2 2 3.00 late_firing',
  ]);
});

test('publish says that what it released is in a keyed window that fails', async () => {
  const orders = await openOrders({ measures, lateness: '0', policy: 'grace' });
  await orders.land(...good, passDay);
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land(bad.replace('10-29 12:01', '10-30 04:00'));
  await orders.run({ bound: '2026-10-30T04:30Z' });
  const outcome = await call(publish, orders, ['daily_orders'], { event: ['bad'], ...person });
  expect(outcome.exitCode).toBe(3);
  expect(outcome.text).toContain(
    '1 keyed window cannot be published now: `errata status daily_orders` says why',
  );
});
