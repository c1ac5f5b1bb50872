// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables are part of the file
import { describe, expect, it } from 'vitest';
import { durationOf } from '../../src/config/duration.ts';
import { parseSettings } from '../../src/config/read-settings.ts';
import type { RollupSettings, Settings } from '../../src/config/settings.ts';
import { designExample } from './design-example.ts';

function parse(
  change: (text: string) => string = (text) => text,
  env: Record<string, string> = {},
): Settings {
  return parseSettings(change(designExample), 'errata.yaml', env);
}

function rollup(from: string, to: string, env: Record<string, string> = {}): RollupSettings {
  expect(designExample).toContain(from);
  const [first] = parse((text) => text.replace(from, () => to), env).rollups;
  if (first === undefined) throw new Error('no rollup');
  return first;
}

const window = 'window: { calendar: 1 day, time_zone: Europe/Berlin }';
const watermark =
  'watermark: { strategy: bounded, delay: 10 minutes, idle_after: 5 minutes, max_future_skew: 1 hour }';
const seal = 'seal: { by: errata }';
const limits = {
  lockTimeout: durationOf(5_000_000n),
  statementTimeout: undefined,
  keep: durationOf(90n * 86_400_000_000n),
};

it('reads the example of DESIGN.md', () => {
  expect(parse()).toEqual({
    database: undefined,
    schema: 'errata',
    rollups: [
      {
        name: 'daily_orders',
        gold: { schema: 'gold', name: 'daily_orders' },
        bronze: {
          table: { schema: 'bronze', name: 'orders' },
          eventId: ['order_id'],
          identity: 'event_id',
          eventTime: 'ordered_at',
          ingestedAt: 'ingested_at',
          sourcePartition: 'kafka_partition',
          completeFrom: '2026-01-01',
        },
        window: { kind: 'calendar', count: 1, unit: 'day', timeZone: 'Europe/Berlin' },
        key: ['region'],
        measures: [
          { name: 'orders', expression: 'count(*)', position: { line: 16 } },
          { name: 'revenue', expression: 'sum(amount)', position: { line: 17 } },
        ],
        watermark: {
          strategy: 'bounded',
          delay: { microseconds: 600_000_000n, text: '10 minutes' },
          idleAfter: { microseconds: 300_000_000n, text: '5 minutes' },
          maxFutureSkew: { microseconds: 3_600_000_000n, text: '1 hour' },
          combine: 'min',
          hold: { microseconds: 0n, text: '0' },
        },
        allowedLateness: { microseconds: 86_400_000_000n, text: '24 hours' },
        seal: { by: 'errata', after: { microseconds: 0n, text: '0' } },
        publish: {
          policy: 'grace',
          reviewBeyond: { revenue: { absolute: '1000.00' } },
          horizon: { microseconds: 34_560_000_000_000n, text: '400 days' },
        },
        partials: false,
        schedule: { cron: '*/15 * * * *', timeZone: 'UTC' },
        limits,
        periods: { calendar: 'month', timeZone: 'Europe/Berlin' },
        position: { line: 4 },
      },
    ],
    periods: { calendar: 'month', timeZone: 'Europe/Berlin' },
    limits,
    file: 'errata.yaml',
  });
});

it('fills in the defaults', () => {
  const text = `
rollups:
  clicks:
    gold: g.clicks
    bronze: { table: b.clicks, unique_rows: true, event_time: t, ingested_at: i }
    window: { tumbling: 5 minutes }
    measures: { views: count(*) }
    watermark: { strategy: recorded }
    seal: { by: stream }
    publish: { policy: auto }
    schedule:
`;
  const zero = durationOf(0n);
  expect(parseSettings(text, 'e.yaml', {})).toEqual({
    database: undefined,
    schema: 'errata',
    rollups: [
      {
        name: 'clicks',
        gold: { schema: 'g', name: 'clicks' },
        bronze: {
          table: { schema: 'b', name: 'clicks' },
          eventId: [],
          identity: 'unique_rows',
          eventTime: 't',
          ingestedAt: 'i',
        },
        window: { kind: 'tumbling', size: { microseconds: 300_000_000n, text: '5 minutes' } },
        key: [],
        measures: [{ name: 'views', expression: 'count(*)', position: { line: 7 } }],
        watermark: {
          strategy: 'recorded',
          maxFutureSkew: durationOf(3_600_000_000n),
          combine: 'min',
          hold: zero,
        },
        allowedLateness: zero,
        seal: { by: 'stream', after: zero },
        publish: { policy: 'auto', reviewBeyond: {} },
        partials: false,
        limits,
        periods: { calendar: 'month', timeZone: 'UTC' },
        position: { line: 3 },
      },
    ],
    periods: { calendar: 'month', timeZone: 'UTC' },
    limits,
    file: 'e.yaml',
  });
});

