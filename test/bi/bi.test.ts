/** The views and functions of a rollup, read by the drivers of BI tools with the reader's login (docs/bi.md). */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { rightsOf } from '../../src/catalog/rights.ts';
import type { RoleSettings } from '../../src/config/settings.ts';
import { openBooks } from './books.ts';
import { type Answer, isInstalled, type Read, readBy, type Tool, tools } from './drivers.ts';

const examples = new URL('../../examples/bi/', import.meta.url);
const example = (path: string) => readFileSync(new URL(path, examples), 'utf8');

const site = await openBooks();
const reader = site.urls.reader;
const installed = Object.fromEntries(
  Object.keys(tools).map((tool) => [tool, isInstalled(tool as Tool)]),
) as Record<Tool, boolean>;

/** Functions ask for something: of the mark, and of what has come since. */
const asked: Record<string, string> = {
  _as_of: `((select max(stamp) from gold.daily_orders_history where run_id = 2))`,
  _as_of_mark: `('as shipped')`,
  _changes: `('as shipped')`,
};
/** Every relation and function that the reader is granted; the function that `_live` calls is nobody's to read. */
const granted = rightsOf(site.settings.schema, site.settings.roles as RoleSettings, site.settings.rollups)
  .filter(({ role, kind, schema }) => role === site.roles.reader && kind !== 'schema' && schema === 'gold')
  .map(({ name }) => name.replace('daily_orders', ''));
const everything = Object.fromEntries(
  granted.map((name) => {
    const ranked =
      { _history: ', version', _journal: ', version, line', _side_output: ', event_id' }[name] ?? '';
    return [
      `gold.daily_orders${name}`,
      `select * from gold.daily_orders${name}${asked[name] ?? ''} order by window_start, account_id, region${ranked}`,
    ];
  }),
);

