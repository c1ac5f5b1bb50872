/** The pages over real databases: what they show, that the SQL beside each figure gives it, and what they refuse. */
import type pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { durationOf } from '../../src/config/duration.ts';
import type { RollupSettings } from '../../src/config/settings.ts';
import { query } from '../../src/db/statement.ts';
import { windowPath } from '../../src/pages/cells.ts';
import { read } from '../../src/pages/reading.ts';
import { inChromium } from './browser.ts';
import { figuresIn, figuresOf, plain, type Statement, valuesIn, withoutFigures } from './figures.ts';
import { type Ask, appOf, asker, openOctober, openOdd, said, served } from './site.ts';

let october: Awaited<ReturnType<typeof openOctober>>;
let odd: Awaited<ReturnType<typeof openOdd>>;
let ask: Ask;
let askOdd: Ask;
beforeAll(async () => {
  odd = await openOdd();
  october = await openOctober();
  ask = asker(appOf(october.controls.job, october.settings));
  askOdd = asker(appOf(odd.control, odd.settings));
}, 90_000);

const start = encodeURIComponent('2026-10-29T00:00:00+01');
const pathsOfOctober = [
  '/',
  '/rollups/daily_orders',
  '/rollups/daily_orders?month=2026-10',
  '/rollups/daily_orders?day=2026-10-29',
  `/rollups/daily_orders/windows/${start}?key=${encodeURIComponent('["EU"]')}`,
  `/rollups/daily_orders/windows/${start}?key=${encodeURIComponent('["YY"]')}`,
  `/rollups/daily_orders/windows/${start}?key=${encodeURIComponent('[null]')}`,
  '/rollups/daily_orders/windows/2026-10-29',
  '/rollups/daily_orders/lateness',
  '/rollups/daily_orders/lateness?days=7',
  '/rollups/daily_orders/periods',
  '/rollups/daily_orders/proposals',
  '/rollups/daily_orders/runs',
  '/rollups/daily_orders/runs?before=4',
  '/find?number=1%2C402&period=2026-11',
  '/find?number=350&rollup=daily_orders&period=',
];
const namesOfOdd = ['odd', 'peak', 'visits', 'hops', 'nothing'];
const pathsOfOdd = [
  '/',
  ...namesOfOdd.flatMap((name) =>
    ['', '/lateness', '/periods', '/proposals', '/runs'].map((path) => `/rollups/${name}${path}`),
  ),
  '/rollups/odd?month=2026-10',
  '/rollups/visits?month=2026-10',
  '/rollups/hops?month=2026-10',
  '/find?number=5',
];

/** The rows that the statement gives in a session that nobody has prepared. */
async function rowsOf(pool: pg.Pool, { text }: Statement): Promise<Record<string, unknown>[]> {
  const client = await pool.connect();
  try {
    const results = [await client.query(text)].flat() as pg.QueryResult[];
    return results.findLast(({ command }) => command === 'SELECT')?.rows ?? [];
  } finally {
    // with whatever it has set
    client.release(true);
  }
}

async function checkFigures(html: string, poolOf: (whose: Statement['whose']) => pg.Pool): Promise<number> {
  const figures = figuresOf(html);
  expect(figuresIn(withoutFigures(html))).toEqual([]);
  for (const { isTable, rows, statements } of figures) {
    expect(statements.length).toBeGreaterThan(0);
    const found: Record<string, unknown>[] = [];
    for (const statement of statements) found.push(...(await rowsOf(poolOf(statement.whose), statement)));
    if (isTable) expect(rows.length).toBe(found.length);
    for (const [place, shown] of rows.entries())
      expect(valuesIn(isTable ? found[place] : found)).toEqual(expect.arrayContaining([...shown]));
  }
  return figures.length;
}