describe('every form of a section', () => {
  it.each([
    ['{ tumbling: 5 minutes, origin: 2026-01-01, offset: 1 m }', { kind: 'tumbling', origin: '2026-01-01' }],
    ['{ hopping: 1 hour, every: 5 minutes }', { kind: 'hopping', every: { microseconds: 300_000_000n } }],
    ['{ hopping: 5 s, every: 8 s }', { kind: 'hopping', size: { microseconds: 5_000_000n } }],
    ['{ session_gap: 30 minutes }', { kind: 'session', gap: { microseconds: 1_800_000_000n } }],
    [
      '{ calendar: 3 months, time_zone: UTC, origin: 2026-02-01T06:00 }',
      { kind: 'calendar', count: 3, unit: 'month', origin: '2026-02-01T06:00' },
    ],
  ])('window %s', (text, expected) =>
    expect(rollup(window, `window: ${text}`).window).toMatchObject(expected),
  );

  it.each([
    ['event_id: [shop, no]', { identity: 'event_id', eventId: ['shop', 'no'] }],
    ['identified_by: [shop, no]', { identity: 'columns', eventId: ['shop', 'no'] }],
    ['identified_by: line', { identity: 'columns', eventId: ['line'] }],
    ['unique_rows: true', { identity: 'unique_rows', eventId: [] }],
    ['event_id: 0017', { identity: 'event_id', eventId: ['0017'] }],
  ])('identity %s', (text, expected) =>
    expect(rollup('event_id: order_id', text).bronze).toMatchObject(expected),
  );

  it.each([
    ['{ strategy: fixed_delay, delay: PT10M, combine: own }', { strategy: 'fixed_delay', combine: 'own' }],
    ['{ strategy: bounded, delay: 0, max_future_skew: none }', { maxFutureSkew: undefined }],
    [
      '{ strategy: recorded, log: s.log, hold: 1 m }',
      {
        log: {
          table: { schema: 's', name: 'log' },
          at: 'at',
          sourcePartition: 'source_partition',
          watermark: 'watermark',
          idle: 'idle',
        },
      },
    ],
    [
      '{ strategy: recorded, log: { table: s.log, at: t, source_partition: p, watermark: w, idle: i } }',
      {
        log: {
          table: { schema: 's', name: 'log' },
          at: 't',
          sourcePartition: 'p',
          watermark: 'w',
          idle: 'i',
        },
      },
    ],
    [
      '{ strategy: fixed_delay, delay: { column: slack, default: 2 s }, overrides: { table: a.b, by: { region: r }, allowed_lateness: l } }',
      {
        delay: { microseconds: 2_000_000n, text: '2 s' },
        delayColumn: 'slack',
        overrides: {
          table: { schema: 'a', name: 'b' },
          by: [{ name: 'region', column: 'r' }],
          allowedLateness: 'l',
        },
      },
    ],
  ])('watermark %s', (text, expected) => {
    expect(rollup(watermark, `watermark: ${text}`).watermark).toMatchObject(expected);
  });

  it('external, with a seal from a table', () => {
    const text = designExample
      .replace(watermark, 'watermark: { strategy: external, refused: s.refused }')
      .replace(seal, 'seal: { from: a."b.c", after: 15 minutes }');
    const [first] = parseSettings(text, 'errata.yaml', {}).rollups;
    expect(first?.watermark.refused).toEqual({
      table: { schema: 's', name: 'refused' },
      eventId: ['order_id'],
    });
    expect(first?.seal).toEqual({
      by: 'table',
      table: { schema: 'a', name: 'b.c' },
      after: { microseconds: 900_000_000n, text: '15 minutes' },
    });
  });

  it('the log, with a counter of drops, which a table of the stream only has where it is named', () => {
    const log = (text: string) =>
      rollup(watermark, `watermark: { strategy: recorded, log: ${text} }`).watermark.log;
    expect(log('s.l')?.dropped).toBe(undefined);
    expect(log('{ table: s.l, dropped: late_records }')?.dropped).toBe('late_records');
  });

  it('refused rows, each column by its name', () => {
    const text = designExample
      .replace(
        watermark,
        'watermark: { strategy: external, refused: { table: s.r, event_id: id, event_time: t, window_start: ws, window_end: we, watermark: wm, refused_at: at } }',
      )
      .replace(seal, 'seal: { by: stream }');
    expect(parseSettings(text, 'errata.yaml', {}).rollups[0]?.watermark.refused).toEqual({
      table: { schema: 's', name: 'r' },
      eventId: ['id'],
      eventTime: 't',
      windowStart: 'ws',
      windowEnd: 'we',
      watermark: 'wm',
      refusedAt: 'at',
    });
  });

  it('measures with a tolerance', () => {
    const text =
      'revenue: { value: "sum(amount) filter (where x = $$a(b$$)", tolerance: 0.010, additive: true }';
    expect(rollup('revenue: sum(amount)', text).measures[1]).toEqual({
      name: 'revenue',
      expression: 'sum(amount) filter (where x = $$a(b$$)',
      tolerance: '0.010',
      additive: true,
      position: { line: 17 },
    });
  });

  it('thresholds stay as written, and have no inherited members', () => {
    const { reviewBeyond } = rollup('revenue: 1000.00', 'revenue: 12345678901234567890.10').publish;
    expect(reviewBeyond.revenue).toEqual({ absolute: '12345678901234567890.10' });
    expect(reviewBeyond.constructor).toBeUndefined();
    for (const [text, threshold] of [
      ['2.50 %', { relative: '2.50' }],
      ['{ absolute: 7, relative: 0.5% }', { absolute: '7', relative: '0.5' }],
    ] as const)
      expect(rollup('revenue: 1000.00', `revenue: ${text}`).publish.reviewBeyond.revenue).toEqual(threshold);
    expect(rollup('400 days', '400 days, restate: forbidden').publish.restate).toBe('forbidden');
    expect(rollup('400 days', '400 days, restate: allowed').publish.restate).toBeUndefined();
  });
});

