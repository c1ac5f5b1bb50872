/** The page and the workbook of a statement, as a browser and a spreadsheet take them. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unzipSync } from 'fflate';
import { beforeAll, describe, expect, test } from 'vitest';
import { rejectProposals } from '../../src/publication/decide.ts';
import { closePeriod } from '../../src/publication/periods.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { chromiumPath, openChromium } from '../support/chromium.ts';
import { type Orders, openOrders } from '../support/orders.ts';
import { reconciled } from '../support/reconcile.ts';
import { csvRows, statementDirectory, writeStatement } from '../support/statement.ts';

const hostile = `<script>document.title = 'taken'</script> & "quoted" 'twice'`;
const directory = statementDirectory();
const october = join(directory, 'october');

/** Thirty days of two regions, corrections by policy and by a person, a rejected proposal, one that waits, a deleted row. */
let orders: Orders;
beforeAll(async () => {
  orders = await openOrders({
    policy: 'grace',
    publish: 'review_beyond: { revenue: 100.00 }',
    measures: '{ orders: count(*), revenue: sum(amount), largest: max(amount) }',
  });
  await orders.rows(`insert into bronze.orders
    select 'o' || d || '-' || n, timestamptz '2026-10-01T10:00Z' + d * interval '1 day', timestamptz '2026-10-01T10:01Z' + d * interval '1 day', (array['EU', 'US'])[1 + n % 2], 2.5
    from generate_series(0, 28) as d, generate_series(1, 60) as n`);
  await orders.land('p1 10-30 01:30 10-30 01:30 EU 1');
  await orders.run({ bound: '2026-10-30T02:00Z' });
  await orders.land(
    'firing 10-29 17:00 10-30 01:40 EU 10',
    '12345678901234567890 10-29 17:00 10-30 01:41 US 400',
    'much 10-29 17:00 10-30 01:41 ZZ 500',
    'p3 11-01 04:00 11-01 04:00 EU 1',
    'waits 10-12 19:00 11-01 05:00 US 15.5',
    'released 10-13 19:00 11-01 05:00 US -12.25',
  );
  await orders.run({ bound: '2026-11-01T06:00Z' });
  const word = { actor: 'ada', reason: hostile };
  const bound = { bound: '2026-11-01T06:00Z' };
  await releaseEvents(orders.control, orders.rollup, { ...word, eventIds: ['released'] }, bound);
  await rejectProposals(orders.control, orders.rollup, { ...word, key: { region: 'ZZ' } }, bound);
  await orders.rows(`delete from bronze.orders where order_id = 'o3-4'`);
  await reconciled(orders, { from: '2026-10-01Z', to: '2026-11-01Z' }, { period: '2026-10' });
  await closePeriod(orders.control, orders.rollup, { ...word, period: '2026-10' });
  await writeStatement(orders, october);
}, 60_000);

describe('the page', () => {
  const html = () => readFileSync(join(october, 'statement.html'), 'utf8');

  test('is one file without script, and every text in it is escaped', () => {
    expect(html()).not.toContain('<script');
    expect(html()).toContain(
      '&lt;script&gt;document.title = &#39;taken&#39;&lt;/script&gt; &amp; &quot;quoted&quot; &#39;twice&#39;',
    );
    expect(html()).not.toMatch(/(src|href)="(?!#)/);
    expect(html()).not.toContain('url(');
  });

  test('every table has a caption, and its heads say what they are heads of', () => {
    const tables = html().match(/<table>[\s\S]*?<\/table>/g) ?? [];
    expect(tables.length).toBeGreaterThan(8);
    for (const one of tables) {
      expect(one).toMatch(/<caption>[^<]+<\/caption>/);
      expect(one.match(/<th /g)?.length).toBe(one.match(/<th scope="(col|row)"/g)?.length);
    }
  });

  test('the citations are those of the versions', () => {
    const cited = csvRows(october, 'versions.csv').filter(({ version }) => version !== '1');
    expect(cited.length).toBe(2);
    for (const { citation } of cited) expect(html()).toContain(`>${citation}<`);
  });
});

interface Seen {
  readonly cut: string[];
  readonly pageIsWider: boolean;
  readonly bars: number;
  readonly paper: string;
  readonly nav: string;
}

/** A text, since it runs in the page, whose names TypeScript does not know here. */
const look = `(() => ({
  cut: [...document.querySelectorAll('.scroll')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.getAttribute('aria-label')),
  pageIsWider: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  bars: new Set([...document.querySelectorAll('svg path[fill^="var"]')].map((one) => getComputedStyle(one).fill)).size,
  paper: getComputedStyle(document.body).backgroundColor,
  nav: getComputedStyle(document.querySelector('nav')).display,
}))()`;

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  if (chromiumPath === undefined)
    console.warn('No Chromium: the tests of the page in a browser are skipped.');

  test('at desktop width, in both lights, and printed: nothing is cut off, nothing is asked for elsewhere', async () => {
    const browser = await openChromium();
    const kept = process.env.ERRATA_SCREENSHOTS;
    if (kept) mkdirSync(kept, { recursive: true });
    for (const [name, width, media, scheme] of [
      ['light', 1280, 'screen', 'light'],
      ['dark', 1280, 'screen', 'dark'],
      // A4 across at 96 dots an inch, less the margins
      ['printed', 1032, 'print', 'dark'],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
      const asked: string[] = [];
      const said: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      page.on('console', (message) => said.push(message.text()));
      page.on('pageerror', (error) => said.push(error.message));
      await page.emulateMedia({ media });
      const url = pathToFileURL(join(october, 'statement.html')).href;
      await page.goto(url);
      expect(asked).toEqual([url]);
      expect(said).toEqual([]);
      expect(await page.title()).toBe('Statement: daily_orders, 2026-10');
      const seen = await page.evaluate<Seen>(look);
      expect({ name, ...seen }).toEqual({
        name,
        cut: [],
        pageIsWider: false,
        // levels, what is more, what is less
        bars: 3,
        paper: name === 'dark' ? 'rgb(21, 25, 29)' : 'rgb(255, 255, 255)',
        nav: name === 'printed' ? 'none' : 'block',
      });
      if (kept) await page.screenshot({ path: join(kept, `statement-${name}.png`), fullPage: true });
      if (kept && name === 'printed')
        await page.pdf({ path: join(kept, 'statement.pdf'), preferCSSPageSize: true, printBackground: true });
      await page.close();
    }
  }, 60_000);
});