describe('the SQL beside each figure gives it', () => {
  test.each(pathsOfOctober)('%s, with the rights that it names', async (path) => {
    const { status, html } = await ask(path);
    expect(status).toBe(200);
    expect(await checkFigures(html, (whose) => october.pools[whose])).toBeGreaterThan(0);
    // and whoever has less cannot run it
    const lesser = { auditor: 'reader', job: 'auditor' } as const;
    for (const statement of figuresOf(html).flatMap(({ statements }) => statements))
      if (statement.whose !== 'reader')
        await expect(rowsOf(october.pools[lesser[statement.whose]], statement)).rejects.toMatchObject({
          code: '42501',
        });
  });

  test('over odd rollups too', async () => {
    for (const path of pathsOfOdd) {
      const { status, html } = await askOdd(path);
      expect([path, status]).toEqual([path, 200]);
      await checkFigures(html, () => odd.database.pool);
    }
  }, 30_000);
});

describe('what they show', () => {
  const texts = async (path: string) =>
    plain((await ask(path)).html.replaceAll(/<details[\s\S]*?<\/details>/g, '').replaceAll(/<[^>]+>/g, ' '))
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ (?=[,;)])|(?<=\() /g, '');

  test('the overview: pending rows and money, windows corrected, and who is awaited', async () => {
    const text = await texts('/');
    // 8845, 8847 and 8848 are pending: 15.50 + 2.25 + 2.25
    expect(text).toContain('Pending rows 3 in 3 windows; 1 in a proposal');
    expect(text).toContain('Pending revenue +20.00 awaits a person Pending revenue +900.00 in a proposal');
    // of 29 October EU twice, US and the text NULL once; of the 13th US once
    expect(text).toContain('Windows corrected 5 by all runs');
    expect(text).toContain('sealed until 2026-11-03 12:00:00 +01');
    expect(text).toContain(
      '3 pending rows await a person, the first in the window of 2026-10-12 00:00:00 +02',
    );
    expect(text).toContain('Proposals open 1 2 held by a close');
  });

  test('the calendar: corrected of all keyed windows, by local day', async () => {
    const { html } = await ask('/rollups/daily_orders?month=2026-10');
    const days = [
      ...html.matchAll(
        /<td class="h(\d)[^"]*"><a class="day"[^>]*><span class="date">(\d+)<\/span><span class="got"><data value="(\d+)">.*?<data value="(\d+)">/g,
      ),
    ];
    const shown = Object.fromEntries(
      days.map(([, level, day = '', corrected, all]) => [day, `${corrected} of ${all}, ${level}`]),
    );
    expect(Object.keys(shown)).toHaveLength(30);
    // EU, US and the text NULL; of those two, NULL, '', and none of ZZ and YY, which nobody has approved
    expect(shown).toMatchObject({ '28': '0 of 4, 0', '29': '3 of 5, 4', '13': '1 of 4, 2' });
    expect(html).toContain(
      '<caption>Corrected keyed windows of all that start on each day; the stronger the colour, the more</caption>',
    );
    expect(html.match(/<th scope="col"/g)?.length).toBeGreaterThanOrEqual(8);
  });

  test('the table of windows: what shipped, what is known now, NULL and empty keys apart', async () => {
    const text = await texts('/rollups/daily_orders?day=2026-10-29');
    expect(text).toContain('2026-10-29 EU 350 352 875.00 905.00 3 refused');
    expect(text).toContain('2026-10-29 US 351 352 877.50 889.75 2 late firing');
    expect(text).toContain('2026-10-29 NULL 351 351 877.50 877.50 1');
    expect(text).toContain("2026-10-29 'NULL' nothing 1 nothing -5.10 2 late firing");
    expect(text).toContain('2026-10-29 empty 350 350 875.00 875.00 1');
    expect(text).toContain('2026-10-29 YY nothing nothing nothing nothing none');
  });

  test('a window: its whole life, from what shipped to what is true', async () => {
    const text = await texts(`/rollups/daily_orders/windows/${start}?key=${encodeURIComponent('["EU"]')}`);
    expect(text).toContain('revenue 875.00 +30.00 905.00 0 +80.00 +40.00 1,025.00');
    const life = [
      'Version 1 shipped By Errata',
      'Event 8840: late firing Happened 2026-10-29 18:00:00 +01, arrived 2026-10-30 02:40:00 +01, 8 hours 40 minutes later The watermark stood at 2026-10-30 01:30:00 +01',
      'Event 8841: side output',
      'The watermark stood at 2026-11-01 04:00:00 +01 when it arrived Now: included in version 3',
      'Version 2, a correction Causes: late firing By the policy',
      'orders 350 → 351 (+1) revenue 875.00 → 885.00 (+10.00)',
      'Event 8841 was released by ada Reason: ticket 311',
      'Version 3, a correction Causes: refused By ada',
      'Event 8842 was waived by ada',
      'Event 8850: side output',
      'Proposed beside version 3: it awaits a person Causes: refused Why: the period 2026-10 is closed',
    ];
    const places = life.map((words) => [words, text.indexOf(words)] as const);
    expect(places.filter(([, place]) => place < 0)).toEqual([]);
    expect(places.map(([, place]) => place)).toEqual(
      places.map(([, place]) => place).toSorted((a, b) => a - b),
    );
  });

  test('the printed 1,402: the total of the 29th over all keys as it shipped', async () => {
    const text = await texts('/find?number=1%2C402&rollup=&period=');
    expect(text).toMatch(/2026-10-29, all keys together orders 1,402 /);
    // 8840, 8843 and 8844 came at once
    expect(text).toMatch(/orders 1,402 \S+ \S+ \S+ \S+ \S+ \S+ – 1,405 \+3/);
    expect(await texts('/find?number=77')).toContain('Nothing that daily_orders published ever stood at 77.');
  });

  test('a close, and what its period has become', async () => {
    const text = await texts('/rollups/daily_orders/periods');
    expect(text).toMatch(/2026-10 hard \S+ \S+ \+01 ada: ticket 311 /);
    expect(text).toContain('Nothing was published into it since.');
  });
});

