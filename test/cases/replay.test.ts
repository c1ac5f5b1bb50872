/**
 * Weeks of bronze, once as they came, a run each few hours; once loaded whole and run in one; once replayed: ingested
 * again within seconds, in the same order, which closes weeks of windows in a burst. All give the same answer (R17).
 */
import { beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';

const windows = {
  hours: '{ tumbling: 1 hour }',
  days: '{ calendar: 1 day, time_zone: Europe/Berlin }',
  hops: '{ hopping: 12 hours, every: 6 hours }',
};
type Shape = keyof typeof windows;

/** 2,000 events of 25 days in October and their copies: some hours late, some days, some of tomorrow, ties, NULL keys. */
const history = `
  create schema bronze;
  create table bronze.history as
  with raw as (
    select n, timestamptz '2026-10-10T00:00Z' + n * interval '18 minutes' as t, (n * 7919) % 1000 as dice from generate_series(1, 2000) as n
  ),
  event as (
    select 'e' || n as id, t as event_time,
      t + case
        when dice < 30 then (dice + 1) * interval '3 hours'
        when dice < 130 then dice * interval '4 minutes'
        when dice < 140 then interval '-30 hours'
        -- ties: all of a quarter of a day arrive at once
        when dice < 400 then date_trunc('day', t, 'UTC') + ceil(extract(hour from t at time zone 'UTC') / 6 + 0.01) * interval '6 hours' - t
        else dice * interval '300 milliseconds'
      end as ingested_at,
      case when n % 11 = 0 then null else 'k' || n % 3 end as key, (n % 97)::numeric / 4 as amount, n
    from raw
  )
  select id, event_time, ingested_at, key, amount from event
  union all
  select id, event_time, ingested_at + (n % 50) * interval '1 hour', key, amount + n % 2 from event where n % 23 = 0;
`;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.pool.query(history);
});

async function openReplay(shape: Shape, name: string): Promise<TestErrata> {
  await database.pool.query(`create table bronze.${name} (like bronze.history)`);
  return await openErrata(
    database,
    `
rollups:
  ${name}:
    gold: gold.${name}
    bronze: { table: bronze.${name}, event_id: id, event_time: event_time, ingested_at: ingested_at, complete_from: 2026-10-01 }
    window: ${windows[shape]}
    key: [key]
    measures: { counted: count(*), amount: sum(amount) }
    watermark: { strategy: bounded, delay: 2 hours }
    allowed_lateness: 6 hours
    seal: { by: errata }
    publish: { policy: auto }
`,
  );
}

/** All that a log decides; the time of arrival and what follows from it is left out. */
async function answersOf({ rows, rollup }: TestErrata): Promise<Record<string, string[]>> {
  const { name } = rollup.settings;
  const lines = async (columns: string, from: string) =>
    (
      await rows<{ line: string }>(`select concat_ws(' ', ${columns}) as line from ${from} order by line`)
    ).map(({ line }) => line);
  const keyed = `t.window_start, t.window_end, quote_nullable(t.key)`;
  return {
    landings: await lines(
      `${keyed}, t.event_id, t.event_time, t.landing, t.watermark, t.is_conflict, t.quarantine_reason, t.conflicts_with->>'this'`,
      `gold.${name}_late_event as t`,
    ),
    watermarks: await lines('t.watermark', `errata.watermark_step as t where t.rollup_id = ${rollup.id}`),
    sealed: await lines(`${keyed}, t.counted, t.amount, t.event_count`, `gold.${name}_sealed as t`),
    latest: await lines(
      `${keyed}, t.counted, t.amount, t.event_count`,
      `gold.${name}_latest as t where not t.is_void`,
    ),
    restated: await lines(
      `${keyed}, t.restated_counted, t.restated_amount`,
      `gold.${name}_reconciliation as t where t.restated_counted <> 0`,
    ),
  };
}

const end = '2026-11-15T00:00Z';

test.each(Object.keys(windows) as Shape[])(
  'in many runs, in one, and replayed in a burst: %s',
  async (shape) => {
    const whole = await openReplay(shape, `${shape}_whole`);
    await whole.rows(`insert into bronze.${shape}_whole select * from bronze.history`);
    await whole.run({ bound: end });
    const answers = await answersOf(whole);
    // the history is worth it
    const landings = answers.landings?.join('\n') ?? '';
    for (const landing of ['side_output', 'late_firing', 'quarantined']) expect(landings).toContain(landing);
    expect(answers.sealed?.length).toBeGreaterThan(90);
    expect(answers.latest).not.toEqual(answers.sealed);

    const live = await openReplay(shape, `${shape}_live`);
    const bounds = await live.rows<{ bound: string }>(
      `select b::text as bound from generate_series(timestamptz '2026-10-10T11:00Z', '2026-11-09T00:00Z', interval '17 hours') as b`,
    );
    for (const [place, { bound }] of bounds.entries()) {
      await live.rows(
        `insert into bronze.${shape}_live select * from bronze.history where ingested_at > $1 and ingested_at <= $2`,
        [bounds[place - 1]?.bound ?? '-infinity', bound],
      );
      await live.run({ bound });
    }
    await live.rows(`insert into bronze.${shape}_live select * from bronze.history where ingested_at > $1`, [
      bounds.at(-1)?.bound,
    ]);
    await live.run({ bound: end });
    expect(await answersOf(live)).toEqual(answers);

    // A replay later: an instant of ingestion is a millisecond, and ties stay ties. What was ahead of its arrival is so no
    // more, so it is left out of both.
    const replayed = await openReplay(shape, `${shape}_replayed`);
    const before = await openReplay(shape, `${shape}_before`);
    const believed = `event_time <= ingested_at + interval '1 hour'`;
    await before.rows(`insert into bronze.${shape}_before select * from bronze.history where ${believed}`);
    await before.run({ bound: end });
    await replayed.rows(
      `insert into bronze.${shape}_replayed
     select id, event_time, timestamptz '2026-12-01T00:00Z' + dense_rank() over (order by ingested_at) * interval '1 millisecond', key, amount
     from bronze.history where ${believed}`,
    );
    for (const second of ['00.5', '00.501', '01', '59'])
      await replayed.run({ bound: `2026-12-01T00:00:${second}Z` });
    expect(await answersOf(replayed)).toEqual(await answersOf(before));
  },
  120_000,
);
