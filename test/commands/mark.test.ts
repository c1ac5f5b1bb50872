/** `errata mark`: what is pinned stays, whatever is published later (R11). */
import { expect, test } from 'vitest';
import { changes } from '../../src/commands/changes.ts';
import { mark } from '../../src/commands/mark.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';

const known = (orders: Orders, name: string) =>
  orders.rows('select version, orders, revenue from gold.daily_orders_as_of_mark($1)', [name]);

test('pins the latest versions of that time by name; what comes later is what changed since', async () => {
  const orders = await openOrders();
  await orders.land('a 10-29 10:00 10-29 10:01 EU 10', 'pass 10-30 02:00 10-30 02:01 ZZ');
  await orders.run({ bound: '2026-10-30T03:00Z' });
  const { text, exitCode } = await call(mark, orders, ['October, mailed'], { actor: 'ada' });
  expect([exitCode, text.replace(/at 20.*/, 'at INSTANT')]).toEqual([
    0,
    'marked "October, mailed": what was known at INSTANT',
  ]);
  await orders.land('late 10-29 12:00 10-30 04:00 EU 7');
  await orders.run({ bound: '2026-10-30T05:00Z' });
  expect(await known(orders, 'October, mailed')).toEqual([{ version: 1, orders: '1', revenue: '10.00' }]);
  const since = await call(changes, orders, [], { since: 'October, mailed' });
  expect(since.data).toMatchObject([{ windows: [{ old_version: 1, new_version: 2 }] }]);
  // a later one holds the correction, though no run has been since
  await call(mark, orders, ['corrected'], { actor: 'ada' });
  expect(await known(orders, 'corrected')).toEqual([{ version: 2, orders: '2', revenue: '17.00' }]);
  const listed = await call(mark, orders, [], {});
  expect(listed.text.split('\n').map((line) => line.replace(/20\d\d-\S+ \S+/, 'INSTANT'))).toEqual(
    [
      'mark             known until                  by   rollup',
      'corrected        INSTANT  ada  all',
      'October, mailed  INSTANT  ada  all',
    ].map((line) => expect.stringMatching(new RegExp(line.replace(/ +/g, ' +')))),
  );
  await expect(known(orders, 'November')).rejects.toMatchObject({ message: "there is no mark 'November'" });
  await expect(call(mark, orders, ['corrected'], { actor: 'bob' })).rejects.toMatchObject({
    message: 'there is a mark "corrected" already',
    exitCode: 2,
  });
});

test('what a stream is about to insert is in no mark: then none is made', async () => {
  const orders = await openOrders({ seal: '{ by: stream, after: 0 }' });
  const stream = await orders.database.pool.connect();
  const insert = (region: string) =>
    `insert into gold.daily_orders (window_start, window_end, region, orders, revenue) values ('2026-10-29T00:00Z', '2026-10-30T00:00Z', '${region}', 1, 1)`;
  await stream.query(`begin; ${insert('EU')}`);
  await expect(call(mark, orders, ['early'], { actor: 'ada' })).rejects.toMatchObject({
    message: 'a stream is inserting at this moment',
    exitCode: 4,
  });
  await stream.query('commit');
  stream.release();
  await call(mark, orders, ['early'], { actor: 'ada' });
  await orders.rows(insert('US'));
  expect(await known(orders, 'early')).toEqual([{ version: 1, orders: '1', revenue: '1' }]);
});

test.each([
  [[' '], { actor: 'ada' }, 'a mark takes a name and a person'],
  [['x'], {}, 'a mark takes a name and a person'],
  [['12'], { actor: 'ada' }, '"12" would be taken for the number of a run'],
])('%j %j: %s', async (words, flags, message) => {
  const orders = await openOrders();
  await expect(call(mark, orders, words, flags)).rejects.toMatchObject({ message, exitCode: 2 });
});
