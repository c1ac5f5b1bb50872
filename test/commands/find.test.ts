/** `errata find`: a printed number and a date, and what stood at it. Figures are worked out by hand. */
import { beforeAll, describe, expect, test } from 'vitest';
import { find } from '../../src/commands/find.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { citationOf, hashOf } from '../../src/report/find/citation.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';

/** 1,402 orders of 29 October, 3 of them in US, published today; order 8841 by a person, three days from now. */
let orders: Orders;
let [today, later] = ['', ''];

beforeAll(async () => {
  orders = await openOrders({ policy: 'grace' });
  await orders.rows(`insert into bronze.orders
    select 'o' || n, '2026-10-29T10:00Z', '2026-10-29T10:01Z', case when n <= 3 then 'US' else 'EU' end, 1.25 from generate_series(1, 1402) as n`);
  await orders.land(
    '30 10-30 10:00 10-30 10:00 EU 7.50',
    'w 11-01 10:00 11-01 10:00 EU',
    '8841 10-29 18:02 11-01 11:00 EU 4',
  );
  await orders.run({ bound: '2026-11-01T12:00Z' });
  const ahead = `update errata.rollup set last_stamp = clock_timestamp() + interval '3 days'`;
  await orders.rows(ahead);
  await releaseEvents(
    orders.control,
    orders.rollup,
    { actor: 'ada', reason: 'confirmed by the shop', eventIds: ['8841'] },
    { bound: '2026-11-01T13:00Z' },
  );
  const [days] = await orders.rows<{ today: string; later: string }>(
    `select (min(stamp) at time zone 'UTC')::date::text as today, (max(stamp) at time zone 'UTC')::date::text as later from gold.daily_orders`,
  );
  ({ today, later } = days as { today: string; later: string });
}, 60_000);

const look = (word: string, on?: string) => call(find, orders, [word], on === undefined ? {} : { on });
/** Citations and instants come from the clock. */
const steady = (text: string) =>
  text
    .replace(/[0-9A-Z]{4}(-[0-9A-Z]{4}){2}/g, 'CITATION')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?Z/g, 'STAMP');

describe('a number and a day', () => {
  test('the keyed window that stood at it, what came after, and why', async () => {
    const { exitCode, text } = await look('1399', today);
    expect(exitCode).toBe(0);
    expect(steady(text)).toBe(`1399 on ${today} (UTC): 1 version and 0 totals

daily_orders, 2026-10-29, region EU: orders 1,399
  version 1, what shipped; cited as CITATION
  stood from STAMP until STAMP
  before: nothing was published
  after:  1,400 (+1), version 2; changed by refused by ada, run 2: confirmed by the shop
          with event 8841`);
  });

  test('what it is now, and what it was before', async () => {
    const { text } = await look('1,400', later);
    expect(steady(text)).toContain(`daily_orders, 2026-10-29, region EU: orders 1,400
  version 2, a correction; cited as CITATION
  stood from STAMP to this day
  before: 1,399; changed by refused by ada, run 2: confirmed by the shop
          with event 8841
  after:  it is the latest version`);
  });

  test('a total over keys: of the window, and of the month', async () => {
    const { data, exitCode } = await look('1402', today);
    expect(exitCode).toBe(0);
    const { found } = data as { found: { versions: unknown[]; totals: object[] }[] };
    expect(found[0]?.versions).toEqual([]);
    expect(found[0]?.totals).toMatchObject([
      {
        measure: 'orders',
        period: null,
        local_date: '2026-10-29',
        value: '1402',
        next_value: '1403',
        next_delta: '1',
      },
    ]);
    // 1,402 × 1.25 + 7.50
    const month = (await look('1760.00', today)).data as typeof data & { found: { totals: object[] }[] };
    expect(month.found[0]?.totals).toMatchObject([
      { measure: 'revenue', period: '2026-10', key: null, value: '1760.00', next_value: '1764.00' },
    ]);
    // without the three of US
    const eu = (await look('1756.25', today)).data as typeof month;
    expect(eu.found[0]?.totals).toMatchObject([{ period: '2026-10', key: { region: 'EU' } }]);
  });

  test('not on that day: what stood at it on another; never: so it says', async () => {
    const other = await look('1399', '2026-10-30');
    expect(other.exitCode).toBe(3);
    expect(other.text).toContain('1399: 1 version and 0 totals, at no time of 2026-10-30, but at others');
    const never = await look('4711', today);
    expect([never.exitCode, never.text]).toEqual([
      3,
      '4711: nothing that daily_orders published ever stood at it',
    ]);
  });

  test('printed with fewer decimals: what rounds to it', async () => {
    const { exitCode, text } = await look('1748.8', today);
    expect(exitCode).toBe(0);
    expect(text).toContain('rounded as it was printed');
    expect(text).toContain('region EU: revenue 1,748.75');
  });
});

describe('a citation', () => {
  test('names one version, whatever its case', async () => {
    const { data } = await look('1400', later);
    const { found } = data as { found: { versions: { citation: string }[] }[] };
    const citation = found[0]?.versions[0]?.citation as string;
    const resolved = await look(citation.toLowerCase());
    expect(resolved.exitCode).toBe(0);
    expect(resolved.text).toContain('version 2, a correction');
    expect(resolved.text).toContain('revenue 1,752.75');
    expect((await look('ZZZZ-ZZZZ-ZZZZ')).exitCode).toBe(3);
  });

  test('hash and citation say the same sixty bits', () => {
    expect(citationOf('000000000000001ff')).toBe('0000-0000-0001');
    expect(citationOf(`${'f'.repeat(15)}0`)).toBe('ZZZZ-ZZZZ-ZZZZ');
    for (const hash of ['0123456789abcde', 'fedcba987654321']) expect(hashOf(citationOf(hash))).toBe(hash);
    expect(hashOf('OIL0-0000-0000')).toBe(hashOf('0110-0000-0000'));
    for (const word of ['1402', 'UUUU-0000-0000', '0000-0000', '2026-10-30'])
      expect(hashOf(word)).toBeUndefined();
  });
});

test.each([
  [['1.402,50'], undefined, '"1.402,50" can be read in several ways'],
  [[' '], undefined, 'an empty text is no printed number'],
  [['1402'], '2026-02-30', '--on "2026-02-30" is no date'],
  [['1402'], 'yesterday', '--on "yesterday" is no date'],
])('%s on %s: %s', async (words, on, message) => {
  await expect(call(find, orders, words, on === undefined ? {} : { on })).rejects.toMatchObject({
    message,
    exitCode: 2,
  });
});
