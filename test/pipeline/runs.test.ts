/** R19: a long history, and a long queue, in several runs of one invocation, each committed. */
import { expect, test } from 'vitest';
import { durationOf } from '../../src/config/duration.ts';
import { runInParts } from '../../src/pipeline/runs.ts';
import { errata, workDirectory } from '../commands/command.ts';
import { dailyPartitions, type Orders, type OrdersOptions, openOrders } from '../support/orders.ts';

const day = durationOf(86_400_000_000n);
const bound = '2026-11-04T12:00Z';

/** A day of orders each, and late ones of the day before. */
async function history(options: OrdersOptions = {}): Promise<Orders> {
  const orders = await openOrders({ ddl: dailyPartitions, ...options });
  for (let n = 0; n < 7; n++) {
    const date = (offset: number) => new Date(Date.UTC(2026, 9, 28 + n + offset)).toISOString().slice(5, 10);
    await orders.land(
      `a${n} ${date(0)} 10:00 ${date(0)} 10:01 EU 5`,
      `b${n} ${date(0)} 23:00 ${date(0)} 23:01 US 2`,
      `l${n} ${date(-1)} 12:00 ${date(0)} 12:00 EU 3`,
    );
  }
  return orders;
}

// sessions of one start and key differ by their end only
const contents = async (orders: Orders) => [(await orders.ledger()).sort(), await orders.lateEvents()];

test.each<[string, OrdersOptions]>([
  ['by day', {}],
  ['sessions', { window: '{ session_gap: 2 hours }' }],
])(
  'by steps of ingestion: each is committed, bounded, and the answer is that of one run: %s',
  async (_, options) => {
    const [parts, whole] = [await history(options), await history(options)];
    const said: { bound: string; runs: number; left: number }[] = [];
    const report = await runInParts(parts.control, parts.rollup, {
      bound,
      step: day,
      onRun: (run, { runs, left }) => said.push({ bound: run.bound, runs, left }),
    });
    const one = await whole.run({ bound });
    expect(await contents(parts)).toEqual(await contents(whole));
    expect(said.map((line) => line.bound.slice(5, 16))).toEqual([
      '10-29 10:01',
      '10-30 10:01',
      '10-31 10:01',
      '11-01 10:01',
      '11-02 10:01',
      '11-03 10:01',
      '11-04 10:01',
      '11-04 12:00',
    ]);
    expect(report.counts).toMatchObject({
      runs: 8,
      rows_examined: one.counts.rows_examined as number,
      windows_sealed: one.counts.windows_sealed as number,
      late_firing: one.counts.late_firing as number,
    });
    expect(await parts.rows('select count(*) from errata.run')).toEqual([{ count: '8' }]);
    const sealed = await parts.rows<{ most: string }>(
      `select max((counts ->> 'windows_sealed')::integer)::text as most from errata.run`,
    );
    expect(Number(sealed[0]?.most)).toBeLessThan(one.counts.windows_sealed as number);
  },
);

test('ended between two runs, the next invocation goes on where it was', async () => {
  const [parts, whole] = [await history(), await history()];
  await whole.run({ bound });
  const ending = new AbortController();
  const first = runInParts(parts.control, parts.rollup, {
    bound,
    step: day,
    signal: ending.signal,
    onRun: (_, { runs }) => runs === 3 && ending.abort(),
  });
  await expect(first).rejects.toThrow();
  expect(await parts.rows('select count(*) from errata.run')).toEqual([{ count: '3' }]);
  expect((await parts.ledger()).length).toBeGreaterThan(0);
  const rest = await runInParts(parts.control, parts.rollup, { bound, step: day });
  expect(rest.counts.runs).toBe(5);
  expect(await contents(parts)).toEqual(await contents(whole));
});

