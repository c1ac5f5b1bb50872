/** Windows restated on a person's word (R10, R15): exactly what was asked. Figures are worked out by hand. */
import { describe, expect, test } from 'vitest';
import { restate } from '../../src/commands/restate.ts';
import { restateWindows } from '../../src/publication/restate.ts';
import { call } from '../report/verb-context.ts';
import { dailyPartitions, type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';
import { expectAddsUp } from './adds-up.ts';

const at = { bound: '2026-10-31T05:00Z' };
const ada = { actor: 'ada', reason: 'prices were mended' };
const day = { window: '2026-10-29' };

/** Two days of EU, the 29th of US too; every price was wrong by 1 and nobody has told. */
async function mended(options: OrdersOptions = {}, ...more: string[]): Promise<Orders> {
  const orders = await openOrders({ policy: 'grace', ...options });
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 10',
    'b 10-29 11:00 10-29 11:01 US 20',
    'c 10-30 10:00 10-30 10:01 EU 30',
    'q 10-31 03:00 10-31 03:01 ZZ 1',
    ...more,
  );
  await orders.run(at);
  await orders.rows('update bronze.orders set amount = amount + 1');
  return orders;
}

const shipped = ["10-29 'EU' v1 1 10.00", "10-29 'US' v1 1 20.00", "10-30 'EU' v1 1 30.00"];
const versions = async (orders: Orders) => (await orders.ledger()).filter((line) => !line.includes(' v1 '));

