/** DESIGN.md, section 5: what the sources of the idea say, to the digit. Sessions are in
 * test/windows/sessions.test.ts; the idle source partition
 * is in test/pipeline/source-partitions.test.ts. */
import { describe, expect, test } from 'vitest';
import { openTestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';

interface Example {
  /** Columns of bronze beside event_time and ingested_at. */
  readonly columns: string;
  readonly window: string;
  readonly key?: string;
  readonly measures: string;
  readonly watermark: string;
  readonly lateness?: string;
  readonly policy?: 'auto' | 'grace';
}

async function openExample(example: Example): Promise<TestErrata> {
  const database = await openTestDatabase();
  await database.pool.query(`
    create schema bronze;
    create table bronze.event (id text, event_time timestamptz, ingested_at timestamptz, ${example.columns})`);
  return await openErrata(
    database,
    `
rollups:
  total:
    gold: gold.total
    bronze: { table: bronze.event, event_id: id, event_time: event_time, ingested_at: ingested_at, complete_from: 0001-01-01 }
    window: ${example.window}
    key: ${example.key ?? '[]'}
    measures: ${example.measures}
    watermark: ${example.watermark}
    allowed_lateness: ${example.lateness ?? '0'}
    seal: { by: errata }
    publish: { policy: ${example.policy ?? 'auto'} }
`,
  );
}

const landingsOf = (errata: TestErrata) =>
  errata.rows(
    'select event_id, landing, watermark, window_end from gold.total_late_event order by ingested_at, event_id',
  );

describe('orders', () => {
  /** 1,402 orders of the day, then order 8841 arriving while the log says `watermark`. */
  async function day(watermark: string, policy: 'auto' | 'grace' = 'grace'): Promise<TestErrata> {
    const errata = await openExample({
      columns: 'amount numeric(12,2)',
      window: '{ calendar: 1 day, time_zone: UTC }',
      measures: '{ orders: count(*) }',
      watermark: '{ strategy: recorded }',
      lateness: '24 hours',
      policy,
    });
    // where the late order lands open it is one of the 1,402
    await errata.rows(
      `insert into bronze.event select 'o' || n, timestamptz '2026-10-29T00:00Z' + n * interval '30 seconds', timestamptz '2026-10-29T12:00Z', 10
       from generate_series(1, case when $1::timestamptz < '2026-10-30' then 1401 else 1402 end) as n`,
      [watermark],
    );
    await errata.rows(
      `insert into gold.total_watermark_log (at, watermark) values
         ('2026-10-30T01:00Z', least($1::timestamptz, '2026-10-30T00:00Z')), ('2026-11-01T09:00Z', $1), ('2026-11-03T00:00Z', '2026-11-02T00:00Z')`,
      [watermark],
    );
    await errata.rows(
      `insert into bronze.event values ('8841', '2026-10-29T18:02Z', '2026-11-01T10:00Z', 99.50)`,
    );
    await errata.rows(
      `insert into bronze.event values ('next', '2026-10-30T00:00Z', '2026-10-30T00:30Z', 1)`,
    );
    await errata.run({ bound: '2026-11-04T00:00Z' });
    return errata;
  }
  const totals = (errata: TestErrata) =>
    errata.rows(
      `select local_date, version, orders, kind, causes from gold.total order by window_start, version`,
    );

  test('refused two days later, under grace: the sealed total stands, one row awaits a person by name', async () => {
    const errata = await day('2026-11-01T00:00Z');
    expect(await totals(errata)).toEqual([
      { local_date: '2026-10-29', version: 1, orders: '1402', kind: 'seal', causes: [] },
      { local_date: '2026-10-30', version: 1, orders: '1', kind: 'seal', causes: [] },
    ]);
    expect(
      await errata.rows(
        'select orders, pending_events, pending_orders, is_corrected from gold.total_latest order by window_start limit 1',
      ),
    ).toEqual([{ orders: '1402', pending_events: '1', pending_orders: '1', is_corrected: false }]);
    expect(await landingsOf(errata)).toEqual([
      {
        event_id: '8841',
        landing: 'side_output',
        watermark: '2026-11-01 00:00:00+00',
        window_end: '2026-10-30 00:00:00+00',
      },
    ]);
    expect(
      await errata.rows(
        'select sealed_orders, corrections_orders, latest_orders, pending_orders, restated_orders from gold.total_reconciliation order by window_start limit 1',
      ),
    ).toEqual([
      {
        sealed_orders: '1402',
        corrections_orders: '0',
        latest_orders: '1402',
        pending_orders: '1',
        restated_orders: '1403',
      },
    ]);
  });

  test('refused under auto: version 2 beside version 1', async () => {
    const errata = await day('2026-11-01T00:00Z', 'auto');
    expect((await totals(errata)).slice(0, 2)).toEqual([
      { local_date: '2026-10-29', version: 1, orders: '1402', kind: 'seal', causes: [] },
      { local_date: '2026-10-29', version: 2, orders: '1403', kind: 'correction', causes: ['refused'] },
    ]);
  });

  test('within the allowed lateness: a late firing', async () => {
    const errata = await day('2026-10-30T12:00Z');
    expect(await landingsOf(errata)).toMatchObject([
      { event_id: '8841', landing: 'late_firing', watermark: '2026-10-30 12:00:00+00' },
    ]);
    expect((await totals(errata))[1]).toMatchObject({ version: 2, orders: '1403', causes: ['late_firing'] });
  });

  test('before the watermark reached midnight: open, and one of the 1,402', async () => {
    const errata = await day('2026-10-29T20:00Z');
    expect(await landingsOf(errata)).toEqual([]);
    expect((await totals(errata))[0]).toMatchObject({ version: 1, orders: '1402' });
  });
});

test('five-minute grace: equality refuses, one microsecond less does not', async () => {
  const errata = await openExample({
    columns: 'v integer',
    window: '{ tumbling: 5 minutes }',
    measures: '{ n: count(*) }',
    watermark: '{ strategy: recorded }',
    lateness: '1 minute',
  });
  await errata.rows(`insert into gold.total_watermark_log (at, watermark) values
    ('2026-01-01T13:00Z', '2026-01-01T12:05:59.999999Z'), ('2026-01-01T14:00Z', '2026-01-01T12:06:00Z')`);
  await errata.rows(`insert into bronze.event values
    ('in', '2026-01-01T12:01Z', '2026-01-01T13:30Z', 1), ('out', '2026-01-01T12:01Z', '2026-01-01T14:30Z', 1)`);
  await errata.run({ bound: '2026-01-01T15:00Z' });
  expect(await landingsOf(errata)).toMatchObject([
    { event_id: 'in', landing: 'late_firing', watermark: '2026-01-01 12:05:59.999999+00' },
    { event_id: 'out', landing: 'side_output', watermark: '2026-01-01 12:06:00+00' },
  ]);
});

describe.each(['bounded', 'fixed_delay'] as const)('clicks, %s', (strategy) => {
  const clicks: readonly [string, string, number, number][] = [
    ['10:01', '/home', 5, 20],
    ['10:02', '/pricing', 5, 20],
    ['10:04', '/pricing', 5, 20],
    ['10:06', '/home', 5, 20],
    ['10:07', '/pricing', 5, 20],
    ['10:30', '/home', 1, 20],
    ['10:03', '/home', 7, 2280],
  ];
  async function clicked(bound: string): Promise<TestErrata> {
    const errata = await openExample({
      columns: 'page text, seconds numeric(10,1)',
      window: '{ tumbling: 5 minutes }',
      key: '[page]',
      measures: '{ views: count(*), seconds: sum(seconds) }',
      watermark: `{ strategy: ${strategy}, delay: 600 s }`,
    });
    for (const [n, [time, page, seconds, lateness]] of clicks.entries()) {
      await errata.rows(
        `insert into bronze.event select $1, t, t + $3 * interval '1 second', $4, $5 from (select ('2026-05-01 ' || $2 || '+00')::timestamptz) as e (t)`,
        [`c${n}`, time, lateness, page, seconds],
      );
    }
    await errata.run({ bound });
    return errata;
  }
  const views = (errata: TestErrata, relation: string) =>
    errata.rows<{ line: string }>(
      `select concat_ws(' ', to_char(window_start at time zone 'UTC', 'HH24:MI'), page, views, seconds) as line from gold.total_${relation} order by window_start, page`,
    );

  test('sealed and corrected', async () => {
    const errata = await clicked('2026-05-01T10:44:59Z');
    expect((await views(errata, 'sealed'))[0]).toEqual({ line: '10:00 /home 1 5.0' });
    expect((await views(errata, 'latest')).map((row) => row.line)).toEqual([
      '10:00 /home 2 12.0',
      '10:00 /pricing 2 10.0',
      '10:05 /home 1 5.0',
      '10:05 /pricing 1 5.0',
    ]);
  });

  test('the 10:30 window', async () => {
    const errata = await clicked('2026-05-01T10:45:00Z');
    const last = (await views(errata, 'latest')).at(-1);
    expect(last).toEqual({ line: strategy === 'bounded' ? '10:05 /pricing 1 5.0' : '10:30 /home 1 1.0' });
  });

  test('lateness', async () => {
    const errata = await clicked('2026-05-01T10:44:59Z');
    expect(
      await errata.rows(`select
        percentile_disc(0.5) within group (order by l) as p50, percentile_disc(0.99) within group (order by l) as p99,
        max(l) as most, count(*) filter (where l > 600) as beyond
        from (select extract(epoch from errata_arrived_at - errata_event_time) as l from errata.total_source()) as s`),
    ).toEqual([{ p50: '20.000000', p99: '2280.000000', most: '2280.000000', beyond: '1' }]);
  });
});

test('ten-second windows', async () => {
  const errata = await openExample({
    columns: 'v integer',
    window: '{ tumbling: 10 seconds }',
    measures: '{ n: count(*) }',
    watermark: '{ strategy: bounded, delay: 5 seconds, max_future_skew: none }',
    lateness: '10 seconds',
  });
  const seen = [1, 4, 9, 7, 15, 12, 17, 26, 3, 33, 24, 18, 45];
  const state = async () =>
    (
      await errata.rows<{ line: string }>(
        `select concat_ws(' ', extract(epoch from window_start)::int, 'v' || version, n) as line from gold.total order by stamp, window_start, version`,
      )
    ).map((row) => row.line);
  for (const [place, second] of seen.entries()) {
    await errata.rows(`insert into bronze.event values ($1, to_timestamp($2), to_timestamp($3), 1)`, [
      `e${place}`,
      second,
      1000 + place,
    ]);
    await errata.run({ bound: new Date((1000.5 + place) * 1000).toISOString() });
    if (second === 9) expect(await state()).toEqual([]);
    if (place === 4) expect(await state()).toEqual(['0 v1 4']);
    if (place === 7) expect(await state()).toEqual(['0 v1 4', '10 v1 3']);
  }
  expect(await state()).toEqual(['0 v1 4', '10 v1 3', '0 v2 5', '10 v2 4', '20 v1 2', '30 v1 1']);
  expect(
    (
      await errata.rows<{ line: string }>(
        `select concat_ws(' ', extract(epoch from event_time)::int, extract(epoch from watermark)::int, landing) as line from gold.total_late_event order by ingested_at`,
      )
    ).map((row) => row.line),
  ).toEqual(['3 21 side_output', '18 28 late_firing']);
});

test('one-minute transactions', async () => {
  const errata = await openExample({
    columns: 'amount bigint',
    window: '{ tumbling: 1 minute }',
    measures: '{ amount: sum(amount) }',
    watermark: '{ strategy: fixed_delay, delay: 10 seconds }',
    lateness: '5 minutes',
    policy: 'grace',
  });
  await errata.rows(`insert into bronze.event values
    ('a', '2026-01-01T10:00:30Z', '2026-01-01T10:00:31Z', 500000),
    ('b', '2026-01-01T10:00:45Z', '2026-01-01T10:03:00Z', 50000),
    ('c', '2026-01-01T10:00:20Z', '2026-01-01T10:08:00Z', 1)`);
  await errata.run({ bound: '2026-01-01T10:02:00Z' });
  await errata.run({ bound: '2026-01-01T10:09:00Z' });
  expect(await errata.rows('select version, amount, causes from gold.total order by version')).toEqual([
    { version: 1, amount: '500000', causes: [] },
    { version: 2, amount: '550000', causes: ['late_firing'] },
  ]);
  expect(
    await errata.rows('select event_id, landing, state from gold.total_late_event order by event_id'),
  ).toEqual([
    { event_id: 'b', landing: 'late_firing', state: 'included' },
    { event_id: 'c', landing: 'side_output', state: 'pending' },
  ]);
});