describe('names', () => {
  it('are literal and case-sensitive', () => {
    const { bronze } = rollup('table: bronze.orders', `table: 'Bronze."Or""d.ers"'`);
    expect(bronze.table).toEqual({ schema: 'Bronze', name: 'Or"d.ers' });
    expect(rollup('key: [region]', `key: ["a.b", 'Sel"ect', 2026, "tr\\u00fce", "x'; --"]`).key).toEqual([
      'a.b',
      'Sel"ect',
      '2026',
      'trüe',
      "x'; --",
    ]);
  });

  it('may be those of an object in JavaScript', () => {
    const measures = rollup('orders: count(*)', 'constructor: count(*)\n      tostring: count(*)').measures;
    expect(measures.map(({ name }) => name)).toEqual(['constructor', 'tostring', 'revenue']);
  });
});

describe('the environment', () => {
  it('fills in the database, or leaves it out', () => {
    const url = 'postgres://u:p@h/d';
    expect(parse(undefined, { DATABASE_URL: url }).database).toBe(url);
    expect(parse(undefined, { DATABASE_URL: '' }).database).toBeUndefined();
    const leftOut = (text: string) => text.replace(/^database.*\n/, '');
    expect(parse(leftOut, { DATABASE_URL: url }).database).toBe(url);
    expect(parse(leftOut).database).toBeUndefined();
    const other = (text: string) => text.replace('${DATABASE_URL}', '${OTHER:-postgresql:///d}');
    expect(parse(other, { DATABASE_URL: url }).database).toBe('postgresql:///d');
  });

  it('fills in any text, as if it stood there', () => {
    const env = { DELAY: '7 days', POLICY: 'auto', UNIQUE: 'true' };
    expect(rollup('delay: 10 minutes', 'delay: "${DELAY}"', env).watermark.delay?.text).toBe('7 days');
    expect(rollup('policy: grace', 'policy: "${POLICY}"', env).publish.policy).toBe('auto');
    expect(rollup('event_id: order_id', 'unique_rows: ${UNIQUE}', env).bronze.identity).toBe('unique_rows');
    expect(rollup('count(*)', "count('$${x}')").measures[0]?.expression).toBe("count('${x}')");
  });

  it('never expands names', () => {
    const measures = rollup('orders: count(*)', 'constructor: count(*)', {}).measures;
    expect(measures[0]?.name).toBe('constructor');
  });
});

