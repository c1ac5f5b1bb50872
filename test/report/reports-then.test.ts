/** Reports of a mark or an instant say what they said when it was made (R11), whatever runs and people did since. */
import { beforeAll, describe, expect, test } from 'vitest';
import { events } from '../../src/commands/events.ts';
import { explain } from '../../src/commands/explain.ts';
import { lateness } from '../../src/commands/lateness.ts';
import { review } from '../../src/commands/review.ts';
import { approveProposals, rejectProposals } from '../../src/publication/decide.ts';
import { makeMark } from '../../src/publication/marks.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { waiveEvents } from '../../src/publication/waive.ts';
import { markAnother, type Orders, openOrders } from '../support/orders.ts';
import { call, settingsOf } from './verb-context.ts';

const word = { actor: 'ada', reason: 'seen' };
const marks = ['sealed', 'waiting', 'decided', 'settled'] as const;
type Mark = (typeof marks)[number];

interface Said {
  readonly text: string;
  readonly data: object;
}
const reports = {
  events: async (flags: object) => await call(events, orders, ['daily_orders'], flags),
  review: async (flags: object) => await call(review, orders, ['daily_orders'], flags),
  keys: async (flags: object) => await call(explain, orders, ['daily_orders', '2026-10-30'], flags),
  'explain 10-29 EU': (flags: object) => told('2026-10-29', 'EU', flags),
  'explain 10-29 US': (flags: object) => told('2026-10-29', 'US', flags),
  'explain 10-30 EU': (flags: object) => told('2026-10-30', 'EU', flags),
  'explain 10-30 US': (flags: object) => told('2026-10-30', 'US', flags),
};
const told = async (window: string, key: string, flags: object) =>
  await call(explain, orders, ['daily_orders', window, key], flags);
let orders: Orders;
const said: Record<string, Said> = {};

/** Asks each report, and then makes the mark. */
async function mark(name: Mark): Promise<void> {
  for (const [report, ask] of Object.entries(reports)) {
    const { text, data } = await ask({});
    said[`${report} ${name}`] = { text, data: data as object };
  }
  await makeMark(orders.control, settingsOf(orders), name, 'ada');
}

/**
 * Two days of two regions. By "waiting" two refused rows are pending, and two late firings beyond the threshold proposed; by
 * "decided" one of each is published; by "settled" the others are waived and rejected, and a further row is proposed.
 */
beforeAll(async () => {
  orders = await openOrders({ policy: 'grace', publish: 'review_beyond: { revenue: 100.00 }' });
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 10',
    'b 10-29 10:00 10-29 10:02 US 20',
    'c 10-30 10:00 10-30 10:01 EU 30',
    'd 10-30 10:00 10-30 10:02 US 40',
    'w1 10-31 01:30 10-31 01:30 EU 1',
  );
  await orders.run({ bound: '2026-10-31T01:45Z' });
  await mark('sealed');
  await orders.land(
    'refused1 10-29 11:00 10-31 02:00 EU 5',
    'refused2 10-29 11:00 10-31 02:01 US 7',
    'firing1 10-30 11:00 10-31 02:02 EU 500',
    'firing2 10-30 11:00 10-31 02:03 US 700',
    'little 10-30 12:00 10-31 02:04 US 2',
    'ahead 11-20 10:00 10-31 02:05 EU 1',
    'nowhen - - 10-31 02:06 EU 1',
    'a 10-29 10:00 10-31 02:07 EU 11',
  );
  await orders.run({ bound: '2026-10-31T03:00Z' });
  await mark('waiting');
  const bound = { bound: '2026-10-31T03:00Z' };
  await releaseEvents(orders.control, orders.rollup, { ...word, eventIds: ['refused1'] }, bound);
  await approveProposals(orders.control, orders.rollup, { ...word, key: { region: 'EU' } }, bound);
  await mark('decided');
  await waiveEvents(orders.control, orders.rollup, { ...word, eventIds: ['refused2'] }, bound);
  await rejectProposals(orders.control, orders.rollup, { ...word, key: { region: 'US' } }, bound);
  await orders.land('firing3 10-30 13:00 10-31 03:10 EU 900', 'refused3 10-29 12:00 10-31 03:11 EU 3');
  await orders.run({ bound: '2026-10-31T04:00Z' });
  await mark('settled');
  await orders.land(
    'x 10-29 13:00 10-31 04:10 US 9',
    'z 10-30 13:00 10-31 04:11 ZZ 9',
    'w2 11-03 10:00 11-03 10:00 EU 1',
  );
  await orders.run({ bound: '2026-11-03T11:00Z' });
}, 60_000);