test('every link to a keyed window leads to that window, whatever its key is', async () => {
  let followed = 0;
  for (const name of namesOfOdd)
    for (const month of ['2026-10', '2026-11']) {
      const { html } = await askOdd(`/rollups/${name}?month=${month}`);
      const titles = new Set<string>();
      const links = [...html.matchAll(/href="(\/rollups\/\w+\/windows\/[^"]+)"/g)].map(([, path = '']) =>
        plain(path),
      );
      for (const path of links) {
        const page = await askOdd(path);
        expect([path, page.status]).toEqual([path, 200]);
        expect(page.html).toContain('<h2 id="life">');
        titles.add(/<h1>([^<]*)<\/h1>/.exec(page.html)?.[1] ?? '');
        followed++;
      }
      expect(titles.size).toBe(links.length);
    }
  expect(followed).toBeGreaterThan(10);
  const settings = odd.settings.rollups[0] as RollupSettings;
  const window = {
    window_start: '2026-10-29 00:00:00+00',
    window_end: '2026-10-30 00:00:00+00',
    local_date: null,
  };
  for (const [key, shown] of [
    [['NULL', null], `Group 'by' 'NULL', <b>&ü $1 NULL`],
    [[null, ''], `Group 'by' NULL, <b>&ü $1 ''`],
  ] as const)
    expect(plain((await askOdd(windowPath(settings, { ...window, key }))).html)).toContain(shown);
}, 30_000);

