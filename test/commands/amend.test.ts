/** `errata amend`: what must be said, what it shows before, and what it leaves. Figures are worked out by hand. */
import { expect, test } from 'vitest';
import { amend } from '../../src/commands/amend.ts';
import { call } from '../report/verb-context.ts';
import { openOrders, ordersYaml } from '../support/orders.ts';
import { errata, workDirectory } from './command.ts';

const who = { actor: 'ada', reason: 'a test order' };
const rows = [
  '1 10-29 10:00 10-29 10:00 EU 5',
  '2 10-29 10:00 10-29 10:00 NULL 7',
  '3 10-30 10:00 10-30 10:00 EU 9',
  '4 11-02 12:00 11-02 12:00 EU',
];

test('who, why, and which windows', async () => {
  const orders = await openOrders();
  await orders.land(...rows);
  await orders.run({ bound: '2026-11-02T14:00:00Z' });
  const refused = (flags: object) => expect(call(amend, orders, ['daily_orders'], flags)).rejects;
  await refused({ window: '2026-10-29', actor: 'ada' }).toMatchObject({
    message: 'to amend published numbers takes a person and a reason',
    exitCode: 2,
  });
  await refused(who).toMatchObject({ message: 'nothing says which windows to amend', exitCode: 2 });
  await refused({ ...who, key: ['EU'] }).toMatchObject({ exitCode: 2 });
  await refused({ ...who, window: '2026-10-29', to: '2026-10-30' }).toMatchObject({ exitCode: 2 });
  await refused({ ...who, window: '2026-10-31' }).toMatchObject({
    message: 'rollup "daily_orders" has no keyed window that fits',
    exitCode: 2,
  });
  await refused({ ...who, event: ['99'] }).toMatchObject({
    hint: expect.stringContaining('name its window with --window'),
    exitCode: 2,
  });
});

test.each<[string, object, number]>([
  ['a window', { window: '2026-10-29' }, 2],
  ['a window and a key', { window: '2026-10-29', key: ['region=NULL'] }, 1],
  ['a span, half-open', { from: '2026-10-29', to: '2026-10-30' }, 2],
  ['a span and a key', { from: '2026-10-29', key: ['EU'] }, 3],
  ['an event that bronze holds', { event: ['3'] }, 1],
])('%s', async (_, flags, windows) => {
  const orders = await openOrders();
  await orders.land(...rows);
  await orders.run({ bound: '2026-11-02T14:00:00Z' });
  const outcome = await call(amend, orders, ['daily_orders'], { ...who, ...flags });
  expect(outcome.data).toMatchObject({ amended: windows, counts: { windows_corrected: 0 } });
});

test('as a shell sees it: the dry run, the void version, and a proposal under grace', {
  timeout: 120_000,
}, async () => {
  for (const policy of ['auto', 'grace'] as const) {
    const orders = await openOrders({ policy });
    await orders.land(...rows);
    await orders.run({ bound: '2026-11-02T14:00:00Z' });
    await orders.rows(`delete from bronze.orders where order_id in ('1')`);
    const directory = workDirectory(ordersYaml({ policy }));
    const words = [
      'amend',
      'daily_orders',
      '--window',
      '2026-10-29',
      '--key',
      'EU',
      '--actor',
      'ada',
      '--reason',
      'x',
    ];
    const dry = await errata(directory, orders.database.url, ...words, '--dry-run');
    expect(dry.stdout).toContain('nothing was published');
    expect(await orders.ledger()).toHaveLength(3);
    const done = await errata(directory, orders.database.url, ...words);
    if (policy === 'auto') {
      expect(done).toMatchObject({ exitCode: 0, stderr: '' });
      expect(done.stdout).toMatch(
        /^daily_orders: recomputed 1 keyed window and appended 1 version, in run \d+ at 2/,
      );
      expect(done.stdout).toMatch(/2026-10-29 +EU +void +orders +1 +void +-1 +source_change/);
    } else {
      expect(done).toMatchObject({ exitCode: 3 });
      expect(done.stdout).toContain('appended 0 versions');
      expect(done.stdout).toContain('1 keyed window proposed');
    }
  }
});