/** `event state version` of each. */
const statesOf = (data: unknown) =>
  (data as { events: { event_id: string; state: string | null; version: number | null }[] }).events.map(
    ({ event_id: id, state, version }) => [id, state, version].filter((part) => part !== null).join(' '),
  );

describe('errata events', () => {
  test('the story is told: each mark has other states', () => {
    const unplaced = ['ahead', 'nowhen', 'a'];
    expect(marks.map((name) => statesOf(said[`events ${name}`]?.data))).toEqual([
      [],
      [
        'refused1 pending',
        'refused2 pending',
        'firing1 pending',
        'firing2 pending',
        'little pending',
        ...unplaced,
      ],
      [
        'refused1 included 2',
        'refused2 pending',
        'firing1 included 2',
        'firing2 pending',
        'little pending',
        ...unplaced,
      ],
      [
        'refused1 included 2',
        'refused2 waived',
        'firing1 included 2',
        'firing2 waived',
        'little waived',
        ...unplaced,
        'firing3 pending',
        'refused3 pending',
      ],
    ]);
  });

  test.each(marks)('%s: what it said', async (name) => {
    const before = said[`events ${name}`] as Said;
    const { text, data } = await reports.events({ mark: name });
    expect(data).toEqual({ ...before.data, known_at: { mark: name, at: expect.any(String) } });
    const [head, ...lines] = text.split('\n');
    expect(head).toMatch(new RegExp(`^daily_orders as known at 20.*Z \\(${name}\\):$`));
    expect(lines.join('\n')).toBe(before.text);
  });

  test('an instant is the mark of that instant; the other options hold', async () => {
    const [made] = await orders.rows<{ at: string }>(
      `select stamp::text as at from errata.mark where name = 'waiting'`,
    );
    const { data } = await reports.events({ at: made?.at, landing: ['side_output'], limit: '1' });
    expect(statesOf(data)).toEqual(['refused1 pending']);
    expect(data).toMatchObject({ known_at: { mark: null, at: made?.at }, hasMore: true });
  });
});

interface Reviewed {
  readonly rollups: readonly [
    {
      readonly known_at: { readonly at: string } | null;
      readonly open: string;
      readonly proposals: readonly Proposed[];
    },
  ];
}
interface Proposed {
  readonly key: { readonly region: string };
  readonly measures: { readonly revenue: readonly [string, string] };
  readonly proposed_at: string;
  readonly age_seconds: string;
}

describe('errata review', () => {
  const proposedBy = (data: unknown) => (data as Reviewed).rollups[0].proposals;

  test('the story is told: two proposals, one, and another that came later', () => {
    const lines = marks.map((name) =>
      proposedBy(said[`review ${name}`]?.data).map(({ key, measures }) =>
        [key.region, ...measures.revenue].join(' '),
      ),
    );
    expect(lines).toEqual([
      [],
      ['EU 30.00 530.00', 'US 40.00 742.00'],
      ['US 40.00 742.00'],
      ['EU 530.00 1430.00'],
    ]);
  });

  test.each(marks)('%s: what it said', async (name) => {
    const before = said[`review ${name}`] as Said;
    const { text, data, exitCode } = await reports.review({ mark: name });
    const { open, proposals } = (before.data as Reviewed).rollups[0];
    expect(data).toEqual({
      rollups: [
        {
          rollup: 'daily_orders',
          known_at: { mark: name, at: expect.any(String) },
          open,
          proposals: proposals.map((one) => ({ ...one, age_seconds: expect.any(String) })),
        },
      ],
    });
    const [{ known_at: known }] = (data as Reviewed).rollups;
    for (const { age_seconds: age, proposed_at: from } of proposedBy(data))
      expect(Number(age)).toBeCloseTo((Date.parse(known?.at ?? '') - Date.parse(from)) / 1000, 2);
    expect(exitCode).toBe(proposals.length > 0 ? 3 : 0);
    const told = before.text
      .replace(/^daily_orders: /, '')
      .replace(/awaits?/, 'awaited')
      .replace('nothing is', 'nothing was')
      .replace(/[^,]* ago:/, ' AGE before:')
      .replace(/\n +errata (approve|reject).*/g, '');
    expect(
      text.replace(/^daily_orders as known at 20.*Z \(.*\): /, '').replace(/[^,]* before:/, ' AGE before:'),
    ).toBe(told);
  });
});