describe('the workbook', () => {
  const files = () =>
    Object.fromEntries(
      Object.entries(unzipSync(readFileSync(join(october, 'statement.xlsx')))).map(([name, bytes]) => [
        name,
        Buffer.from(bytes).toString('utf8'),
      ]),
    );
  /** A sheet's cells by their address: numbers as they are written, texts looked up. */
  const cellsOf = (title: string) => {
    const all = files();
    const place = [...(all['xl/workbook.xml'] ?? '').matchAll(/<sheet [^>]*name="([^"]+)"/g)].findIndex(
      ([, name]) => name === title,
    );
    const texts = [...(all['xl/sharedStrings.xml'] ?? '').matchAll(/<si><t[^>]*>([\s\S]*?)<\/t><\/si>/g)].map(
      ([, text]) => text,
    );
    const xml = all[`xl/worksheets/sheet${place + 1}.xml`] ?? '';
    const cells: Record<string, { type: string; value: string; style: string }> = {};
    for (const [, attributes = '', value = ''] of xml.matchAll(/<c ([^>]*)><v>([^<]*)<\/v><\/c>/g)) {
      const attribute = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
      const type = attribute('t');
      cells[attribute('r')] = {
        type,
        value: type === 's' ? (texts[Number(value)] ?? '') : value,
        style: attribute('s'),
      };
    }
    return { cells, xml, all };
  };
  const column = (title: string, head: string) => {
    const { cells } = cellsOf(title);
    const [address] =
      Object.entries(cells).find(([at, { value }]) => /^[A-Z]+1$/.test(at) && value === head) ?? [];
    const letter = address?.replace('1', '') ?? '?';
    return (row: number) => cells[`${letter}${row}`];
  };

  test('has exact figures as numbers, and frozen heads on every list', () => {
    const { all } = cellsOf('Totals');
    // 1,740 orders of 2.50, and one of 1.00 on the 30th
    expect(column('Totals', 'sealed')(3)).toMatchObject({ type: '', value: '4351' });
    // firing +10, released -12.25
    expect(column('Totals', 'corrections')(3)).toMatchObject({ type: '', value: '-2.25' });
    const lists = Object.entries(all)
      .filter(([name]) => /worksheets\/sheet\d+\.xml$/.test(name))
      .slice(1);
    expect(lists.length).toBe(11);
    for (const [, xml] of lists) expect(xml).toMatch(/<pane [^>]*ySplit="1"[^>]*state="frozen"/);
  });

  test('has ids with all their digits as text, and dates as days that any country shows alike', () => {
    const { cells, all } = cellsOf('Days');
    // 1 October 2026 is day 46296 of the count that begins with 1900
    expect(cells.A2).toMatchObject({ value: '46296' });
    expect(cells.A2?.type).not.toBe('s');
    expect(all['xl/styles.xml']).toContain('formatCode="yyyy-mm-dd"');
    const refused = column('Refused rows', 'event_id');
    expect([refused(2), refused(3)]).toMatchObject([
      { type: 's', value: 'waits' },
      { type: 's', value: 'released' },
    ]);
    const why = column('Who decided', 'reason')(2);
    expect(why?.value).toContain('&lt;script&gt;');
  });

  test('has no formula, and no clock of the machine', () => {
    const zip = readFileSync(join(october, 'statement.xlsx'));
    for (const [name, xml] of Object.entries(files()))
      if (name.startsWith('xl/worksheets')) expect(xml).not.toContain('<f>');
    // each local head of the zip file: 1980-01-01 00:00
    for (let at = zip.indexOf('PK\x03\x04'); at >= 0; at = zip.indexOf('PK\x03\x04', at + 1))
      expect(zip.readUInt32LE(at + 10)).toBe(0x0021_0000);
  });
});
