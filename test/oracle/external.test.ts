/**
 * `external` on random histories in random cuts, against plain loops: the side output is what the stream refused, version
 * 1 is what it shipped, and nothing is lost between the two (R2, R6, R14, R17).
 */
import { expect, test } from 'vitest';
import { openTestDatabase } from '../support/database.ts';
import { openErrata } from '../support/errata.ts';

const zero = '2026-01-01 00:00:00+00';
const size = 10;
/** The stream ships a window so long after its end, and refuses what arrives later. */
const wait = 4;

interface Row {
  readonly id: string;
  readonly key: string | null;
  readonly time: number;
  readonly arrival: number;
  readonly ingested: number;
}

/** mulberry32: a seed gives one history. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** What the stream ships of a keyed window, and when. */
interface Total {
  readonly start: number;
  readonly end: number;
  readonly key: string | null;
  readonly rows: Row[];
}

interface Stream {
  readonly totals: readonly Total[];
  /** What it refused, with the watermark that did. */
  readonly refused: ReadonlyMap<Row, number>;
}

/** The stream's watermark is the clock. Rows in order of arrival; a row whose window is past its end and the wait is refused. */
function tumblingStream(rows: readonly Row[]): Stream {
  const totals = new Map<string, Total>();
  const refused = new Map<Row, number>();
  for (const row of rows) {
    const start = Math.floor(row.time / size) * size;
    const total = totals.get(`${start} ${row.key}`) ?? { start, end: start + size, key: row.key, rows: [] };
    if (row.arrival >= total.end + wait) refused.set(row, total.end + wait);
    else if (!total.rows.some(({ id }) => id === row.id)) {
      total.rows.push(row);
      totals.set(`${start} ${row.key}`, total);
    }
  }
  return { totals: [...totals.values()], refused };
}

/** Sessions of a gap as long as `size`: a row joins those that it touches and that are not past their end and the wait. */
function sessionStream(rows: readonly Row[]): Stream {
  let totals: Total[] = [];
  const refused = new Map<Row, number>();
  for (const row of rows) {
    const touched = totals.filter(
      ({ start, end, key }) =>
        key === row.key && end + wait > row.arrival && start <= row.time + size && end >= row.time,
    );
    const end = Math.max(row.time + size, ...touched.map((total) => total.end));
    if (row.arrival >= end + wait) refused.set(row, row.arrival);
    else if (!totals.some((total) => total.rows.some(({ id }) => id === row.id))) {
      totals = totals.filter((total) => !touched.includes(total));
      totals.push({
        start: Math.min(row.time, ...touched.map((total) => total.start)),
        end,
        key: row.key,
        rows: [row, ...touched.flatMap((total) => total.rows)],
      });
    }
  }
  return { totals, refused };
}

const kinds = {
  tumbling: {
    window: `{ tumbling: ${size} s }`,
    streamOf: tumblingStream,
    column: ', window_end: we',
    after: 0,
  },
  sessions: { window: `{ session_gap: ${size} s }`, streamOf: sessionStream, column: '', after: wait },
};

function historyOf(random: (below: number) => number): Row[] {
  const rows: Row[] = [];
  for (let n = 0; n < 60; n++) {
    const time = random(80);
    const arrival = time + (random(4) === 0 ? random(60) : random(4));
    const row = {
      id: `e${n}`,
      key: ['a', 'b', null][random(3)] ?? null,
      time,
      arrival,
      ingested: arrival + random(6),
    };
    rows.push(row);
    // a second delivery, which is a copy
    if (random(8) === 0) rows.push({ ...row, ingested: row.ingested + 1 + random(20) });
  }
  return rows;
}

const modes = [
  { kind: 'tumbling', policy: 'auto', entries: 'in time' },
  { kind: 'tumbling', policy: 'grace', entries: 'in time' },
  // some are written only after their row has been examined
  { kind: 'tumbling', policy: 'auto', entries: 'late' },
  { kind: 'tumbling', policy: 'grace', entries: 'late' },
  { kind: 'sessions', policy: 'auto', entries: 'in time' },
  { kind: 'sessions', policy: 'grace', entries: 'in time' },
  { kind: 'sessions', policy: 'auto', entries: 'late' },
] as const;
/** More by ERRATA_HISTORIES, as in oracle.test.ts. */
const seeds = Array.from(
  { length: Math.ceil(Number(process.env.ERRATA_HISTORIES ?? 200) / 200) },
  (_, n) => 11 + n,
);

