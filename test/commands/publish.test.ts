/** `errata publish`: what must be said, what it shows before, and what it leaves. Figures are worked out by hand. */
import { beforeAll, describe, expect, test } from 'vitest';
import { publish } from '../../src/commands/publish.ts';
import type { ReleaseFlags } from '../../src/report/release-request.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, openOrders, ordersYaml } from '../support/orders.ts';
import { errata, workDirectory } from './command.ts';

const who = { actor: 'ada', reason: 'confirmed by the shop' };
type Flags = ReleaseFlags & { readonly dryRun?: boolean };

/**
 * Two days and two regions, one order of 10 each; refused after the fact: 31 and 32 of the 29th (EU 5, EU 7), 33 of the
 * 29th (NULL, 1), 41 of the 30th (EU, 2).
 */
async function refusedOrders(): Promise<Orders> {
  const orders = await openOrders({ policy: 'grace' });
  await orders.land(
    '1 10-29 10:00 10-29 10:00 EU',
    '2 10-29 10:00 10-29 10:00 NULL',
    '3 10-30 10:00 10-30 10:00 EU',
    '4 11-02 12:00 11-02 12:00 EU',
    '31 10-29 11:00 11-02 13:00 EU 5',
    '32 10-29 11:30 11-02 13:00 EU 7',
    '33 10-29 11:30 11-02 13:00 NULL 1',
    '41 10-30 11:30 11-02 13:00 EU 2',
  );
  await orders.run({ bound: '2026-11-02T14:00:00Z' });
  return orders;
}

const ledgerAtFirst = ['10-29 NULL v1 1 10.00', "10-29 'EU' v1 1 10.00", "10-30 'EU' v1 1 10.00"];
const released = async (orders: Orders) =>
  (
    await orders.rows<{ event_id: string }>(
      `select event_id from gold.daily_orders_late_event where state = 'included' order by event_id`,
    )
  ).map((row) => row.event_id);

describe('what must be said', () => {
  let orders: Orders;
  beforeAll(async () => {
    orders = await refusedOrders();
  });
  const refused = (flags: Flags) => expect(call(publish, orders, ['daily_orders'], flags)).rejects;

  test('who, why, and what', async () => {
    await refused({ all: true, reason: 'x' }).toMatchObject({
      message: 'to publish what a policy left pending takes a person and a reason',
      exitCode: 2,
    });
    await refused({ all: true, actor: 'ada', reason: ' ' }).toMatchObject({ exitCode: 2 });
    await refused(who).toMatchObject({
      message: 'nothing says which pending events to publish',
      hint: expect.stringContaining('--all means every one'),
    });
    await refused({ ...who, all: true, event: ['31'] }).toMatchObject({
      message: '--all and --event contradict each other',
    });
    await refused({ ...who, window: '2026-10-29', from: '2026-10-01' }).toMatchObject({ exitCode: 2 });
  });

  test('what cannot be meant', async () => {
    await refused({ ...who, window: '2026-10-32' }).toMatchObject({
      message: expect.stringContaining('--window "2026-10-32" is not a date or an instant'),
      exitCode: 2,
    });
    await refused({ ...who, window: '2026-10-29T10:00' }).toMatchObject({ exitCode: 2 });
    await refused({ ...who, key: ['country=EU'] }).toMatchObject({
      message: '"country=EU" names no key column',
    });
    await expect(call(publish, orders, ['daily_order'], { ...who, all: true })).rejects.toMatchObject({
      exitCode: 2,
    });
  });

  test('what fits nothing is a failure, and changes nothing', async () => {
    for (const flags of [{ event: ['999'] }, { window: '2026-10-31' }, { key: ['region=US'] }]) {
      await refused({ ...who, ...flags }).toMatchObject({
        message: 'rollup "daily_orders" has no pending event that fits',
        exitCode: 2,
      });
    }
    expect(await orders.ledger()).toEqual(ledgerAtFirst);
  });

  test('the dry run shows before and after, and keeps nothing', async () => {
    const outcome = await call(publish, orders, ['daily_orders'], { ...who, event: ['31'], dryRun: true });
    expect(outcome.exitCode).toBe(0);
    expect(outcome.text).toContain('would release 1 event and append 1 version; nothing was published');
    expect(outcome.text).toMatch(/2026-10-29 +EU +correct +orders +1 +2 +\+1 +refused +31/);
    expect(outcome.text).toMatch(/revenue +10\.00 +15\.00 +\+5\.00/);
    expect(outcome.data).toMatchObject({ dryRun: true, released: 1, actor: 'ada' });
    expect(await orders.ledger()).toEqual(ledgerAtFirst);
    expect(await released(orders)).toEqual([]);
    expect(await orders.rows(`select from gold.daily_orders_late_event where released`)).toEqual([]);
  });
});

describe('what it lets in', () => {
  test.each<[string, Flags, string[]]>([
    ['one event', { event: ['31'] }, ['31']],
    ['several events', { event: ['31', '41'] }, ['31', '41']],
    ['a window by its local date', { window: '2026-10-29' }, ['31', '32', '33']],
    ['a window by an instant inside it', { window: '2026-10-30T23:59:59Z' }, ['41']],
    ['a span, half-open', { from: '2026-10-29', to: '2026-10-30' }, ['31', '32', '33']],
    ['everything from a day on', { from: '2026-10-30T00:00:00Z' }, ['41']],
    ['a key', { key: ['region=EU'] }, ['31', '32', '41']],
    ['the NULL key', { key: ['region=NULL'] }, ['33']],
    ['a bare value, in one window', { key: ['EU'], window: '2026-10-29' }, ['31', '32']],
    ['all', { all: true }, ['31', '32', '33', '41']],
  ])('%s', async (_, flags, expected) => {
    const orders = await refusedOrders();
    const outcome = await call(publish, orders, ['daily_orders'], { ...who, ...flags });
    expect(outcome.exitCode).toBe(0);
    expect(await released(orders)).toEqual(expected);
  });
});

test('as a shell sees it: before and after, the person and the reason with the version, and no second time', async () => {
  const orders = await refusedOrders();
  const directory = workDirectory(ordersYaml({ policy: 'grace' }));
  const words = ['publish', 'daily_orders', '--event', '31', '32', '--key', 'region=EU', '--actor', 'ada'];
  const call = () => errata(directory, orders.database.url, ...words, '--reason', 'confirmed by the shop');
  const first = await call();
  expect(first).toMatchObject({ exitCode: 0, stderr: '' });
  expect(first.stdout).toMatch(/^daily_orders: released 2 events and appended 1 version, in run \d+ at 2/);
  expect(first.stdout).toMatch(/2026-10-29 +EU +correct +orders +1 +3 +\+2 +refused +31 32/);
  expect(
    await orders.rows(
      'select version, orders, revenue, actor, reason, causes from gold.daily_orders where version > 1',
    ),
  ).toEqual([
    { version: 2, orders: '3', revenue: '22.00', actor: 'ada', reason: who.reason, causes: ['refused'] },
  ]);
  const again = await call();
  expect(again).toMatchObject({ exitCode: 2, stdout: '' });
  expect(again.stderr).toContain('has no pending event that fits');
});
