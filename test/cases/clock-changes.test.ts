/** The hour that occurs twice, and the day that is an hour longer or shorter (R1, B13): whole runs, one event of two late. */
import { beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { openErrata } from '../support/errata.ts';

interface Change {
  readonly zone: string;
  /** Two events, with the same time on the wall where the clock is set back: amounts 1 and 2. */
  readonly events: readonly [string, string];
  /** `start end value` of each hour window that holds one of them. */
  readonly hours: readonly string[];
  readonly day: string;
  readonly localDate: string;
}

const changes: Change[] = [
  {
    zone: 'America/Chicago',
    events: ['2026-11-01 06:30', '2026-11-01 07:30'],
    hours: ['2026-11-01 06:00 2026-11-01 07:00 1', '2026-11-01 07:00 2026-11-01 08:00 2'],
    day: '2026-11-01 05:00 2026-11-02 06:00 3',
    localDate: '2026-11-01',
  },
  {
    zone: 'Europe/Berlin',
    events: ['2026-10-25 00:30', '2026-10-25 01:30'],
    hours: ['2026-10-25 00:00 2026-10-25 01:00 1', '2026-10-25 01:00 2026-10-25 02:00 2'],
    day: '2026-10-24 22:00 2026-10-25 23:00 3',
    localDate: '2026-10-25',
  },
  {
    zone: 'Europe/London',
    events: ['2026-10-25 00:30', '2026-10-25 01:30'],
    hours: ['2026-10-25 00:00 2026-10-25 01:00 1', '2026-10-25 01:00 2026-10-25 02:00 2'],
    day: '2026-10-24 23:00 2026-10-26 00:00 3',
    localDate: '2026-10-25',
  },
  {
    // the hour that occurs twice is the one before midnight's own: midnight itself occurs twice
    zone: 'America/Havana',
    events: ['2024-11-03 04:30', '2024-11-03 05:30'],
    hours: ['2024-11-03 04:00 2024-11-03 05:00 1', '2024-11-03 05:00 2024-11-03 06:00 2'],
    day: '2024-11-03 04:00 2024-11-04 05:00 3',
    localDate: '2024-11-03',
  },
  {
    // set back by half an hour: 01:30 to 02:00 occurs twice, within one hour window of 90 minutes
    zone: 'Australia/Lord_Howe',
    events: ['2026-04-04 14:45', '2026-04-04 15:15'],
    hours: ['2026-04-04 14:00 2026-04-04 15:30 3'],
    day: '2026-04-04 13:00 2026-04-05 13:30 3',
    localDate: '2026-04-05',
  },
  {
    // set forward: 02:00 to 03:00 does not occur
    zone: 'Europe/Rome',
    events: ['2026-03-29 00:30', '2026-03-29 01:30'],
    hours: ['2026-03-29 00:00 2026-03-29 01:00 1', '2026-03-29 01:00 2026-03-29 02:00 2'],
    day: '2026-03-28 23:00 2026-03-29 22:00 3',
    localDate: '2026-03-29',
  },
  {
    // half an hour off, and no change
    zone: 'Asia/Kolkata',
    events: ['2026-11-01 06:29', '2026-11-01 06:30'],
    hours: ['2026-11-01 05:30 2026-11-01 06:30 1', '2026-11-01 06:30 2026-11-01 07:30 2'],
    day: '2026-10-31 18:30 2026-11-01 18:30 3',
    localDate: '2026-11-01',
  },
];

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.pool.query('create schema bronze');
});

const cases = changes.flatMap((change) => [0, 1].map((late) => ({ ...change, late })));
test.each(cases)('$zone, event $late late', async ({ zone, events, hours, day, localDate, late }) => {
  const table = `${zone.split('/')[1]?.toLowerCase()}_${late}`;
  await database.pool.query(
    `create table bronze.${table} (id integer, event_time timestamptz, ingested_at timestamptz, amount integer)`,
  );
  const [onTime, behind] = late === 0 ? [1, 0] : [0, 1];
  for (const [width, expected] of [
    ['1 hour', hours],
    ['1 day', [day]],
  ] as const) {
    const name = `${table}_${width.slice(2)}`;
    const errata = await openErrata(
      database,
      `
rollups:
  ${name}:
    gold: gold.${name}
    bronze: { table: bronze.${table}, event_id: id, event_time: event_time, ingested_at: ingested_at, complete_from: 2020-01-01 }
    window: { calendar: ${width}, time_zone: ${zone} }
    key: []
    measures: { amount: sum(amount) }
    watermark: { strategy: bounded, delay: 0 }
    allowed_lateness: 0
    seal: { by: errata }
    publish: { policy: auto }
`,
    );
    await errata.rows(`truncate bronze.${table}`);
    const land = (id: number, time: string, arrivesIn: string) =>
      errata.rows(
        `insert into bronze.${table} select $1, $2::timestamptz, $2::timestamptz + $3::interval, $1 + 1`,
        [id, `${time}+00`, arrivesIn],
      );
    await land(onTime, events[onTime] as string, '1 minute');
    // what passes the day: three days later, of no amount
    await errata.rows(
      `insert into bronze.${table} select 9, $1::timestamptz + interval '3 days', $1::timestamptz + interval '3 days', 0`,
      [`${events[0]}+00`],
    );
    await errata.run({ bound: '2026-12-31T00:00Z' });
    await land(behind, events[behind] as string, '10 days');
    await errata.run({ bound: '2026-12-31T00:00Z' });
    const lines = await errata.rows<{ line: string; version: number; local_date: string }>(
      `select to_char(window_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI ') || to_char(window_end at time zone 'UTC', 'YYYY-MM-DD HH24:MI ') || amount as line, version, local_date
       from gold.${name}_latest order by window_start`,
    );
    expect(lines.map(({ line }) => line)).toEqual(expected);
    expect(new Set(lines.map((line) => line.local_date))).toEqual(new Set([localDate]));
    // the late one is version 2 where it falls, and nowhere else
    expect(lines.map(({ version }) => version)).toEqual(
      expected.length === 1 ? [2] : late === 0 ? [2, 1] : [1, 2],
    );
  }
});
