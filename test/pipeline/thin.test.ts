/** Runs that changed nothing leave the record when their time is up; what any report says stays what it was. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { statementsOf } from '../../src/catalog/statements.ts';
import { explain } from '../../src/commands/explain.ts';
import { lateness } from '../../src/commands/lateness.ts';
import { review } from '../../src/commands/review.ts';
import { status } from '../../src/commands/status.ts';
import { verify } from '../../src/commands/verify.ts';
import { execute } from '../../src/db/statement.ts';
import { makeMark } from '../../src/publication/marks.ts';
import { closePeriod } from '../../src/publication/periods.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { call, settingsOf } from '../report/verb-context.ts';
import { type Orders, openOrders } from '../support/orders.ts';
import { reconciled } from '../support/reconcile.ts';
import { openSourcePartitions } from '../support/source-partitions.ts';
import { bytesOf, statementDirectory, writeStatement } from '../support/statement.ts';

const ada = { actor: 'ada', reason: 'ticket 311' };
const quarterYear = '90 days';

/** What a run does at its end, over so many runs at once. */
async function thinned(orders: Orders, atMost: number, keep = quarterYear) {
  const { rows } = await execute<{ looked_at: string; gone: string }>(
    orders.control,
    statementsOf(orders.rollup).pipeline.thin,
    {
      rollup_id: orders.rollup.id,
      stamp: new Date(Date.now() + 1000).toISOString(),
      keep,
      at_most: String(atMost),
      keeps_rows: String(orders.rollup.settings.window.kind === 'session'),
    },
  );
  return { lookedAt: Number(rows[0]?.looked_at), gone: Number(rows[0]?.gone) };
}

/** As if all runs so far had been made so much earlier; their stamps stay, which everything that was published carries. */
const age = (orders: Orders) =>
  orders.rows(
    `update errata.run set started_at = started_at - interval '100 days', finished_at = finished_at - interval '100 days'`,
  );
const runs = async (orders: Orders) =>
  (await orders.rows<{ run_id: string }>('select run_id from errata.run order by run_id')).map(
    ({ run_id: id }) => Number(id),
  );

/** Every number of a run that stands anywhere and belongs to none. */
async function dangling(orders: Orders): Promise<string[]> {
  const columns = await orders.rows<{ relation: string; column: string }>(
    `select format('%I.%I', n.nspname, c.relname) as relation, quote_ident(a.attname) as column
     from pg_class as c
     join pg_namespace as n on n.oid = c.relnamespace
     join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind = 'r' and n.nspname in ('errata', 'gold') and a.attname ~ '(^|_)run_id$' and c.relname <> 'rollup'`,
  );
  expect(columns.length).toBeGreaterThan(20);
  const found: string[] = [];
  for (const { relation, column } of columns) {
    const rows = await orders.rows(
      `select from ${relation} as t where t.${column} is not null and not exists (select from errata.run as r where r.run_id = t.${column})`,
    );
    if (rows.length > 0) found.push(`${relation}.${column}`);
  }
  return found;
}