test('no page has a script, a style of its own, or anything from elsewhere, whatever stands in the data', async () => {
  for (const [one, paths] of [
    [ask, pathsOfOctober],
    [askOdd, pathsOfOdd],
    [
      ask,
      [
        '/rollups/%3Cscript%3E',
        '/find?number=%3Cscript%3E',
        '/find?number=1&rollup=%22%3E%3Cscript%3E',
        '/?%3Cscript%3E=1',
      ],
    ],
  ] as const)
    for (const path of paths) {
      const { html } = await one(path);
      expect(html.toLowerCase()).not.toContain('<script');
      expect(html).not.toMatch(/<[^>]* (style|on\w+)=/);
      expect(html).not.toMatch(/<(img|iframe|object|embed|base)\b/);
      expect(
        [...html.matchAll(/ (?:href|src|action)="([^"]*)"/g)]
          .map(([, to]) => to)
          .filter((to) => !/^(\/|#)/.test(to ?? '')),
      ).toEqual([]);
      expect(html.match(/<h1>/g)).toHaveLength(1);
    }
});

describe('headers and the token', () => {
  test('a page may be shown with its stylesheet, and send its form, and nothing else', async () => {
    for (const path of ['/', '/rollups/no_such', '/find?number=']) {
      const { headers } = await ask(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy':
          "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=UTF-8',
      });
    }
    const sheet = await ask('/style.css');
    expect([sheet.status, sheet.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(sheet.headers.get('content-security-policy')).toContain("form-action 'none'");
  });

  test('with a token every page and the stylesheet want it; a browser gives it as a password', async () => {
    const token = 'a-token-of-twenty-two';
    const guarded = asker(appOf(october.controls.job, october.settings, token));
    const authorization = `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`;
    for (const path of ['/', '/style.css', '/rollups/daily_orders', '/find?number=1', '/rollups/no_such']) {
      const refused = await guarded(path);
      expect([refused.status, refused.html]).toEqual([401, 'a token is needed\n']);
      expect((await guarded(path, { authorization })).status).toBe(path.endsWith('no_such') ? 404 : 200);
    }
    expect((await ask('/', { host: 'evil.example' })).status).toBe(421);
  });
});

describe('what cannot be meant is refused with a fact and a hint', () => {
  test.each([
    ['/rollups/no_such', 404, 'there is no rollup "no_such"'],
    ['/rollups/no_such/lateness', 404, 'there is no rollup "no_such"'],
    ['/rollups/daily_orders?month=2026-13', 400, 'month "2026-13" is no month'],
    ['/rollups/daily_orders?month=0000-01', 400, 'month "0000-01" is no month'],
    ['/rollups/daily_orders?day=2026-02-30', 400, 'day "2026-02-30" is no date'],
    ['/rollups/daily_orders?day=yesterday', 400, 'day "yesterday" is no date'],
    ['/rollups/daily_orders?step=0', 400, 'step "0" is no step from 1 to 500'],
    ['/rollups/daily_orders?step=501', 400, 'step "501" is no step'],
    ['/rollups/daily_orders?step=1&step=2', 400, 'step "1, 2" is given more than once'],
    ['/rollups/daily_orders?moth=2026-10', 400, 'moth "2026-10" is not asked for here'],
    ['/rollups/daily_orders?day=%00', 400, 'holds a zero byte'],
    [
      '/rollups/daily_orders/windows/yesterday',
      400,
      'the start of a window "yesterday" is not a date or an instant',
    ],
    ['/rollups/daily_orders/windows/2026-10-29T00:00', 400, 'has no offset'],
    ["/rollups/daily_orders/windows/2026-10-29' or true --", 400, 'is not a date or an instant'],
    ['/rollups/daily_orders/windows/2026-10-29?key=EU', 400, 'key "EU" is no key of this rollup'],
    ['/rollups/daily_orders/windows/2026-10-29?key=["EU","DE"]', 400, 'is no key of this rollup'],
    ['/rollups/daily_orders/windows/2026-10-29?key=[7]', 400, 'is no key of this rollup'],
    ['/rollups/daily_orders/windows/2026-10-29?end=soon', 400, 'end "soon" is not a date or an instant'],
    ['/rollups/daily_orders/windows/1999-01-01', 404, 'rollup "daily_orders" has no such keyed window'],
    [
      '/rollups/daily_orders/windows/2026-10-29?key=["%27; drop table x; --"]',
      404,
      'has no such keyed window',
    ],
    ['/rollups/daily_orders/lateness?days=9999', 400, 'days "9999" is none that can be chosen'],
    ['/rollups/daily_orders/periods?close=99', 404, 'has no close 99'],
    ['/rollups/daily_orders/periods?close=x', 400, 'close "x" is no number of ours'],
    ['/rollups/daily_orders/runs?before=-1', 400, 'before "-1" is no number of ours'],
    ['/find?number=1.402,50', 400, 'can be read in several ways'],
    ['/find?number=1&rollup=none', 400, 'there is no rollup "none"'],
    ['/find?number=1&period=soon', 400, 'period "soon" is no day or month'],
    ['/find?number=1&period=2026-02-30', 400, 'is no day or month'],
  ])('%s', async (path, status, fact) => {
    const answer = await ask(path);
    expect([answer.status, plain(answer.html)]).toEqual([status, expect.stringContaining(fact)]);
    expect(answer.html).toContain('<a href="/">All rollups</a>');
  });

  test('a rollup that is not migrated yet', async () => {
    const { status, html } = await askOdd('/rollups/never');
    expect([status, plain(html)]).toEqual([404, expect.stringContaining('run `errata migrate`')]);
    expect(plain((await askOdd('/')).html)).toContain('rollup "never" is not in the database yet');
  });

  test('the address cannot be decoded', async () => {
    expect((await ask('/rollups/%E0%A4%A')).status).toBeGreaterThanOrEqual(400);
  });
});

describe('what a page does to the database', () => {
  test('one transaction, of one snapshot, that writes nothing', async () => {
    const setting = async (name: string) =>
      await read(october.controls.job, 'UTC', async ({ transaction }) => {
        const [row] = await query<{ value: string }>(transaction, 'select current_setting($1) as value', [
          name,
        ]);
        return row?.value;
      });
    expect(await setting('transaction_read_only')).toBe('on');
    expect(await setting('transaction_isolation')).toBe('repeatable read');
    expect(await setting('statement_timeout')).toBe('10s');
    await expect(
      read(october.controls.job, 'UTC', ({ transaction }) => query(transaction, 'create schema taken')),
    ).rejects.toMatchObject({ code: '25006' });
  });

  test("the auditor's rights are enough for all but lateness, which reads bronze", async () => {
    const auditor = asker(appOf(october.controls.auditor, october.settings));
    for (const path of pathsOfOctober)
      expect([path, (await auditor(path)).status]).toEqual([path, path.includes('lateness') ? 503 : 200]);
    expect((await auditor('/rollups/daily_orders/lateness')).html).toContain(
      'cannot be read by the connected role',
    );
    // a reader is told too, and nothing is half shown
    const reader = asker(appOf(october.controls.reader, october.settings));
    expect((await reader('/rollups/daily_orders/runs')).status).toBe(403);
  });

  test('what takes too long is asked to stop, and the page says so calmly', async () => {
    const impatient = asker(appOf(october.controls.job, october.settings, undefined, durationOf(200_000n)));
    const holder = await october.database.pool.connect();
    await holder.query('begin; lock table gold.daily_orders in access exclusive mode');
    const answer = await impatient('/rollups/daily_orders');
    expect([answer.status, answer.html]).toEqual([
      503,
      expect.stringContaining('nothing is being computed any more'),
    ]);
    expect(JSON.parse(said.at(-1) ?? '')).toMatchObject({ path: '/rollups/daily_orders' });
    await holder.query('rollback');
    holder.release();
    expect((await impatient('/rollups/daily_orders')).status).toBe(200);
  });
});

inChromium(async () => {
  const [first, second] = [
    await served(appOf(october.controls.job, october.settings)),
    await served(appOf(odd.control, odd.settings)),
  ];
  return {
    overview: `${first}/`,
    rollup: `${first}/rollups/daily_orders?day=2026-10-29`,
    window: `${first}/rollups/daily_orders/windows/${start}?key=${encodeURIComponent('["EU"]')}`,
    lateness: `${first}/rollups/daily_orders/lateness`,
    periods: `${first}/rollups/daily_orders/periods`,
    proposals: `${first}/rollups/daily_orders/proposals`,
    runs: `${first}/rollups/daily_orders/runs`,
    find: `${first}/find?number=1%2C402`,
    fault: `${first}/rollups/no_such_rollup`,
    'odd-overview': `${second}/`,
    'odd-rollup': `${second}/rollups/odd?month=2026-10`,
  };
});