describe('periods', () => {
  it('follow the zone of the calendar windows where they are left out', () => {
    expect(parse((text) => text.replace(/^periods.*\n/m, '')).periods).toEqual({
      calendar: 'month',
      timeZone: 'Europe/Berlin',
    });
  });

  it('are months, or a table of your own', () => {
    const own = (text: string) => parse((file) => file.replace(/^periods.*$/m, `periods: ${text}`)).periods;
    expect(own('{ table: finance.periods, period: name }')).toEqual({
      calendar: 'table',
      timeZone: 'Europe/Berlin',
      table: { schema: 'finance', name: 'periods' },
      period: 'name',
      start: 'starts_at',
      end: 'ends_at',
    });
  });
});

it('takes aliases', () => {
  const text = designExample
    .replace('delay: 10 minutes', 'delay: &delay 10 minutes')
    .replace('allowed_lateness: 24 hours', 'allowed_lateness: *delay');
  expect(parseSettings(text, 'errata.yaml', {}).rollups[0]?.allowedLateness.text).toBe('10 minutes');
});

it('a run waits for a lock, and works at a statement, as long as the section run says', () => {
  const parsed = parse((text) => `${text}\nrun: { lock_timeout: 0, statement_timeout: 90 minutes }\n`);
  expect(parsed.limits.lockTimeout.microseconds).toBe(0n);
  expect(parsed.rollups[0]?.limits.statementTimeout?.microseconds).toBe(5_400_000_000n);
  expect(() => parse((text) => `${text}\nrun: { statement_timeout: 0, lock_time: 1 second }\n`)).toThrow(
    expect.objectContaining({
      detail: expect.stringMatching(/run\.statement_timeout: .* has no length[\s\S]*run\.lock_time/),
    }),
  );
});

it('runs that changed nothing stay as long as the section run says, at least a day', () => {
  const keep = (text: string) => parse((whole) => `${whole}\nrun: { keep: ${text} }\n`).limits.keep.text;
  expect(parse((text) => text).limits.keep.microseconds).toBe(90n * 86_400_000_000n);
  expect(keep('400 days')).toBe('400 days');
  expect(keep('24 hours')).toBe('24 hours');
  expect(() => keep('23 hours')).toThrow(
    expect.objectContaining({
      detail: expect.stringContaining('run.keep: "23 hours" is shorter than a day; write at least 1 day'),
    }),
  );
});

it('thresholds: those of the file hold for a rollup, alert by alert, unless it has its own', () => {
  const text = (alerts: string, own: string) => `
rollups:
  clicks:
    gold: g.clicks
    bronze: { table: b.clicks, unique_rows: true, event_time: t, ingested_at: i }
    window: { tumbling: 5 minutes }
    measures: { views: count(*) }
    watermark: { strategy: recorded }
    seal: { by: stream }
    publish: { policy: auto }
${own}${alerts}`;
  const alertsOf = (alerts: string, own = '') =>
    parseSettings(text(alerts, own), 'e.yaml', {}).rollups[0]?.alerts;
  expect(alertsOf('')).toBe(undefined);
  const file = 'alerts: { stale: { warn: 1 hour, error: 6 hours }, lateness: { warn: 0.5% } }\n';
  const stale = { warn: { value: 3600, text: '1 hour' }, error: { value: 21_600, text: '6 hours' } };
  expect(alertsOf(file)).toEqual({ stale, lateness: { warn: { value: 0.005, text: '0.5%' } } });
  expect(alertsOf(file, '    alerts: { lateness: { error: 2% }, unexplained: { warn: 0 } }\n')).toEqual({
    stale,
    lateness: { error: { value: 0.02, text: '2%' } },
    unexplained: { warn: { value: 0, text: '0' } },
  });
});
