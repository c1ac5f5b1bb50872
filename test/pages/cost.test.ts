/** What a page reads follows what it shows, and not the length of history: plans over a ledger of 150,000 versions. */
import { beforeAll, expect, test } from 'vitest';
import type { Settings } from '../../src/config/settings.ts';
import { closePeriod } from '../../src/publication/periods.ts';
import { settingsOf } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';
import { figuresOf } from './figures.ts';
import { type Ask, appOf, asker } from './site.ts';

let orders: Orders;
let ask: Ask;

/** 100 keys on 1,500 days, each with a version and a late event in it; as many runs. */
beforeAll(async () => {
  orders = await openOrders({ policy: 'grace' });
  await orders.land('o1 10-29 10:00 10-29 10:01 EU 2.5', 'p1 10-30 01:30 10-30 01:30 EU 1');
  await orders.run({ bound: '2026-10-30T02:00Z' });
  await orders.rows(`
    alter table gold.daily_orders disable trigger user;
    alter table gold.daily_orders_late_event disable trigger user;
    insert into gold.daily_orders (window_start, window_end, local_date, region, orders, revenue, event_count, stamp, sealed_at)
    select d, d + interval '1 day', d::date, 'k' || k, 1, 2.5, 1, d + interval '1 day', d + interval '1 day'
    from generate_series(timestamptz '2022-09-01Z', timestamptz '2026-10-09Z', interval '1 day') as d, generate_series(1, 100) as k;
    insert into gold.daily_orders_late_event (window_start, window_end, local_date, region, event_id, event_time, ingested_at, arrived_at, landing, state, cause, version, released, orders, revenue, row_digest, first_run_id)
    select g.window_start, g.window_end, g.local_date, g.region, 'e', g.window_start, g.window_end, g.window_end, 'late_firing', 'included', 'late_firing', 1, true, 1, 2.5, 'e', 1
    from gold.daily_orders as g;
    insert into errata.run (rollup_id, verb, outcome, started_at, finished_at, counts, stage_milliseconds)
    select 1, 'run', 'done', timestamptz '2022-01-01Z' + n * interval '1 minute', timestamptz '2022-01-01Z' + n * interval '1 minute', '{}', '{}' from generate_series(1, 20000) as n;
    alter table gold.daily_orders enable trigger user;
    alter table gold.daily_orders_late_event enable trigger user`);
  await orders.rows('analyze');
  await closePeriod(orders.control, orders.rollup, { actor: 'ada', reason: 'done', period: '2025-10' });
  ask = asker(appOf(orders.control, settingsOf(orders) as Settings));
}, 90_000);

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows that the scans of a plan came upon. */
function rowsRead(plan: Plan): number {
  const own =
    plan['Relation Name'] === undefined
      ? 0
      : (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  return own + (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0);
}

const start = encodeURIComponent('2026-10-01T00:00:00Z');

test.each([
  // of single rows and the last thousand runs
  ['/', 1_100],
  // 31 days of 100 keyed windows with a late event each; 200 keyed windows are shown
  ['/rollups/daily_orders?month=2025-10', 6_500],
  ['/rollups/daily_orders?day=2025-10-07', 6_500],
  ['/rollups/daily_orders', 6_500],
  // one window of 100 keys
  [`/rollups/daily_orders/windows/${start}?key=${encodeURIComponent('["k7"]')}`, 2_500],
  // the period of 31 days, each side of the view
  ['/rollups/daily_orders/periods', 20_000],
  ['/rollups/daily_orders/runs', 110],
])('%s reads no more than %i rows', async (path, most) => {
  const { status, html } = await ask(path);
  expect(status).toBe(200);
  const read: number[] = [];
  for (const { text } of figuresOf(html).flatMap(({ statements }) => statements)) {
    const [zone = '', ...statement] = text.split('\n');
    const client = await orders.database.pool.connect();
    await client.query(zone);
    const { rows } = await client.query(`explain (analyze, format json, timing off) ${statement.join('\n')}`);
    client.release(true);
    read.push(rowsRead(rows[0]['QUERY PLAN'][0].Plan));
  }
  expect(read.length).toBeGreaterThan(0);
  expect(Math.max(...read)).toBeLessThanOrEqual(most);
});

test('a long list is shown in steps, and each leads to the next', async () => {
  const first = await ask('/rollups/daily_orders?month=2025-10');
  expect(first.html.match(/href="[^"]*\/windows\//g)).toHaveLength(200);
  expect(first.html).toContain('month=2025-10&amp;step=2');
  expect(first.html).toContain('month=2025-09');
  expect(first.html).toContain('month=2025-11');
  const second = await ask('/rollups/daily_orders?month=2025-10&step=2');
  const windows = (html: string) =>
    [...html.matchAll(/href="([^"]*\/windows\/[^"]*)"/g)].map(([, path]) => path);
  expect(new Set([...windows(first.html), ...windows(second.html)]).size).toBe(400);
  // 3,100 of that month
  expect(windows((await ask('/rollups/daily_orders?month=2025-10&step=16')).html)).toHaveLength(100);
  const runs = await ask('/rollups/daily_orders/runs');
  const [, before] = /runs\?before=(\d+)"/.exec(runs.html) ?? [];
  expect((await ask(`/rollups/daily_orders/runs?before=${before}`)).html).toContain(`Runs before ${before}`);
});