describe('a story of all that runs do, and idle runs between', () => {
  const idle = async (orders: Orders) => {
    for (let n = 0; n < 3; n++) await orders.run({ atFrontier: true });
  };

  async function told(options: Parameters<typeof openOrders>[0]): Promise<Orders> {
    const orders = await openOrders({
      policy: 'grace',
      periods: '{ calendar: month, time_zone: UTC }',
      bronze:
        '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01, track_changes: true }',
      ...options,
    });
    await orders.land(
      'a 10-29 10:00 10-29 10:01 EU 20',
      'b 10-29 11:00 10-29 11:01 US 30',
      'a 10-29 10:00 10-29 10:02 EU 20',
    );
    await orders.run({ bound: '2026-10-29T12:00Z' });
    await orders.land('c 10-29 12:00 10-29 12:01 EU 5', 'jump 10-31 02:00 10-31 02:00 ZZ 1');
    await orders.run({ bound: '2026-10-31T02:30Z' });
    await idle(orders);
    // it examines a row and does nothing else: by the bound of this run the mark is read
    await orders.land('k 10-31 02:35 10-31 02:40 US 2');
    await orders.run({ bound: '2026-10-31T02:45Z' });
    await makeMark(orders.control, settingsOf(orders), 'first', 'ada');
    await idle(orders);
    // refused, late firing, quarantined, a conflict, and rows that only move the watermark
    await orders.land(
      'd 10-29 13:00 10-31 03:00 EU 7',
      'e 10-30 13:00 10-31 03:00 US 9',
      'g 10-29 14:00 10-31 03:00 EU 8',
      'f 12-30 13:00 10-31 03:00',
      'b 10-29 11:00 10-31 03:01 US 31',
      'later 11-03 03:00 11-03 03:00 ZZ 1',
    );
    await orders.run({ bound: '2026-11-03T03:30Z' });
    await idle(orders);
    await releaseEvents(orders.control, orders.rollup, { ...ada, eventIds: ['d'] }, { atFrontier: true });
    await orders.rows(`delete from bronze.orders where order_id = 'a'`);
    await idle(orders);
    // a late event that waits is gone: a run says so of it, and nothing else
    await orders.rows(`delete from bronze.orders where order_id = 'g'`);
    await expect(orders.run({ bound: '2026-10-01Z' })).rejects.toThrow('lies before');
    await expect(orders.run({ bound: '2026-10-02Z' })).rejects.toThrow('lies before');
    await idle(orders);
    await reconciled(orders, { from: '2026-10-01Z', to: '2026-11-01Z' });
    await idle(orders);
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-10', isForced: true });
    await orders.land('held 10-29 15:00 11-03 04:00 EU 3');
    await orders.run({ bound: '2026-11-03T04:30Z' });
    await idle(orders);
    return orders;
  }

  test.each([
    ['by day', {}],
    ['by session', { window: '{ session_gap: 30 minutes }' }],
  ])(
    '%s: nothing refers to what went, and every report says what it said',
    async (name, options) => {
      const directory = statementDirectory();
      const orders = await told(options);
      const window =
        name === 'by day'
          ? ['daily_orders', '2026-10-29', 'EU']
          : ['daily_orders', '2026-10-29T12:00Z', 'EU'];
      const reports = async (place: string) => {
        await writeStatement(orders, join(directory, `${place} at first`), { mark: 'first' });
        await writeStatement(orders, join(directory, `${place} at close`), {});
        const { windows, events, totals } = await reconciled(orders, {
          from: '2026-10-01Z',
          to: '2026-11-01Z',
        });
        const text = async (outcome: ReturnType<typeof call>) =>
          (await outcome).text?.replaceAll(/\d+(\.\d+)? (milli)?seconds?( ago)?|\d+ days? ago/g, '…');
        return {
          first: bytesOf(join(directory, `${place} at first`)),
          close: bytesOf(join(directory, `${place} at close`)),
          reconciled: JSON.parse(JSON.stringify({ windows, events, totals })),
          status: (await text(call(status, orders, [], {})))?.replaceAll(
            /reconciled .*|last run +\S+ \S+/g,
            '',
          ),
          explained: await text(call(explain, orders, window, {})),
          explainedThen: await text(call(explain, orders, window, { mark: 'first' })),
          lateness: await text(call(lateness, orders, ['daily_orders'], {})),
          latenessThen: await text(call(lateness, orders, ['daily_orders'], { mark: 'first' })),
          reviewed: await text(call(review, orders, [], {})),
          verified: await text(call(verify, orders, [], {})),
        };
      };
      const before = await reports('before');
      const all = await runs(orders);
      await age(orders);
      const { gone, lookedAt } = await thinned(orders, 1000);
      expect(lookedAt).toBe(all.length);
      expect(gone).toBeGreaterThan(5);
      expect(await dangling(orders)).toEqual([]);
      expect(await reports('after')).toEqual(before);
      const totals = await orders.rows(`select total from errata.run_total where name = 'runs'`);
      expect(Number(totals[0]?.total)).toBeGreaterThan((await runs(orders)).length);
      // and goes on
      await orders.land('new 11-03 05:00 11-03 05:01 EU 4', 'on 11-06 02:00 11-06 02:00 ZZ 1');
      expect((await orders.run({ bound: '2026-11-06T03:00Z' })).counts.windows_sealed).toBeGreaterThan(0);
      expect((await call(verify, orders, [], {})).exitCode).toBe(0);
    },
    120_000,
  );
});

