import { describe, expect, it } from 'vitest';
import { readCalendarWidth } from '../../src/config/calendar-width.ts';
import { cronFields, readCron } from '../../src/config/cron.ts';
import { readDecimal } from '../../src/config/decimal.ts';
import { didYouMean } from '../../src/config/did-you-mean.ts';
import { readInstant, readLocalTime } from '../../src/config/instant.ts';
import { readTimeZone } from '../../src/config/time-zone.ts';

describe('readDecimal', () => {
  it.each(['0', '1000.00', '12345678901234567890.123456789', '007'])('keeps %s as written', (text) => {
    expect(readDecimal(text)).toEqual({ value: text });
  });
  const plain = 'is not a plain decimal; write digits and at most one point, such as 1000.00';
  it.each([
    ['5%', 'is relative; write an amount, such as 1000.00'],
    ['-1', 'is negative; write an amount of 0 or more, such as 1000.00'],
    ['1e3', plain],
    ['0x10', plain],
    ['1_000', plain],
    ['1,000.00', plain],
    ['.inf', plain],
    ['NaN', plain],
    ['', plain],
  ])('refuses %j', (text, wrong) => expect(readDecimal(text)).toEqual({ wrong }));
});

describe('readTimeZone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Kathmandu', 'Japan'])(
    '%s',
    (text) => {
      expect(readTimeZone(text)).toEqual({ value: text });
    },
  );
  const offset = 'is an offset, not a time zone; write a named one, such as Europe/Berlin or UTC';
  const short = 'is an abbreviation, not a time zone; write a named one, such as Europe/Berlin or UTC';
  const unknown = 'is not a time zone; write a named one, such as Europe/Berlin or UTC';
  it.each([
    ['+01:00', offset],
    ['UTC+1', offset],
    ['GMT-5', offset],
    ['CET', short],
    ['EST5EDT', short],
    ['Z', short],
    ['Europe/Berln', unknown],
    ['', unknown],
    ["UTC'; --", unknown],
  ])('refuses %j', (text, wrong) => expect(readTimeZone(text)).toEqual({ wrong }));
});

describe('readInstant and readLocalTime', () => {
  it.each(['2026-01-01', '2026-01-01T00:00:00Z', '2026-01-01 06:00+01', '2028-02-29T23:59:59.999999+05:45'])(
    'instant %s',
    (text) => expect(readInstant(text)).toEqual({ value: text }),
  );
  it.each(['2026-01-01', '2026-01-01T06:00', '2026-01-01 06:00:00.5'])('local %s', (text) =>
    expect(readLocalTime(text)).toEqual({ value: text }),
  );
  const wrong = 'is not a date or an instant; write it as 2026-01-01 or 2026-01-01T00:00:00Z';
  it.each([
    ['2026-02-29', wrong],
    ['2026-13-01', wrong],
    ['0000-01-01', wrong],
    ['2026-01-01T24:00Z', wrong],
    ['2026-01-01T00:00:00+16', wrong],
    ['2026-01-01T00:00:00.1234567Z', wrong],
    ['01.02.2026', wrong],
    [
      '2026-01-01T00:00:00',
      'has no offset, so it is not one instant; write it as 2026-01-01T00:00:00Z or +01:00',
    ],
  ])('no instant: %s', (text, expected) => expect(readInstant(text)).toEqual({ wrong: expected }));
  it.each([
    [
      '2026-01-01T06:00Z',
      'has an offset, but stands for the local clock of the time zone; write it as 2026-01-01T06:00',
    ],
    ['6:00', 'is not a local date or time; write it as 2026-01-01 or 2026-01-01T06:00'],
  ])('no local time: %s', (text, expected) => expect(readLocalTime(text)).toEqual({ wrong: expected }));
});

describe('readCalendarWidth', () => {
  it('reads a count and a unit', () => {
    expect(readCalendarWidth('1 day')).toEqual({ value: { count: 1, unit: 'day' } });
    expect(readCalendarWidth('3 months')).toEqual({ value: { count: 3, unit: 'month' } });
    expect(readCalendarWidth('1 quarter')).toEqual({ value: { count: 1, unit: 'quarter' } });
  });
  const width =
    'is not the width of a calendar window; write a count and a unit, such as 1 day, 1 week or 3 months';
  it.each([
    ['day', width],
    ['1 day 2 hours', width],
    ['1.5 days', width],
    ['5 minutes', 'does not follow the calendar; write it as tumbling'],
    [
      '0 days',
      'is not between 1 and 10000 units; write a count and a unit, such as 1 day, 1 week or 3 months',
    ],
  ])('refuses %j', (text, wrong) => expect(readCalendarWidth(text)).toEqual({ wrong }));
});

it('readCron wants five fields', () => {
  expect(readCron('*/15 0-6,12 * jan MON-FRI')).toHaveProperty('value');
  for (const text of ['', '* * * *', '0 * * * * *', '@daily', '* * * * ;']) {
    expect(readCron(text)).toEqual({
      wrong:
        'is not a cron expression of five fields; write one, such as "*/15 * * * *" for each quarter of an hour',
    });
  }
  const never = (what: string) =>
    `has a ${what} that never comes or cannot be read; write one, such as "*/15 * * * *" for each quarter of an hour`;
  expect(readCron('60 2 * * *')).toEqual({ wrong: never('minute') });
  expect(readCron('0 0 31 2 *')).toEqual({ wrong: never('day of the month') });
  expect(readCron('0 0 * * 8')).toEqual({ wrong: never('day of the week') });
});

it('cronFields: Sunday is 0, and two restricted days are alternatives', () => {
  expect(cronFields('5,35 2-3 1 jan 7')).toEqual({
    minutes: [5, 35],
    hours: [2, 3],
    days: [1],
    months: [1],
    weekdays: [0],
    eitherDay: true,
    everyHour: false,
  });
  expect(cronFields('*/15 * * * MON-FRI')).toMatchObject({ eitherDay: false, everyHour: true });
  expect(cronFields('0 0-23 */2 * MON')).toMatchObject({ eitherDay: false, everyHour: true });
});

it('didYouMean knows slips, and keeps silent about strangers', () => {
  const known = ['event_id', 'event_time', 'ingested_at', 'key'];
  expect(didYouMean('evnet_time', known)).toBe('event_time');
  expect(didYouMean('eventTime', known)).toBe('event_time');
  expect(didYouMean('ingested-at', known)).toBe('ingested_at');
  expect(didYouMean('keys', known)).toBe('key');
  expect(didYouMean('colour', known)).toBeUndefined();
});
