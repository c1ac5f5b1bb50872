import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { quoteName } from '../../src/db/identifiers.ts';
import { loadStatement } from '../../src/db/sql.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';

const hour = 3_600_000_000;
const day = 24 * hour;
const sessionZones = ['UTC', 'Europe/Rome', 'America/New_York', 'Pacific/Apia'];

interface Width {
  readonly months?: number;
  readonly us?: number;
}
interface Calendar {
  readonly width: Width;
  readonly time_zone: string;
  readonly origin?: string | undefined;
  readonly offset_us?: number | undefined;
}
type Window = readonly [start: string, end: string, localDate: string];

const schema = 'Odd "Name"';
let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.pool.query(`create schema ${quoteName(schema)}`);
  const definition = loadStatement('control/calendar.sql', { schema: quoteName(schema) });
  await database.pool.query(definition);
  await database.pool.query(definition);
});

/** Rows of text, under an empty search path and the given session time zone. */
async function query<Row>(statement: string, values: unknown[], sessionZone = 'UTC'): Promise<Row[]> {
  const client = await database.pool.connect();
  try {
    await client.query('begin');
    await client.query(
      "select set_config('search_path', '', true), set_config('TimeZone', $1, true), set_config('DateStyle', 'ISO', true)",
      [sessionZone],
    );
    return (await client.query(statement, values)).rows;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

const calendarArguments =
  "nullif($2::int, 0), nullif($3::bigint, 0), $4::text, $5::timestamp, $6::bigint * interval '1 microsecond'";
const lateral = (instant: string) =>
  `cross join lateral ${quoteName(schema)}.calendar_window(${instant}, ${calendarArguments})`;
const values = (instants: readonly string[], calendar: Calendar) => [
  instants,
  calendar.width.months ?? 0,
  calendar.width.us ?? 0,
  calendar.time_zone,
  calendar.origin ?? null,
  calendar.offset_us ?? 0,
];
const utc = (instant: string) => `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const canonical = (instant: string) =>
  instant.replace(/(?:\.(\d+))?Z$/, (_, digits = '') => `.${digits.padEnd(6, '0')}Z`);

async function windowsOf(instants: readonly string[], calendar: Calendar, sessionZone = 'UTC') {
  const rows = await query<{ w: Window }>(
    `select array[${utc('w.window_start')}, ${utc('w.window_end')}, w.local_date::text] as w
     from unnest($1::timestamptz[]) with ordinality as e (t, i) ${lateral('e.t')} as w
     order by e.i`,
    values(instants, calendar),
    sessionZone,
  );
  return rows.map((row) => row.w);
}

const within = (start: string, end: string, localDate: string): Window => [
  canonical(start),
  canonical(end),
  localDate,
];

/** The windows from one border on, in order. */
async function chain(from: string, count: number, calendar: Calendar) {
  const windows: Window[] = [];
  for (let next = from; windows.length < count; ) {
    const [window] = await windowsOf([next], calendar);
    if (window === undefined) throw new Error('a calendar window is always one row');
    windows.push(window);
    next = window[1];
  }
  return windows;
}

describe('hours (R1)', () => {
  const hours = (count: number, time_zone: string): Calendar => ({ width: { us: count * hour }, time_zone });

  it('makes two windows of a repeated hour, and one day of 25 hours (B13)', async () => {
    const events = ['2026-11-01T06:30:00Z', '2026-11-01T07:30:00Z'];
    expect(await windowsOf(events, hours(1, 'America/Chicago'))).toEqual([
      within('2026-11-01T06:00:00Z', '2026-11-01T07:00:00Z', '2026-11-01'),
      within('2026-11-01T07:00:00Z', '2026-11-01T08:00:00Z', '2026-11-01'),
    ]);
    const local = within('2026-11-01T05:00:00Z', '2026-11-02T06:00:00Z', '2026-11-01');
    expect(await windowsOf(events, hours(24, 'America/Chicago'))).toEqual([local, local]);
  });

  it('keeps hours whole when they do not begin with the repeated one', async () => {
    const calendar = { ...hours(1, 'America/Chicago'), offset_us: hour / 2 };
    expect(await chain('2026-11-01T05:30:00Z', 4, calendar)).toEqual([
      within('2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', '2026-11-01'),
      within('2026-11-01T06:30:00Z', '2026-11-01T07:30:00Z', '2026-11-01'),
      within('2026-11-01T07:30:00Z', '2026-11-01T08:30:00Z', '2026-11-01'),
      within('2026-11-01T08:30:00Z', '2026-11-01T09:30:00Z', '2026-11-01'),
    ]);
  });

  it('lengthens a window of two hours, wherever its border lies', async () => {
    const calendar = { ...hours(2, 'America/New_York'), offset_us: hour };
    expect(await chain('2026-11-01T03:00:00Z', 3, calendar)).toEqual([
      within('2026-11-01T03:00:00Z', '2026-11-01T05:00:00Z', '2026-10-31'),
      within('2026-11-01T05:00:00Z', '2026-11-01T08:00:00Z', '2026-11-01'),
      within('2026-11-01T08:00:00Z', '2026-11-01T10:00:00Z', '2026-11-01'),
    ]);
  });

  it('gives Lord Howe an hour of 90 minutes and one of 30, and repeats its half hours', async () => {
    expect(await chain('2026-04-04T14:00:00Z', 2, hours(1, 'Australia/Lord_Howe'))).toEqual([
      within('2026-04-04T14:00:00Z', '2026-04-04T15:30:00Z', '2026-04-05'),
      within('2026-04-04T15:30:00Z', '2026-04-04T16:30:00Z', '2026-04-05'),
    ]);
    expect(await chain('2026-10-03T14:30:00Z', 3, hours(1, 'Australia/Lord_Howe'))).toEqual([
      within('2026-10-03T14:30:00Z', '2026-10-03T15:30:00Z', '2026-10-04'),
      within('2026-10-03T15:30:00Z', '2026-10-03T16:00:00Z', '2026-10-04'),
      within('2026-10-03T16:00:00Z', '2026-10-03T17:00:00Z', '2026-10-04'),
    ]);
    expect(await chain('2026-04-04T14:30:00Z', 3, hours(0.5, 'Australia/Lord_Howe'))).toEqual([
      within('2026-04-04T14:30:00Z', '2026-04-04T15:00:00Z', '2026-04-05'),
      within('2026-04-04T15:00:00Z', '2026-04-04T15:30:00Z', '2026-04-05'),
      within('2026-04-04T15:30:00Z', '2026-04-04T16:00:00Z', '2026-04-05'),
    ]);
  });

  it('repeats the windows of two hours where the clock is set back by two (Troll)', async () => {
    expect(await chain('2026-10-25T00:00:00Z', 3, hours(2, 'Antarctica/Troll'))).toEqual([
      within('2026-10-25T00:00:00Z', '2026-10-25T02:00:00Z', '2026-10-25'),
      within('2026-10-25T02:00:00Z', '2026-10-25T04:00:00Z', '2026-10-25'),
      within('2026-10-25T04:00:00Z', '2026-10-25T06:00:00Z', '2026-10-25'),
    ]);
  });

  it('repeats hours, but not days, where most of a day is repeated (Kwajalein 1969)', async () => {
    const [first, again] = await windowsOf(
      ['1969-09-29T15:30:00Z', '1969-09-30T14:30:00Z'],
      hours(1, 'Pacific/Kwajalein'),
    );
    expect([first, again]).toEqual([
      within('1969-09-29T15:00:00Z', '1969-09-29T16:00:00Z', '1969-09-30'),
      within('1969-09-30T14:00:00Z', '1969-09-30T15:00:00Z', '1969-09-30'),
    ]);
    expect(await windowsOf(['1969-09-29T15:30:00Z'], hours(24, 'Pacific/Kwajalein'))).toEqual([
      within('1969-09-29T13:00:00Z', '1969-10-01T12:00:00Z', '1969-09-30'),
    ]);
  });
});

describe('days (R1)', () => {
  /** Consecutive days: the instant of each border, and the label of each day. */
  const days: [title: string, zone: string, borders: string[], labels: string[], offset?: number][] = [
    [
      'a midnight that does not exist, America/Sao_Paulo 2018',
      'America/Sao_Paulo',
      ['2018-11-03T03:00:00Z', '2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z'],
      ['2018-11-03', '2018-11-04'],
    ],
    [
      'a midnight that does not exist, Asia/Beirut',
      'Asia/Beirut',
      ['2022-03-25T22:00:00Z', '2022-03-26T22:00:00Z', '2022-03-27T21:00:00Z'],
      ['2022-03-26', '2022-03-27'],
    ],
    [
      'a midnight that does not exist, Africa/Cairo',
      'Africa/Cairo',
      ['2024-04-24T22:00:00Z', '2024-04-25T22:00:00Z', '2024-04-26T21:00:00Z'],
      ['2024-04-25', '2024-04-26'],
    ],
    [
      'a midnight that does not exist, Asia/Amman',
      'Asia/Amman',
      ['2021-03-24T22:00:00Z', '2021-03-25T22:00:00Z', '2021-03-26T21:00:00Z'],
      ['2021-03-25', '2021-03-26'],
    ],
    [
      'a midnight that occurs twice begins the day the first time, America/Havana',
      'America/Havana',
      ['2024-11-02T04:00:00Z', '2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z'],
      ['2024-11-02', '2024-11-03'],
    ],
    [
      'a midnight that occurs twice, Atlantic/Azores',
      'Atlantic/Azores',
      ['2024-10-26T00:00:00Z', '2024-10-27T00:00:00Z', '2024-10-28T01:00:00Z'],
      ['2024-10-26', '2024-10-27'],
    ],
    [
      'an hour before midnight that occurs twice, America/Sao_Paulo 2018',
      'America/Sao_Paulo',
      ['2018-02-17T02:00:00Z', '2018-02-18T03:00:00Z', '2018-02-19T03:00:00Z'],
      ['2018-02-17', '2018-02-18'],
    ],
    [
      'a day that was skipped, Pacific/Apia 2011',
      'Pacific/Apia',
      ['2011-12-29T10:00:00Z', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
      ['2011-12-29', '2011-12-31'],
    ],
    [
      'a day that was skipped, Pacific/Kwajalein 1993',
      'Pacific/Kwajalein',
      ['1993-08-20T12:00:00Z', '1993-08-21T12:00:00Z', '1993-08-22T12:00:00Z'],
      ['1993-08-20', '1993-08-22'],
    ],
    [
      'an offset with seconds, Asia/Kolkata in 1850',
      'Asia/Kolkata',
      ['1850-01-01T18:06:32Z', '1850-01-02T18:06:32Z'],
      ['1850-01-02'],
    ],
    [
      'a border by offset in a skipped hour keeps its own label, America/Nuuk',
      'America/Nuuk',
      ['2024-03-30T01:00:00Z', '2024-03-31T01:00:00Z', '2024-04-01T00:00:00Z'],
      ['2024-03-29', '2024-03-30'],
      -hour,
    ],
  ];
  for (const [title, time_zone, borders, labels, offset_us] of days) {
    it(title, async () => {
      const calendar = { width: { us: day }, time_zone, offset_us };
      const expected = labels.map((label, i) =>
        within(borders[i] as string, borders[i + 1] as string, label),
      );
      expect(await chain(borders[0] as string, labels.length, calendar)).toEqual(expected);
    });
  }

  it('labels alike under every session time zone (B19)', async () => {
    for (const sessionZone of sessionZones) {
      expect(
        await windowsOf(
          ['2026-03-29T12:00:00Z'],
          { width: { us: day }, time_zone: 'Europe/Rome' },
          sessionZone,
        ),
      ).toEqual([within('2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', '2026-03-29')]);
    }
  });
});

describe('weeks, months, quarters and years (R1)', () => {
  it.each([
    [
      'a week begins on Monday',
      { us: 7 * day },
      {},
      '2026-03-22T23:00:00Z',
      '2026-03-29T22:00:00Z',
      '2026-03-23',
    ],
    ['a month', { months: 1 }, {}, '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z', '2026-03-01'],
    ['a quarter', { months: 3 }, {}, '2025-12-31T23:00:00Z', '2026-03-31T22:00:00Z', '2026-01-01'],
    ['a year', { months: 12 }, {}, '2025-12-31T23:00:00Z', '2026-12-31T23:00:00Z', '2026-01-01'],
    [
      'a year from April on',
      { months: 12 },
      { origin: '2000-04-01' },
      '2025-03-31T22:00:00Z',
      '2026-03-31T22:00:00Z',
      '2025-04-01',
    ],
    [
      'a month from its last day on',
      { months: 1 },
      { origin: '2000-01-31' },
      '2026-02-27T23:00:00Z',
      '2026-03-30T22:00:00Z',
      '2026-02-28',
    ],
    [
      'a month that starts the day before at 22:00',
      { months: 1 },
      { offset_us: -2 * hour },
      '2026-02-28T21:00:00Z',
      '2026-03-31T20:00:00Z',
      '2026-02-28',
    ],
  ] as const)('%s', async (_, width, rest, start, end, label) => {
    expect(await windowsOf(['2026-03-26T12:00:00Z'], { width, time_zone: 'Europe/Berlin', ...rest })).toEqual(
      [within(start, end, label)],
    );
  });
});

it('gives NULLs for what no window can hold, and never an error', async () => {
  const far = [
    'infinity',
    '-infinity',
    '294276-12-31 23:59:59Z',
    '4713-01-01 00:00Z BC',
    '100000-01-01 00:00Z',
  ];
  const near = ['99999-12-31 23:59:59.999999Z', '3000-01-01 00:00Z BC', '0001-01-01 00:00Z'];
  for (const width of [{ us: hour }, { us: day }, { us: 365_250 * day }, { months: 1 }, { months: 12_000 }]) {
    const calendar = { width, time_zone: 'Asia/Kathmandu' };
    for (const window of await windowsOf(far, calendar)) expect(window).toEqual([null, null, null]);
    for (const window of await windowsOf(near, calendar)) expect(window).not.toContain(null);
  }
});

it('gives them for a constant too, which the planner folds through the function of a change', async () => {
  for (const instant of [null, 'infinity', '-infinity', '294276-12-31 23:59:59Z', '4713-01-01 00:00Z BC']) {
    for (const width of [{ us: hour }, { us: day }, { months: 1 }]) {
      const { rows } = await database.pool.query(
        `select w.* from (select 1) as once cross join lateral ${quoteName(schema)}.calendar_window(
           $1::timestamptz, ${width.months ?? 'null'}, ${width.us ?? 'null'}, 'America/New_York', null, null
         ) as w`,
        [instant],
      );
      expect(rows).toEqual([{ window_start: null, window_end: null, local_date: null }]);
    }
  }
});

it('is inlined: no call of the function is left in the plan', async () => {
  for (const width of ["null, '86400000000'", '1, null']) {
    const plan = await query<{ 'QUERY PLAN': string }>(
      `explain (verbose) select w.* from unnest($1::timestamptz[]) as e (t)
       cross join lateral ${quoteName(schema)}.calendar_window(e.t, ${width}, 'Europe/Berlin', null, null) as w`,
      [['2026-01-01T00:00:00Z']],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).not.toContain('calendar_window(');
    expect(text).not.toContain('Append');
  }
});

describe('for all zones, instants and widths', () => {
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'America/Havana',
    'America/St_Johns',
    'America/Sao_Paulo',
    'America/Nuuk',
    'Asia/Beirut',
    'Asia/Amman',
    'Africa/Cairo',
    'Africa/Casablanca',
    'Atlantic/Azores',
    'Australia/Lord_Howe',
    'Antarctica/Troll',
    'Pacific/Apia',
    'Pacific/Kwajalein',
    'America/Juneau',
    'Asia/Kathmandu',
    'UTC',
  ];
  const widths: Width[] = [
    { us: hour / 2 },
    { us: hour },
    { us: 2 * hour },
    { us: 5 * hour },
    { us: 23 * hour },
    { us: day },
    { us: 3 * day },
    { us: 7 * day },
    { months: 1 },
    { months: 3 },
    { months: 7 },
    { months: 12 },
  ];
  const calendars = fc.record({
    width: fc.constantFrom(...widths),
    time_zone: fc.constantFrom(...zones),
    origin: fc.constantFrom(undefined, '2014-03-05', '2000-01-31 01:30', '2030-06-15 12:00'),
    offset_us: fc.constantFrom(0, hour / 4, -hour / 2, 2 * hour, -5 * hour, day + 17_000_000),
    sessionZone: fc.constantFrom(...sessionZones),
    // half of the days are those on which a clock is likely to change
    day: fc.oneof(
      fc.integer({ min: -43_800, max: 36_500 }),
      fc.constantFrom(
        ...[20_541, 20_542, 20_751, 20_758, 15_337, 8_633, -93, 18_711, 17_839, 18_946, -37_330],
      ),
    ),
    us: fc.oneof(
      fc.integer({ min: 0, max: day - 1 }),
      fc.integer({ min: 0, max: 95 }).map((n) => (n * hour) / 4),
    ),
  });

  it('windows hold their instants and tile the line, whatever the session time zone', async () => {
    await fc.assert(
      fc.asyncProperty(calendars, async ({ sessionZone, day: days, us, ...calendar }) => {
        const [row] = await query<Record<string, unknown>>(
          `select w.window_start <= e.t and e.t < w.window_end as holds,
             at_end.window_start = w.window_end as next_starts_at_end,
             (at_start.window_start, at_start.window_end, at_start.local_date)
               = (w.window_start, w.window_end, w.local_date) as start_is_inside,
             (last.window_start, last.window_end, last.local_date)
               = (w.window_start, w.window_end, w.local_date) as last_is_inside,
             before.window_end = w.window_start as previous_ends_at_start,
             array[${utc('w.window_start')}, ${utc('w.window_end')}, w.local_date::text] as w
           from (
             select ('1970-01-01'::timestamp + $1[1]::bigint * interval '1 day'
               + $1[2]::bigint * interval '1 microsecond') at time zone 'UTC' as t
           ) as e
           ${lateral('e.t')} as w
           ${lateral('w.window_start')} as at_start
           ${lateral('w.window_end')} as at_end
           ${lateral("w.window_end - interval '1 microsecond'")} as last
           ${lateral("w.window_start - interval '1 microsecond'")} as before`.replaceAll(
            '$1[',
            '($1::text[])[',
          ),
          values([String(days), String(us)], calendar),
          sessionZone,
        );
        const { w, ...properties } = row ?? {};
        expect(properties).toEqual({
          holds: true,
          next_starts_at_end: true,
          start_is_inside: true,
          last_is_inside: true,
          previous_ends_at_start: true,
        });
        const instant = new Date(days * 86_400_000 + Math.floor(us / 1000)).toISOString();
        const digits = String(us % 1000).padStart(3, '0');
        expect(await windowsOf([instant.replace('Z', `${digits}Z`)], calendar, 'Asia/Tokyo')).toEqual([w]);
      }),
      { numRuns: 400 },
    );
  });

  it('the shortcut agrees with the definition', async () => {
    await fc.assert(
      fc.asyncProperty(calendars, async ({ sessionZone, day: days, us, ...calendar }) => {
        const instant = new Date(days * 86_400_000 + Math.floor(us / 1000)).toISOString();
        const [row] = await query<{ b: string[] }>(
          `select array[
             to_char(b[1], 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), to_char(b[2], 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), b[3]::date::text
           ] as b
           from unnest($1::timestamptz[]) as e (t)
           cross join lateral ${quoteName(schema)}.calendar_window_at_change(e.t, ${calendarArguments}) as b`,
          values([instant], calendar),
          sessionZone,
        );
        expect(await windowsOf([instant], calendar, sessionZone)).toEqual([row?.b]);
      }),
      { numRuns: 200 },
    );
  });
});