/** What differs from run to run of the tests: it must be there, in the driver's form. */
const changing: Record<string, { form: RegExp; as: string }> = {
  sealed_at: { form: /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z?"$/, as: '(clock)' },
  corrected_at: { form: /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z?"$/, as: '(clock)' },
  known_at: { form: /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z?"$/, as: '(clock)' },
  stamp: { form: /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z?"$/, as: '(clock)' },
  db_role: { form: /^"errata_job\w+"$/, as: '(role)' },
  definition_fingerprint: { form: /^"[0-9a-f]{16}"$/, as: '(fingerprint)' },
};

/** A line a column: its name, the type as the driver names it, and its value in each row, as JSON. */
function table({ columns = [], rows = [], error }: Answer): string[] {
  if (error !== undefined) return [`  error: ${error}`];
  const lines = columns.map(({ name, type }) => [
    name,
    type,
    ...rows.map((row) => {
      const cell = JSON.stringify(row[name]);
      const { form, as } = changing[name] ?? {};
      return form?.test(cell) ? (as as string) : cell;
    }),
  ]);
  const widths = (lines[0] ?? []).map((_, place) =>
    Math.max(...lines.map((line) => (line[place] ?? '').length)),
  );
  return lines.map((line) =>
    `  ${line.map((cell, place) => cell.padEnd(widths[place] ?? 0)).join('  ')}`.trimEnd(),
  );
}

function snapshot(tool: Tool, { tables, answers }: Read): string {
  const { title, driver } = tools[tool];
  const version = JSON.parse(readFileSync(new URL(`${tool}/package.json`, import.meta.url), 'utf8'))
    .dependencies[driver];
  return [
    `What ${title} sees with its driver ${driver} ${version}, as the reader:`,
    'for each column its name, the type as the driver names it, and its value in each row.',
    ...Object.entries(tables ?? {})
      .toSorted()
      .flatMap(([schema, ofSchema]) => [
        '',
        `offered in the schema ${schema}:`,
        ...Object.entries(ofSchema)
          .toSorted()
          .flatMap(([name, columns]) => [
            `  ${name}`,
            ...columns.map((column) => `    ${column.name} ${column.type}`),
          ]),
      ]),
    ...Object.entries(answers).flatMap(([name, answer]) => ['', name, ...table(answer)]),
    '',
  ].join('\n');
}

const sums = {
  latest: 'select sum(revenue) as sum from gold.daily_orders_latest where account_id = 9007199254740993',
  joined: `select sum(l.revenue) as sum from gold.daily_orders_latest as l join crm.account as a using (account_id) where a.segment = 'retail'`,
  sealed: 'select sum(revenue) as sum from gold.daily_orders_sealed where account_id = 9007199254740993',
  refused:
    'select sum(revenue) as sum from gold.daily_orders_side_output where account_id = 9007199254740993',
  rows: 'select count(*) as sum from gold.daily_orders_latest where account_id = 9007199254740993',
  ledger: 'select sum(revenue) as sum from gold.daily_orders where account_id = 9007199254740993',
  late_event: 'select sum(revenue) as sum from gold.daily_orders_late_event',
};

describe.each(Object.keys(tools) as Tool[])('%s', (tool) => {
  const { title } = tools[tool];

  test.skipIf(!installed[tool])(
    'what it sees of every view and function is what the snapshot says',
    async () => {
      await expect(snapshot(tool, await readBy(tool, reader, { queries: everything }))).toMatchFileSnapshot(
        `seen-by-${tool}.txt`,
      );
    },
  );

  test.skipIf(!installed[tool])(
    'B27: a plain sum is 150, joined or not; the ledger, where it is 375, is refused',
    async () => {
      const { answers } = await readBy(tool, reader, { queries: sums });
      const sum = (name: string) => String(answers[name]?.rows?.[0]?.sum);
      expect([sum('latest'), sum('joined'), sum('sealed'), sum('refused'), sum('rows')].map(Number)).toEqual([
        150, 150, 100, 50, 1,
      ]);
      // the ledger itself, to those who may read it
      const { rows } = await site.pools.auditor.query(sums.ledger);
      expect(rows).toEqual([{ sum: '375.00' }]);
      // Evidence counts the rows first, and hides why it could not
      const refusal = {
        cube: 'permission denied for table',
        evidence: "Cannot read properties of undefined (reading 'rows')",
      }[tool];
      for (const name of ['ledger', 'late_event'])
        expect(`${title}, ${name}: ${answers[name]?.error}`).toContain(refusal);
    },
  );
});

describe('what the tools lose', () => {
  const text = `select account_id::text as account_id, revenue::text as revenue, local_date::text as local_date from gold.daily_orders_latest order by account_id`;
  const raw = `select account_id, revenue, local_date from gold.daily_orders_latest where account_id > 7 order by account_id`;

  test.skipIf(!installed.evidence)(
    'Evidence: digits beyond 2^53, and the day where its process has a time zone; text keeps both',
    async () => {
      const { answers } = await readBy('evidence', reader, {
        queries: { raw, text },
        zone: 'Europe/Berlin',
      });
      expect(answers.raw?.rows).toEqual([
        { account_id: 9007199254740992, revenue: 90071992547409940, local_date: '2026-10-28T23:00:00.000Z' },
        // another account, by the id of the first
        { account_id: 9007199254740992, revenue: 150, local_date: '2026-10-28T23:00:00.000Z' },
      ]);
      expect(answers.text?.rows).toEqual((await site.pools.reader.query(text)).rows);
    },
  );

  test.skipIf(!installed.cube)('Cube: neither, wherever its process is', async () => {
    const { answers } = await readBy('cube', reader, { queries: { raw, text }, zone: 'Europe/Berlin' });
    expect(answers.raw?.rows).toEqual([
      {
        account_id: '9007199254740992',
        revenue: '90071992547409931.25',
        local_date: '2026-10-29T00:00:00.000',
      },
      { account_id: '9007199254740993', revenue: '150.00', local_date: '2026-10-29T00:00:00.000' },
    ]);
    expect(answers.text?.rows).toEqual((await site.pools.reader.query(text)).rows);
  });
});

describe('examples/bi', () => {
  test.skipIf(!installed.cube)(
    'the model of Cube: its sums are right by any dimension, also of a relation with more rows',
    async () => {
      const query = (measures: string, dimensions = '', more = {}) => ({
        measures: measures.split(' '),
        dimensions: dimensions === '' ? [] : dimensions.split(' '),
        order: dimensions === '' ? [] : dimensions.split(' ').map((id) => ({ id, desc: false })),
        timezone: 'Europe/Berlin',
        ...more,
      });
      const ofAccount = {
        filters: [{ member: 'daily_orders.account_id', operator: 'equals', values: ['9007199254740993'] }],
      };
      const { answers } = await readBy('cube', reader, {
        queries: {},
        model: { 'daily_orders.yml': example('cube/daily_orders.yml') },
        asked: {
          whole: query(
            'daily_orders.orders daily_orders.revenue daily_orders.pending_revenue daily_orders.corrected_windows',
          ),
          by_segment: query('daily_orders.revenue', 'accounts.segment'),
          by_account: query('daily_orders.revenue', 'daily_orders.account_id daily_orders.region'),
          by_day: query('daily_orders.revenue', 'daily_orders.local_date', {
            timeDimensions: [{ dimension: 'daily_orders.window_start', granularity: 'day' }],
          }),
          // two refused rows: a plain join would say 300
          beside_refused: query(
            'daily_orders.revenue refused_orders.revenue refused_orders.events',
            '',
            ofAccount,
          ),
          by_state: query('daily_orders.revenue', 'refused_orders.state', ofAccount),
          month_end: query(
            'month_end.sealed_revenue month_end.refused_revenue month_end.latest_revenue month_end.restated_revenue',
            'month_end.account_id',
          ),
          windows: query('daily_orders.revenue', 'daily_orders.keyed_window'),
        },
      });
      const cells = (name: string) =>
        answers[name]?.rows?.map((row) => Object.values(row)) ?? answers[name]?.error;
      expect(cells('whole')).toEqual([['5', '90071992547410081.25', '2000.25', '2']]);
      expect(cells('by_segment')).toEqual([
        ['bank', '90071992547409931.25'],
        ['retail', '150.00'],
        ['test', null],
      ]);
      expect(cells('by_account')).toEqual([
        ['7', 'EU', null],
        ['9007199254740992', 'EU', '90071992547409931.25'],
        ['9007199254740993', null, '150.00'],
      ]);
      expect(cells('by_day')).toEqual([['2026-10-29', '2026-10-29T00:00:00.000', '90071992547410081.25']]);
      expect(cells('beside_refused')).toEqual([['150.00', '50.00', '2']]);
      expect(cells('by_state')).toEqual([['included', '150.00']]);
      expect(cells('month_end')).toEqual([
        ['7', '5.00', '0', '0', '0'],
        ['9007199254740992', '90071992547409931.25', '0', '90071992547409931.25', '90071992547411931.50'],
        ['9007199254740993', '100.00', '50.00', '150.00', '150.00'],
      ]);
      expect(cells('windows')).toHaveLength(3);
    },
  );

  test.skipIf(!installed.evidence)('the queries of Evidence keep every digit as text', async () => {
    const { answers } = await readBy('evidence', reader, {
      queries: {
        daily_orders: example('evidence/daily_orders.sql'),
        revenue_by_segment: example('evidence/revenue_by_segment.sql'),
      },
      zone: 'America/New_York',
    });
    expect(answers.daily_orders?.rows).toMatchObject([
      { local_date: '2026-10-29', account_id: '7', revenue: null, revenue_exact: null },
      {
        account_id: '9007199254740992',
        revenue_exact: '90071992547409931.25',
        pending_revenue_exact: '2000.25',
      },
      { account_id: '9007199254740993', region: null, revenue: 150, revenue_exact: '150.00' },
    ]);
    expect(answers.revenue_by_segment?.rows).toEqual([
      { segment: 'bank', revenue: 90071992547409940, revenue_exact: '90071992547409931.25' },
      { segment: 'retail', revenue: 150, revenue_exact: '150.00' },
      { segment: 'test', revenue: null, revenue_exact: null },
    ]);
  });
});