describe('errata restate', () => {
  test.each([
    ['a keyed window', { ...day, key: ['EU'] }, ["10-29 'EU' v2 1 11.00 source_change"]],
    [
      'a window of all keys',
      day,
      ["10-29 'EU' v2 1 11.00 source_change", "10-29 'US' v2 1 21.00 source_change"],
    ],
    [
      'a range of one key',
      { from: '2026-10-29', to: '2026-10-31', key: ['EU'] },
      ["10-29 'EU' v2 1 11.00 source_change", "10-30 'EU' v2 1 31.00 source_change"],
    ],
    // the 31st is not sealed
    ['from a day on', { from: '2026-10-30' }, ["10-30 'EU' v2 1 31.00 source_change"]],
  ])('touches exactly %s', async (_, flags, expected) => {
    const orders = await mended();
    // what has landed since is another run's
    await orders.land('z 10-29 12:00 10-31 05:30 EU 3', 's 11-02 12:00 11-02 12:00 ZZ 3');
    const before = await orders.rows('select frontier, sealed_until from errata.rollup');
    const dry = await call(restate, orders, ['daily_orders'], { ...ada, ...flags, dryRun: true });
    expect(dry.text).toContain(`would restate ${expected.length} keyed window`);
    expect(await versions(orders)).toEqual([]);
    const { exitCode, text } = await call(restate, orders, ['daily_orders'], { ...ada, ...flags });
    expect(exitCode).toBe(0);
    expect(text).toMatch(
      /^daily_orders: restated \d keyed windows? and appended \d versions?, in run \d+ at /,
    );
    expect(await versions(orders)).toEqual(expected);
    expect(await orders.ledger()).toEqual(expect.arrayContaining(shipped));
    expect(
      await orders.rows(
        'select distinct kind, actor, approver, reason from gold.daily_orders where version > 1',
      ),
    ).toEqual([{ kind: 'restatement', actor: 'ada', approver: 'ada', reason: ada.reason }]);
    expect(await orders.rows(`select verb, actor, reason from errata.run where verb <> 'run'`)).toEqual([
      { verb: 'restate', ...ada },
    ]);
    expect(await orders.rows('select frontier, sealed_until from errata.rollup')).toEqual(before);
    // once more changes nothing, and is on record
    await call(restate, orders, ['daily_orders'], { ...ada, ...flags });
    expect(await versions(orders)).toEqual(expected);
    expect(await orders.rows(`select from errata.run where verb = 'restate'`)).toHaveLength(2);
  });

  test('pending and waived events stay out; no threshold holds it up', async () => {
    const orders = await mended(
      { publish: 'review_beyond: { revenue: 0 }' },
      'x 10-29 12:00 10-31 04:00 EU 7',
    );
    await restateWindows(orders.control, orders.rollup, { ...ada, key: { region: 'EU' } });
    expect(await versions(orders)).toEqual([
      "10-29 'EU' v2 1 11.00 source_change",
      "10-30 'EU' v2 1 31.00 source_change",
    ]);
    expect(await orders.lateEvents()).toContain("x 'EU' side_output pending refused");
    await restateWindows(orders.control, orders.rollup, { ...ada, key: { region: 'US' } });
    await expectAddsUp(orders);
  });

  test('a window with an open proposal waits for its decision', async () => {
    const orders = await mended({ policy: 'review' }, 'x 10-29 12:00 10-31 04:00 EU 7');
    await expect(call(restate, orders, ['daily_orders'], { ...ada, ...day })).rejects.toMatchObject({
      message: '1 keyed window cannot be restated; nothing was done',
      detail: expect.stringMatching(/EU: an open proposal is about it$/),
      exitCode: 3,
    });
    expect(await versions(orders)).toEqual([]);
    expect(await orders.rows(`select from errata.run where verb = 'restate'`)).toEqual([]);
  });

  test('blocked windows are refused, and then nothing is done (R15)', async () => {
    const orders = await openOrders({ ddl: dailyPartitions });
    await orders.land(
      'a 10-29 10:00 10-29 10:01 EU 10',
      'b 10-30 10:00 10-30 10:01 EU 20',
      'q 10-31 03:00 10-31 03:01 ZZ 1',
    );
    await orders.run(at);
    await orders.rows('drop table bronze.orders_20261029');
    await orders.rows('update bronze.orders set amount = 21 where order_id = $1', ['b']);
    await expect(
      call(restate, orders, ['daily_orders'], { ...ada, from: '2026-10-29', to: '2026-10-31' }),
    ).rejects.toMatchObject({
      message: '1 keyed window cannot be restated; nothing was done',
      detail: expect.stringContaining('gone: bronze.orders_20261029'),
      exitCode: 3,
    });
    expect(await versions(orders)).toEqual([]);
    await call(restate, orders, ['daily_orders'], { ...ada, window: '2026-10-30' });
    expect(await versions(orders)).toEqual(["10-30 'EU' v2 1 21.00 source_change"]);
  });

  test('of sessions', async () => {
    const orders = await mended({ window: '{ session_gap: 30 minutes }' });
    await restateWindows(orders.control, orders.rollup, { ...ada, key: { region: 'US' } });
    expect(await versions(orders)).toEqual(["10-29 'US' v2 1 21.00 source_change"]);
  });

  test('a rollup can forbid it', async () => {
    const orders = await mended({ publish: 'restate: forbidden' });
    for (const dryRun of [true, false])
      await expect(call(restate, orders, ['daily_orders'], { ...ada, ...day, dryRun })).rejects.toMatchObject(
        {
          message: 'rollup "daily_orders" forbids restating',
          detail: 'its settings say publish: { restate: forbidden }',
          exitCode: 2,
        },
      );
    expect(await versions(orders)).toEqual([]);
  });

  test('what must be said', async () => {
    const orders = await openOrders({});
    const refused = (flags: object) => expect(call(restate, orders, ['daily_orders'], flags)).rejects;
    await refused(day).toMatchObject({
      message: 'to restate published numbers takes a person and a reason',
      exitCode: 2,
    });
    await refused(ada).toMatchObject({
      message: 'nothing says which windows to restate',
      hint: 'name them with --window, --from or --to',
    });
    await refused({ ...ada, ...day, to: '2026-10-30' }).toMatchObject({ exitCode: 2 });
    await refused({ ...ada, window: '2026-10-32' }).toMatchObject({ exitCode: 2 });
    await refused({ ...ada, ...day, key: ['country=EU'] }).toMatchObject({ exitCode: 2 });
    await refused({ ...ada, ...day }).toMatchObject({
      message: 'rollup "daily_orders" has no run yet, and nothing published',
      exitCode: 2,
    });
    await orders.run(at);
    await refused({ ...ada, ...day }).toMatchObject({
      message: 'rollup "daily_orders" has no keyed window that fits',
      exitCode: 2,
    });
    await orders.land('q 10-31 03:00 10-31 03:01 ZZ 1');
    await orders.run(at);
    await refused({ ...ada, window: '2026-10-31' }).toMatchObject({
      message: '1 keyed window cannot be restated; nothing was done',
      detail: expect.stringContaining('it is not sealed yet'),
      exitCode: 3,
    });
  });
});
