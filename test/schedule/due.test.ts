/** Which moments a schedule is due at, against a walk through every minute by PostgreSQL's own time zone arithmetic. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { controlOf } from '../../src/db/control.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { momentsOf } from '../../src/schedule/due.ts';
import { openTestDatabase } from '../support/database.ts';

const { pool } = await openTestDatabase();
const control = controlOf(pool, 'errata');

/** All moments after one instant up to and with another, one by one, as `YYYY-MM-DD HH:MM` in UTC. */
async function due(cron: string, timeZone: string, after: string, until: string): Promise<string[]> {
  return await inTransaction(control, 'read committed', async (transaction) => {
    const found: string[] = [];
    for (let from = after; ; ) {
      const moments = await momentsOf(transaction, { cron, timeZone }, from, until);
      if (moments === null) return found;
      found.push(moments.firstDueAt.slice(0, 16));
      from = moments.firstDueAt;
    }
  });
}

describe('by hand', () => {
  test.each([
    // Berlin goes forward on 29 March at 01:00 UTC, from 02:00 to 03:00
    [
      '30 2 * * *',
      'Europe/Berlin',
      '03-28 00:00',
      '03-31 00:00',
      ['03-28 01:30', '03-29 01:00', '03-30 00:30'],
    ],
    ['*/15 2 * * *', 'Europe/Berlin', '03-29 00:00', '03-29 23:00', ['03-29 01:00']],
    ['15,45 1-3 * * *', 'Europe/Berlin', '03-29 00:30', '03-29 02:00', ['00:45', '01:00', '01:15', '01:45']],
    ['*/30 * * * *', 'Europe/Berlin', '03-29 00:00', '03-29 02:00', ['00:30', '01:00', '01:30', '02:00']],
    // and back on 25 October at 01:00 UTC, from 03:00 to 02:00
    [
      '30 2 * * *',
      'Europe/Berlin',
      '10-24 00:00',
      '10-27 00:00',
      ['10-24 00:30', '10-25 00:30', '10-26 01:30'],
    ],
    ['*/30 * * * *', 'Europe/Berlin', '10-25 00:00', '10-25 02:00', ['00:30', '01:00', '01:30', '02:00']],
    ['0 */2 * * *', 'Europe/Berlin', '10-24 21:00', '10-25 06:00', ['22:00', '00:00', '03:00', '05:00']],
    // half an hour: from 02:00 to 02:30, and back to 01:30
    ['15 2 * * *', 'Australia/Lord_Howe', '10-03 00:00', '10-04 00:00', ['10-03 15:30']],
    ['45 1 * * *', 'Australia/Lord_Howe', '04-04 00:00', '04-05 00:00', ['04-04 14:45']],
    // in Cairo and Santiago midnight is skipped
    ['0 0 * * *', 'Africa/Cairo', '04-23 00:00', '04-25 00:00', ['04-23 22:00', '04-24 21:00']],
    [
      '0 0 * * *',
      'America/Santiago',
      '09-05 00:00',
      '09-08 00:00',
      ['09-05 04:00', '09-06 04:00', '09-07 03:00'],
    ],
    // the 13th, and each Friday: as in every crontab one of the two is enough
    ['0 12 13 * FRI', 'UTC', '11-10 00:00', '11-21 00:00', ['11-13 12:00', '11-20 12:00']],
    ['0 12 12 * FRI', 'UTC', '11-10 00:00', '11-14 00:00', ['11-12 12:00', '11-13 12:00']],
    ['0 12 * * 7', 'UTC', '11-10 00:00', '11-17 00:00', ['11-15 12:00']],
  ])('%s in %s after %s until %s', async (cron, zone, after, until, expected) => {
    const found = await due(cron, zone, `2026-${after}Z`, `2026-${until}Z`);
    const length = expected[0]?.length ?? 0;
    expect(found.map((moment) => moment.slice(-length))).toEqual(expected);
  });

  test('a whole day that never was: what was due on it is due when the next day begins', async () => {
    expect(await due('30 2 * * *', 'Pacific/Apia', '2011-12-28 23:00Z', '2012-01-01 00:00Z')).toEqual([
      '2011-12-29 12:30',
      '2011-12-30 10:00',
      '2011-12-30 12:30',
      '2011-12-31 12:30',
    ]);
  });
});