test('a long queue in runs of so many windows, until nothing is left but what fails', async () => {
  const orders = await openOrders({
    window: '{ tumbling: 1 hour }',
    measures: '{ orders: count(*), revenue: sum(10 / amount) }',
    watermark: '{ strategy: bounded, delay: 0 }',
  });
  const hours = ['06', '07', '08', '09', '10', '11', '12'];
  await orders.land(
    ...hours.map((hour) => `o${hour} 10-29 ${hour}:00 10-29 ${hour}:01 EU 5`),
    'pass 10-30 02:00 10-30 02:01 ZZ 1',
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.land(
    ...hours.map((hour) => `l${hour} 10-29 ${hour}:10 10-30 04:${hour} EU ${hour === '06' ? 0 : 5}`),
  );
  const left: number[] = [];
  const report = await runInParts(orders.control, orders.rollup, {
    bound: '2026-10-30T05:00Z',
    maxWindows: 2,
    untilDone: true,
    onRun: (_, progress) => left.push(progress.left),
  });
  expect(left).toEqual([5, 3, 1, 0]);
  expect(report).toMatchObject({
    needsAttention: true,
    counts: { runs: 4, windows_corrected: 6, windows_failing: 1 },
  });
  // the longest waiting first, then the earliest window
  expect(
    await orders.rows(
      `select to_char(window_start at time zone 'UTC', 'HH24') as hour from gold.daily_orders where version = 2 order by run_id, window_start`,
    ),
  ).toEqual(['07', '08', '09', '10', '11', '12'].map((hour) => ({ hour })));
});

test('a proposal that stands holds up no other window of a limited run', async () => {
  const orders = await openOrders({
    policy: 'grace',
    window: '{ tumbling: 1 hour }',
    watermark: '{ strategy: bounded, delay: 0 }',
  });
  await orders.land(
    'a 10-29 10:00 10-29 10:01',
    'b 10-29 11:00 10-29 11:01',
    'pass 10-30 02:00 10-30 02:01 ZZ 1',
  );
  await orders.run({ bound: '2026-10-30T03:00Z' });
  // changed, and late: what is proposed leaves the late firing in the queue
  await orders.rows(`update bronze.orders set amount = 4 where order_id = 'a'`);
  await orders.rows(
    `insert into errata.daily_orders_source_change (window_start, window_end, region, since) values ('2026-10-29 10:00+00', '2026-10-29 11:00+00', 'EU', '2026-10-30 03:30+00')`,
  );
  await orders.land('la 10-29 10:10 10-30 04:00 EU 1');
  await orders.run({ bound: '2026-10-30T04:30Z', maxWindows: 1 });
  await orders.land('lb 10-29 11:10 10-30 05:00 EU 1');
  const report = await runInParts(orders.control, orders.rollup, {
    bound: '2026-10-30T06:00Z',
    maxWindows: 1,
    untilDone: true,
  });
  expect(report.counts.runs ?? 1).toBeLessThan(4);
  expect(await orders.rows(`select revenue from gold.daily_orders where version = 2`)).toEqual([
    { revenue: '11.00' },
  ]);
});

test('by the command line: a line of progress a run, and values that cannot be meant', async () => {
  const orders = await history();
  const directory = workDirectory(`rollups:
  daily_orders: { gold: gold.daily_orders, bronze: { table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 },
    window: { calendar: 1 day, time_zone: UTC }, key: [region], measures: { orders: count(*), revenue: sum(amount) },
    watermark: { strategy: bounded, delay: 1 hour }, allowed_lateness: 24 hours, seal: { by: errata }, publish: { policy: auto } }
`);
  const { url } = orders.database;
  const ran = await errata(
    directory,
    url,
    'run',
    '--bound',
    bound,
    '--step',
    '3 days',
    '--max-windows',
    '1',
    '--until-done',
  );
  expect(ran.exitCode).toBe(0);
  const lines = ran.stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const done = lines.filter(({ msg }) => msg === 'run done');
  expect(done.length).toBeGreaterThan(2);
  expect(done.at(-1)).toMatchObject({ rollup: 'daily_orders', target: '2026-11-04 12:00:00+00', left: 0 });
  for (const [flags, fact] of [
    [['--until-done'], '--until-done needs --max-windows'],
    [['--step', 'soon'], '--step "soon" '],
    [['--step', '0'], '--step "0" has no length'],
    [
      ['--step', '1 day', '--baseline', '--actor', 'a', '--reason', 'b'],
      '--step and --baseline contradict each other',
    ],
  ] as const) {
    const refused = await errata(directory, url, 'run', ...flags);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(fact);
  }
});