describe('a year of runs every five minutes with nothing to do', () => {
  test('leaves those of the time that is kept, and one a day; a run goes through 200, by indexes', async () => {
    const orders = await openOrders();
    await orders.land('a 10-29 10:00 10-29 10:01');
    await orders.run();
    await orders.rows(`update errata.run set started_at = started_at - interval '366 days'`);
    // like the last of all, each answers what was due
    await orders.rows(
      `insert into errata.run (rollup_id, verb, outcome, started_at, finished_at, bound, stamp, counts, stage_milliseconds)
       select r.rollup_id, r.verb, case when n % 1000 = 0 then 'failed' else 'done' end, t.at, t.at, t.at, case when n % 1000 <> 0 then t.at end,
         r.counts || '{"rows_examined": 12}', r.stage_milliseconds
       from errata.run as r
       cross join generate_series(0, 365 * 288 - 1) as n
       cross join lateral (select clock_timestamp() - interval '365 days' + n * interval '5 minutes' as at) as t
       where r.run_id = (select max(run_id) from errata.run)`,
    );
    await orders.rows(
      `insert into errata.due_moment (rollup_id, due_at, first_due_at, missed, run_id)
       select rollup_id, started_at, started_at, 0, run_id from errata.run where outcome <> 'failed' and hash is null`,
    );
    await orders.rows('analyze errata.run, errata.due_moment');
    const plan = await orders.rows<{ 'QUERY PLAN': string }>(
      `explain ${statementsOf(orders.rollup).pipeline.thin.sql}`,
      [String(orders.rollup.id), new Date().toISOString(), quarterYear, '200', 'false'],
    );
    const scans = plan
      .map((row) => row['QUERY PLAN'])
      .filter((line) => /Seq Scan on (run|due_moment)\b/.test(line));
    expect(scans).toEqual([]);

    const { counts } = await orders.run();
    expect(counts.windows_corrected).toBe(0);
    const [one] = await orders.rows('select thinned_run_id from errata.rollup');
    expect(Number(one?.thinned_run_id)).toBe(200);
    await thinned(orders, 200_000);
    // 90 days of 288, one of each other day, the first, which published, and the last failure before
    const left = await runs(orders);
    expect(left.length).toBeLessThanOrEqual(90 * 288 + 276 + 4);
    expect(left.length).toBeGreaterThan(90 * 288 + 270);
    const moments = await orders.rows('select count(*) as n from errata.due_moment');
    expect(Number(moments[0]?.n)).toBeLessThanOrEqual(left.length);
    expect(await thinned(orders, 200_000)).toMatchObject({ gone: 0 });
  }, 120_000);
});