describe('errata explain', () => {
  const ofNow = { copies: [], queue: [], so_far: null, check: [], bronze_error: null };
  const notOnRecord = {
    frontier: null,
    sealed_until: null,
    complete_from: null,
    is_open: null,
    is_incomplete: null,
  };
  const windows = ['10-29 EU', '10-29 US', '10-30 EU', '10-30 US'] as const;

  test.each(windows.flatMap((window) => marks.map((name) => [window, name] as const)))(
    '%s, %s: what it said',
    async (window, name) => {
      const before = said[`explain ${window} ${name}`] as Said;
      const { text, data, exitCode } = await reports[`explain ${window}`]({ mark: name });
      expect(exitCode).toBe(0);
      expect(data).toEqual({
        ...before.data,
        ...ofNow,
        ...notOnRecord,
        known_at: { mark: name, at: expect.any(String) },
      });
      const [head, as, ...lines] = text.split('\n');
      expect(as).toMatch(new RegExp(`^As known at 20.*Z \\(${name}\\)\\.$`));
      // the last paragraph is the sum check
      const told = before.text.split('\n\n').slice(0, -1).join('\n\n');
      expect([head, ...lines].join('\n')).toBe(
        `${told
          .replace('that still stands', 'that still stood')
          .replace(/; after 1 correction it is /, '; after 1 correction it was ')
          .replace(
            /: a person may release .*/,
            '',
          )}\n\nThe sum check, copies and the queue are of now, and are left out here.`,
      );
    },
  );
});

describe('errata explain, further', () => {
  test.each(marks)('%s: the keys to choose from are those of then, with their values', async (name) => {
    const { text, data, exitCode } = await reports.keys({ mark: name });
    expect({ text, data }).toEqual(said[`keys ${name}`]);
    expect(exitCode).toBe(2);
    expect(text).not.toContain('ZZ');
  });

  test('of a window without versions: open now, so open then; sealed since, so it is not on record', async () => {
    const at = async (window: string) => (await told(window, 'EU', { mark: 'settled' })).text;
    expect(await at('2026-11-03')).toContain('It was still open: it ends 2026-11-04 00:00:00Z.');
    expect(await at('2026-10-31')).toContain('Nothing of it had been published by then.');
  });

  test('what a stream said later is left out', async () => {
    const other = await openOrders({ policy: 'grace', seal: '{ by: stream, after: 15 minutes }' });
    const emit = async (revenue: number) =>
      await other.rows(
        `insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
         values ('2026-10-29Z', '2026-10-30Z', 'EU', 1, ${revenue})`,
      );
    await other.land('a 10-29 10:00 10-29 10:01', 'w 10-31 10:00 10-31 10:01');
    await emit(10);
    await other.run({ bound: '2026-10-31T11:00Z' });
    await makeMark(other.control, settingsOf(other), 'before', 'ada');
    await emit(11);
    await makeMark(other.control, settingsOf(other), 'after', 'ada');
    const at = async (flags: object) =>
      (await call(explain, other, ['daily_orders', '2026-10-29', 'EU'], flags)).data;
    expect(await at({ mark: 'before' })).toMatchObject({ versions: [{ version: 1 }], emissions: [] });
    expect(await at({ mark: 'after' })).toMatchObject({ emissions: [{ measures: { revenue: '11' } }] });
  });

  test('a session that was merged since stands; then it is void', async () => {
    const other = await openOrders({ policy: 'grace', lateness: '0', window: '{ session_gap: 30 minutes }' });
    await other.land(
      'a 10-29 10:00 10-29 10:01',
      'b 10-29 10:50 10-29 10:51',
      'w 10-29 14:00 10-29 14:01',
      'late 10-29 10:25 10-29 14:05',
    );
    await other.run({ bound: '2026-10-29T15:00Z' });
    await makeMark(other.control, settingsOf(other), 'apart', 'ada');
    await releaseEvents(
      other.control,
      other.rollup,
      { ...word, eventIds: ['late'] },
      { bound: '2026-10-29T15:00Z' },
    );
    await makeMark(other.control, settingsOf(other), 'merged', 'ada');
    const at = async (mark: string, ...window: string[]) =>
      (await call(explain, other, ['daily_orders', ...window, 'EU'], { mark })).text;
    const session = '2026-10-29T10:00Z/2026-10-29T10:30Z';
    expect(await at('apart', session)).toContain('Orders 1, revenue 10.00 shipped, and that still stood.');
    expect((await at('merged', session)).split('\n').map((line) => line.trim())).toContain('void');
    expect(await at('merged', '2026-10-29T10:00Z/2026-10-29T11:20Z')).toContain(
      'after 1 correction it was orders 3, revenue 30.00',
    );
  });
});