describe('against a walk through every minute', () => {
  const stretches = [
    ['Europe/Berlin', '2026-03-28', '2026-03-31'],
    ['Europe/Berlin', '2026-10-24', '2026-10-27'],
    ['America/New_York', '2026-03-07', '2026-03-10'],
    ['America/New_York', '2026-10-31', '2026-11-03'],
    ['Australia/Lord_Howe', '2026-04-03', '2026-04-06'],
    ['Australia/Lord_Howe', '2026-10-02', '2026-10-05'],
    ['Africa/Cairo', '2026-04-22', '2026-04-25'],
    ['Africa/Cairo', '2026-10-28', '2026-10-31'],
    ['America/Santiago', '2026-09-05', '2026-09-08'],
    ['America/Santiago', '2026-04-03', '2026-04-06'],
    ['Pacific/Apia', '2011-12-28', '2012-01-01'],
  ] as const;
  /** Each minute of a stretch and the wall clock in it, from a day before, so that what is skipped or repeated shows. */
  const walks: { at: string; wall: string }[][] = [];
  beforeAll(async () => {
    for (const [zone, from, until] of stretches) {
      const { rows } = await pool.query(
        `select to_char(m at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as at, to_char(m at time zone $1, 'YYYY-MM-DD HH24:MI') as wall
         from generate_series($2::timestamptz, $3::timestamptz, interval '1 minute') as m order by m`,
        [zone, `${from} 00:00Z`, `${until} 00:00Z`],
      );
      walks.push(rows);
    }
  });

  const minute = 60_000;
  const asUtc = (wall: string) => Date.parse(`${wall.replace(' ', 'T')}Z`);

  /** A field as numbers, reckoned here and not by the library that the product asks. */
  function numbers(field: string, least: number, most: number): Set<number> {
    const found = new Set<number>();
    for (const part of field.split(',')) {
      const [range = '', step = '1'] = part.split('/');
      const [from, to = from] = range === '*' ? [least, most] : range.split('-').map(Number);
      for (let n = from as number; n <= (to as number); n += Number(step)) found.add(n);
    }
    return found;
  }

  function walk(cron: string, steps: readonly { at: string; wall: string }[]): string[] {
    const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = cron.split(' ');
    const [inMinute, inHour, inDay, inMonth, inWeekday] = [
      numbers(minutes, 0, 59),
      numbers(hours, 0, 23),
      numbers(days, 1, 31),
      numbers(months, 1, 12),
      numbers(weekdays, 0, 6),
    ];
    const everyHour = inHour.size === 24;
    const fires = (wall: number) => {
      const date = new Date(wall);
      const [day, weekday] = [inDay.has(date.getUTCDate()), inWeekday.has(date.getUTCDay())];
      const onDay = days !== '*' && weekdays !== '*' ? day || weekday : day && weekday;
      return (
        onDay &&
        inMonth.has(date.getUTCMonth() + 1) &&
        inHour.has(date.getUTCHours()) &&
        inMinute.has(date.getUTCMinutes())
      );
    };
    const found: string[] = [];
    let latest = asUtc(steps[0]?.wall as string);
    for (const { at, wall } of steps.slice(1)) {
      const shown = asUtc(wall);
      let isDue = everyHour ? fires(shown) : shown > latest && fires(shown);
      if (!everyHour)
        for (let skipped = latest + minute; skipped < shown; skipped += minute) isDue ||= fires(skipped);
      if (isDue) found.push(at);
      latest = Math.max(latest, shown);
    }
    return found;
  }

  const list = (least: number, most: number, longest: number) =>
    fc
      .uniqueArray(fc.integer({ min: least, max: most }), { minLength: 1, maxLength: longest })
      .map((values) => values.join(','));
  const step = (...steps: number[]) => fc.constantFrom(...steps.map((n) => `*/${n}`));
  const crons = fc
    .tuple(
      fc.oneof(list(0, 59, 3), step(7, 15, 20, 30), fc.constant('*/10')),
      fc.oneof(fc.constant('*'), list(0, 3, 3), list(0, 23, 3), fc.constant('1-3'), step(2, 3)),
      fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, list(1, 31, 12)),
      fc.constant('*'),
      fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, list(0, 6, 3)),
    )
    .map((fields) => fields.join(' '));

  test('every schedule is due at the same moments, over every change of clock', async () => {
    await fc.assert(
      fc.asyncProperty(crons, fc.nat(stretches.length - 1), async (cron, place) => {
        const [zone] = stretches[place] as (typeof stretches)[number];
        const steps = walks[place] as { at: string; wall: string }[];
        const [first, last] = [steps[0]?.at, steps.at(-1)?.at];
        const expected = walk(cron, steps);
        const moments = await inTransaction(control, 'read committed', (transaction) =>
          momentsOf(transaction, { cron, timeZone: zone }, `${first}Z`, `${last}Z`),
        );
        expect(moments === null ? 0 : Number(moments.missed) + 1).toBe(expected.length);
        // one by one near the change, where it matters
        const middle = steps.slice(Math.floor(steps.length / 4), Math.ceil((steps.length * 3) / 4));
        const near = expected.filter((at) => at > (middle[0]?.at ?? '') && at <= (middle.at(-1)?.at ?? ''));
        if (near.length <= 30)
          expect(await due(cron, zone, `${middle[0]?.at}Z`, `${middle.at(-1)?.at}Z`)).toEqual(near);
        else {
          expect(moments?.firstDueAt.slice(0, 16)).toBe(expected[0]);
          expect(moments?.lastDueAt.slice(0, 16)).toBe(expected.at(-1));
        }
      }),
      { numRuns: Number(process.env.ERRATA_SCHEDULES ?? 60) },
    );
  });

  test('each of the zones changes its clock in its stretch', () => {
    for (const steps of walks) {
      const shown = asUtc(steps.at(-1)?.wall as string) - asUtc(steps[0]?.wall as string);
      expect(shown).not.toBe((steps.length - 1) * minute);
    }
  });
});
