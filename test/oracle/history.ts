/** Random histories: rows with copies, gaps, ties and lateness of every size, cut into runs, some rows visible late. */
import fc from 'fast-check';
import type { LogEntry, Row } from './model.ts';

export interface History {
  readonly rows: readonly Row[];
  readonly log: readonly LogEntry[];
  /** Bounds of the runs, rising; the last is later than everything. */
  readonly bounds: readonly number[];
  /** For each row the number of the run from which on it is visible; usually the first whose bound has reached it. */
  readonly visibleFrom: readonly number[];
}

const sources = ['p', 'q', 'r'];
const keys = ['a', 'b', '', null];

/** Times start at 0; a history lasts a few hundred seconds, its windows tens of seconds. */
export const histories: fc.Arbitrary<History> = fc
  .record({
    rows: fc.array(
      fc.record({
        id: fc.integer({ min: 0, max: 25 }),
        key: fc.constantFrom(...keys),
        source: fc.constantFrom(...sources),
        /** Seconds since the row before; 0 is a tie. */
        pause: fc.oneof(
          { weight: 3, arbitrary: fc.integer({ min: 1, max: 15 }) },
          { weight: 1, arbitrary: fc.constant(0) },
        ),
        lateness: fc.oneof(
          { weight: 5, arbitrary: fc.integer({ min: 0, max: 8 }) },
          { weight: 3, arbitrary: fc.integer({ min: -5, max: 60 }) },
          { weight: 1, arbitrary: fc.integer({ min: -200, max: 200 }) },
        ),
        amount: fc.integer({ min: -5, max: 5 }),
        delay: fc.constantFrom(null, null, 0, 3, 12, 25, 60),
        isSlow: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      }),
      { minLength: 1, maxLength: 40 },
    ),
    log: fc.array(
      fc.record({
        pause: fc.integer({ min: 1, max: 40 }),
        step: fc.integer({ min: -10, max: 60 }),
        source: fc.constantFrom(...sources),
        kind: fc.constantFrom('value', 'value', 'value', 'idle', 'wake'),
      }),
      { maxLength: 20 },
    ),
    cuts: fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 5 }),
  })
  .map(({ rows: drawn, log: entries, cuts }) => {
    let now = 0;
    const taken = new Set<string>();
    const rows: Row[] = [];
    const slow: boolean[] = [];
    for (const { id, key, source, pause, lateness, amount, delay, isSlow } of drawn) {
      now += pause;
      const row = { id: `e${id}`, key, source, eventTime: now - lateness, ingestedAt: now, amount, delay };
      // Copies that tie in time and differ in content are put in order by bytes that only the database knows.
      if (taken.has(`${row.id} ${now}`)) continue;
      taken.add(`${row.id} ${now}`);
      rows.push(row);
      slow.push(isSlow);
    }
    let [at, watermark] = [0, -30];
    const log = entries.map((entry) => {
      at += entry.pause;
      watermark += entry.step;
      return { at, watermark, source: entry.source, kind: entry.kind };
    });
    const end = Math.max(now, at) + 1;
    const bounds = [...new Set([...cuts.filter((cut) => cut < end), end])].sort((a, b) => a - b);
    const visibleFrom = rows.map((row, place) => {
      const due = bounds.findIndex((bound) => bound >= row.ingestedAt);
      return slow[place] ? Math.min(due + 1, bounds.length - 1) : due;
    });
    return { rows, log, bounds, visibleFrom };
  });

/**
 * The same, but of each three rows the second bears the id of the first and lies two gaps away, and the third joins the
 * sessions of the two.
 */
export function withBridges(history: History, gap: number): History {
  const kept = history.rows
    .map((row, place) => {
      const first = history.rows[place - (place % 3)] as Row;
      const visible = history.visibleFrom[place] as number;
      const offset = [0, 2 * gap - 1, gap][place % 3] as number;
      const eventTime = first.eventTime + offset;
      return { row: { ...row, eventTime, id: place % 3 === 1 ? first.id : row.id }, visible };
    })
    // copies that tie in time are put in order by bytes that only the database knows
    .filter(
      ({ row }, place, all) =>
        all.findIndex((other) => other.row.id === row.id && other.row.ingestedAt === row.ingestedAt) ===
        place,
    );
  return {
    ...history,
    rows: kept.map(({ row }) => row),
    visibleFrom: kept.map(({ visible }) => visible),
  };
}