describe('the history of the watermark', () => {
  /** What each instant of arrival says of each window: sealed, past its deadline. */
  const judged = (orders: Orders) =>
    orders.rows(
      `select i.at::text, w.day::text, coalesce(max(s.watermark) >= w.day + interval '1 day', false) as sealed,
         coalesce(max(s.watermark) >= w.day + interval '30 hours', false) as refused
       from generate_series('2026-06-01Z'::timestamptz, '2026-06-12Z', interval '17 minutes') as i (at)
       cross join generate_series('2026-05-28Z'::timestamptz, '2026-06-12Z', interval '1 day') as w (day)
       left join lateral (
         select s.watermark from errata.watermark_step as s where s.at < i.at order by s.at desc limit 1
       ) as s on true
       group by i.at, w.day order by i.at, w.day`,
    );
  const steps = async (orders: Orders) =>
    Number((await orders.rows('select count(*) as n from errata.watermark_step'))[0]?.n);

  test('is kept where it passed an end or a deadline, and judges as before; what is younger stays whole', async () => {
    const orders = await openOrders({ policy: 'auto', lateness: '6 hours' });
    await orders.rows(
      `insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount)
       select n::text, t.at, t.at + interval '30 seconds', 'EU', 1
       from generate_series(0, 10 * 96) as n
       cross join lateral (select '2026-06-01Z'::timestamptz + n * interval '15 minutes' as at) as t`,
    );
    await orders.run({ bound: '2026-06-11T12:00Z' });
    const before = await judged(orders);
    expect(before.some((row) => row.sealed && !row.refused)).toBe(true);
    const all = await steps(orders);
    expect(all).toBeGreaterThan(900);

    await orders.run({ bound: '2026-06-12T00:00Z' });
    expect(await steps(orders)).toBe(all);
    // 90 days after 6 June: of what is older the first step stays, and where it passed five ends and five deadlines
    await orders.run({ bound: '2026-09-04T00:00Z' });
    const younger = await orders.rows(
      `select count(*) as n from errata.watermark_step where at >= '2026-06-06Z'`,
    );
    expect(await judged(orders)).toEqual(before);
    expect(await steps(orders)).toBe(Number(younger[0]?.n) + 11);
    await orders.run({ bound: '2026-12-31T00:00Z' });
    expect(await judged(orders)).toEqual(before);
    expect(await steps(orders)).toBeLessThan(25);

    // a row that appears behind the frontier is judged by it, and so is the next
    await orders.land(
      'early 06-02 10:00 06-02 23:00 EU 1',
      'fired 06-02 10:00 06-03 03:00 EU 1',
      'late 06-02 10:00 06-04 10:00 EU 1',
    );
    const { counts } = await orders.run({ bound: '2026-12-31T01:00Z' });
    expect(counts).toMatchObject({ stragglers: 1, late_firing: 1, side_output: 1 });
  });

  test('of a source partition with one of its own, too', async () => {
    const errata = await openSourcePartitions({
      watermark: '{ strategy: bounded, delay: 0, max_future_skew: none, combine: own }',
      lateness: '4 seconds',
    });
    const own = () =>
      errata.rows<{ source: string; at: string; sealed: string; refused: string }>(
        `select p.source_partition as source, i.at, floor(max(extract(epoch from s.watermark)) / 10) as sealed,
           floor((max(extract(epoch from s.watermark)) - 4) / 10) as refused
         from errata.source_partition as p
         cross join generate_series(0, 101, 0.5) as i (at)
         left join errata.source_watermark_step as s
           on s.source_partition_id = p.source_partition_id and s.at < '2026-01-01Z'::timestamptz + i.at * interval '1 second'
         group by p.source_partition, i.at order by p.source_partition, i.at`,
      );
    const steps = async (source: string) =>
      Number(
        (
          await errata.rows(
            `select count(*) as n from errata.source_watermark_step as s join errata.source_partition as p using (source_partition_id)
             where p.source_partition = '${source}'`,
          )
        )[0]?.n,
      );
    await errata.rows(
      `insert into bronze.event (source, ingested_at, event_time)
       select s.name, t.at, t.at - s.behind
       from (values ('a', interval '0'), ('b', interval '3 seconds')) as s (name, behind)
       cross join generate_series('2026-01-01Z'::timestamptz, '2026-01-01 00:01:40Z', '1 second') as t (at)`,
    );
    await errata.runAt(101);
    const before = await own();
    expect(await Promise.all([steps('a'), steps('b')])).toEqual([101, 101]);
    await errata.runAt(91 * 86_400);
    expect(await own()).toEqual(before);
    // the first, where it passed ten ends, and ten deadlines four seconds after an end
    expect(await Promise.all([steps('a'), steps('b')])).toEqual([21, 21]);
  });
});