test.each(modes.flatMap((mode) => seeds.map((seed) => ({ ...mode, seed }))))(
  '$kind, policy $policy, entries $entries, seed $seed',
  { timeout: 60_000 },
  async ({ kind, policy, entries, seed }) => {
    const random = randomOf(seed * 7919 + (entries === 'late' ? 1 : 0));
    const rows = historyOf(random);
    const { window, streamOf, column, after } = kinds[kind];
    const { totals, refused } = streamOf(rows.toSorted((a, b) => a.arrival - b.arrival));
    const database = await openTestDatabase('migrated');
    await database.pool.query(`create schema bronze; create schema stream;
      create table bronze.event (id text, key text, event_time timestamptz, ingested_at timestamptz);
      create table stream.refused (id text, we timestamptz, wm timestamptz, at timestamptz)`);
    const errata = await openErrata(
      database,
      `
rollups:
  total:
    gold: gold.total
    bronze: { table: bronze.event, event_id: id, event_time: event_time, ingested_at: ingested_at, complete_from: 2025-12-31 }
    window: ${window}
    key: [key]
    measures: { rows_counted: count(*) }
    watermark: { strategy: external, refused: { table: stream.refused${column}, watermark: wm, refused_at: at } }
    allowed_lateness: ${wait} s
    seal: { by: stream, after: ${after} s }
    publish: { policy: ${policy} }
`,
    );
    const at = (second: number) => `timestamptz '${zero}' + interval '${second} seconds'`;
    const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);
    // of sessions the keys are compared: a refused row makes others of them than the stream had
    const nameOf = (end: number | string, key: string | null) =>
      kind === 'sessions' ? `${key}` : `${end} ${key}`;
    const shipped = new Map<string, number>();
    for (const { end, key, rows: counted } of totals)
      shipped.set(nameOf(end, key), (shipped.get(nameOf(end, key)) ?? 0) + counted.length);
    const whole = new Map<string, number>();
    for (const { time, key } of new Map(rows.map((row) => [row.id, row])).values()) {
      const name = nameOf((Math.floor(time / size) + 1) * size, key);
      whole.set(name, (whole.get(name) ?? 0) + 1);
    }

    // each thing the world does, at its second, in random order within a cut
    const written = (row: Row) =>
      entries === 'late' && random(2) === 0 ? row.ingested + 5 + random(40) : row.arrival;
    const happenings: [number, string][] = [
      ...rows.map((row): [number, string] => [
        row.ingested,
        `insert into bronze.event values ('${row.id}', ${text(row.key)}, ${at(row.time)}, ${at(row.ingested)})`,
      ]),
      ...[...refused].map(([row, watermark]): [number, string] => [
        written(row),
        `insert into stream.refused values ('${row.id}', ${at(watermark - wait)}, ${at(watermark)}, ${at(row.arrival)})`,
      ]),
      ...totals.map(({ start, end, key, rows: counted }): [number, string] => [
        end + wait,
        `insert into gold.total (window_start, window_end, key, rows_counted) values (${at(start)}, ${at(end)}, ${text(key)}, ${counted.length})`,
      ]),
    ];
    happenings.sort(([a], [b]) => a - b);
    let done = 0;
    for (let cut = 10 + random(20); ; cut += 5 + random(30)) {
      for (; done < happenings.length && (happenings[done]?.[0] ?? 0) <= cut; done++)
        await errata.rows(happenings[done]?.[1] ?? '');
      const [bound] = await errata.rows<{ bound: string }>(`select (${at(cut)})::text as bound`);
      await errata.run({ bound: bound?.bound });
      if (done === happenings.length) break;
    }
    await errata.run({ bound: '2026-01-01 01:00:00+00' });

    const named = await errata.rows<{ id: string; landing: string }>(
      "select event_id as id, landing from gold.total_late_event where landing <> 'open' order by event_id",
    );
    const ids = [...new Set([...refused.keys()].map(({ id }) => id))].sort();
    if (entries === 'in time') expect(named).toEqual(ids.map((id) => ({ id, landing: 'side_output' })));
    const values = async (sql: string) =>
      new Map(
        (
          await errata.rows<{ name: string; value: string }>(
            `select ${kind === 'sessions' ? '' : `extract(epoch from window_end - timestamptz '${zero}')::integer || ' ' || `}coalesce(key, 'null') as name, ${sql} group by 1`,
          )
        ).map(({ name, value }) => [name, Number(value)]),
      );
    expect(sorted(await values('sum(rows_counted) as value from gold.total_sealed'))).toEqual(
      sorted(shipped),
    );
    const latest = await values('sum(rows_counted) as value from gold.total_latest');
    const restated = 'sum(restated_rows_counted) as value from gold.total_reconciliation';
    if (kind === 'tumbling') {
      if (policy === 'auto') expect(sorted(latest)).toEqual(sorted(whole));
      // a straggler is published, also where its entry comes too late
      else if (entries === 'in time') expect(sorted(latest)).toEqual(sorted(shipped));
      expect(sorted(await values(restated))).toEqual(sorted(whole));
      expect(await errata.rows('select * from errata.total_touched')).toEqual([]);
      // where an entry comes too late its row was counted, and version 1, which lacks it, is for a person to judge (R10)
      const mismatches = policy === 'grace' && entries === 'late' ? ['seal_mismatch'] : [];
      expect(
        await errata.rows("select * from errata.proposal where state = 'open' and not causes && $1::text[]", [
          mismatches,
        ]),
      ).toEqual([]);
    } else if (policy === 'auto') {
      // Errata does not know the stream's watermark at each instant, and may join rows that the stream had apart. Such a
      // total stands in the queue, with what it waits for.
      const waiting = await values(
        "sum(rows_counted) as value from gold.total_sealed join (select window_start, window_end, key as queued_key, blocked_reason from errata.total_touched) as q using (window_start, window_end) where key is not distinct from queued_key and blocked_reason like 'version 1 counts%'",
      );
      for (const [key, count] of waiting) latest.set(key, (latest.get(key) ?? 0) - count);
      expect(sorted(latest)).toEqual(sorted(whole));
    }
    expect(await errata.rows('select * from errata.refused_entry where found_run_id is null')).toEqual([]);
  },
);

function sorted(values: ReadonlyMap<string, number>): [string, number][] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}