describe('errata lateness', () => {
  const at = async (flags: object) => await call(lateness, orders, ['daily_orders'], flags);
  const rowsOf = (data: unknown) => (data as { whole: { rows: string } }).whole.rows;

  test('counts the rows ingested by the bound of the last run until then', async () => {
    const found = [];
    for (const mark of marks) found.push(rowsOf((await at({ mark })).data));
    expect(found).toEqual(['5', '10', '10', '12']);
    const { text, data } = await at({ mark: 'waiting' });
    const [head, ...lines] = text.split('\n');
    expect(head).toMatch(/^As known at 20.*Z \(waiting\)\.$/);
    const same = await at({ to: '2026-10-31T03:00:00.000001Z' });
    expect(lines.join('\n')).toBe(same.text);
    expect(data).toEqual({ ...(same.data as object), known_at: { mark: 'waiting', at: expect.any(String) } });
  });

  test.each([
    [{ mark: 'none' }, 'there is no mark "none"'],
    [{ mark: 'sealed', to: '2026-11-01' }, '--to and --mark or --at contradict each other'],
    [{ at: '2020-01-01' }, 'no run of rollup "daily_orders" had examined anything at 2020-01-01 00:00:00Z'],
  ])('refuses %j', async (flags, message) => {
    await expect(at(flags)).rejects.toMatchObject({ message, exitCode: 2 });
  });
});

describe('is refused, by each report', () => {
  const refused = async (flags: object, failure: object) => {
    for (const ask of Object.values(reports)) await expect(ask(flags)).rejects.toMatchObject(failure);
  };

  test.each([
    [{ mark: 'none' }, 'there is no mark "none"'],
    [{ mark: 'sealed', at: '2026-11-01' }, '--mark and --at contradict each other'],
    [
      { at: 'soon' },
      '--at "soon" is not a date or an instant; write it as 2026-01-01 or 2026-01-01T00:00:00Z',
    ],
    [{ at: '2999-01-01' }, 'what was known then is not settled yet for rollup "daily_orders"'],
    [{ mark: 'of another' }, 'mark "of another" is of rollup "other", not of "daily_orders"'],
  ])('%j', async (flags, message) => {
    await markAnother(orders);
    await refused(flags, { message, exitCode: 2 });
  });

  test('an instant from before states were kept', async () => {
    const since = async (instant: string) =>
      await orders.rows('update errata.rollup set states_since = $1::timestamptz', [instant]);
    await since('2999-01-01T00:00Z');
    await refused({ mark: 'waiting' }, { message: 'what was pending then is not on record', exitCode: 2 });
    await since('-infinity');
  });
});
