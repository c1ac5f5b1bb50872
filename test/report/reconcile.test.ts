/** `reconcile`: every keyed window of a span counted anew from bronze, and what does not add up named (R14, R5, R15). */
import { expect, test } from 'vitest';
import { openOrders } from '../support/orders.ts';
import { eventLines, reconciled, windowLines } from '../support/reconcile.ts';

const bound = '2026-11-05T00:00:00Z';

test('identical', async () => {
  const orders = await openOrders({ policy: 'grace' });
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 10',
    'b 10-29 11:00 10-29 11:01 US 20',
    'c 11-02 00:00 11-02 00:01 EU 5',
    'd 10-29 10:00 11-03 10:00 EU 7',
  );
  await orders.run({ bound });
  const found = await reconciled(orders);
  expect(windowLines(found)).toEqual(['10-29 EU v1 explained: |pending']);
  expect(eventLines(found)).toEqual([]);
  console.log(JSON.stringify(found, null, 1));
});
