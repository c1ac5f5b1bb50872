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

const endOf = (row: Row) => (Math.floor(row.time / size) + 1) * size;
const isRefused = (row: Row) => row.arrival >= endOf(row) + wait;

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
  { policy: 'auto', entries: 'in time' },
  { policy: 'grace', entries: 'in time' },
  // some are written only after their row has been examined
  { policy: 'auto', entries: 'late' },
  { policy: 'grace', entries: 'late' },
] as const;
const seeds = [11, 12];

test.each(modes.flatMap((mode) => seeds.map((seed) => ({ ...mode, seed }))))(
  'policy $policy, entries $entries, seed $seed',
  { timeout: 60_000 },
  async ({ policy, entries, seed }) => {
    const random = randomOf(seed * 7919 + (entries === 'late' ? 1 : 0));
    const rows = historyOf(random);
    const database = await openTestDatabase();
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
    window: { tumbling: ${size} s }
    key: [key]
    measures: { rows_counted: count(*) }
    watermark: { strategy: external, refused: { table: stream.refused, window_end: we, watermark: wm, refused_at: at } }
    allowed_lateness: ${wait} s
    seal: { by: stream }
    publish: { policy: ${policy} }
`,
    );
    const at = (second: number) => `timestamptz '${zero}' + interval '${second} seconds'`;
    const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);
    const counts = (some: readonly Row[]) => {
      const totals = new Map<string, number>();
      for (const row of new Map(some.map((one) => [one.id, one])).values())
        totals.set(`${endOf(row)} ${row.key}`, (totals.get(`${endOf(row)} ${row.key}`) ?? 0) + 1);
      return totals;
    };
    const shipped = counts(rows.filter((row) => !isRefused(row)));

    // each thing the world does, at its second, in random order within a cut
    const written = (row: Row) =>
      entries === 'late' && random(2) === 0 ? row.ingested + 5 + random(40) : row.arrival;
    const happenings: [number, string][] = [
      ...rows.map((row): [number, string] => [
        row.ingested,
        `insert into bronze.event values ('${row.id}', ${text(row.key)}, ${at(row.time)}, ${at(row.ingested)})`,
      ]),
      ...rows
        .filter(isRefused)
        .map((row): [number, string] => [
          written(row),
          `insert into stream.refused values ('${row.id}', ${at(endOf(row))}, ${at(endOf(row) + wait)}, ${at(row.arrival)})`,
        ]),
      ...[...shipped].map(([name, count]): [number, string] => {
        const [end = '', key] = name.split(' ');
        return [
          Number(end) + wait,
          `insert into gold.total (window_start, window_end, key, rows_counted) values (${at(Number(end) - size)}, ${at(Number(end))}, ${key === 'null' ? 'null' : `'${key}'`}, ${count})`,
        ];
      }),
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
    const refused = [...new Set(rows.filter(isRefused).map(({ id }) => id))].sort();
    if (entries === 'in time') expect(named).toEqual(refused.map((id) => ({ id, landing: 'side_output' })));
    const values = async (sql: string) =>
      new Map(
        (
          await errata.rows<{ name: string; value: string }>(
            `select extract(epoch from window_end - timestamptz '${zero}')::integer || ' ' || coalesce(key, 'null') as name, ${sql}`,
          )
        ).map(({ name, value }) => [name, Number(value)]),
      );
    expect(sorted(await values('rows_counted as value from gold.total_sealed'))).toEqual(sorted(shipped));
    const whole = sorted(counts(rows));
    const latest = sorted(await values('rows_counted as value from gold.total_latest'));
    if (policy === 'auto') expect(latest).toEqual(whole);
    // a straggler is published, also where its entry comes too late
    else if (entries === 'in time') expect(latest).toEqual(sorted(shipped));
    expect(sorted(await values('restated_rows_counted as value from gold.total_reconciliation'))).toEqual(
      whole,
    );
    expect(await errata.rows('select * from errata.total_touched')).toEqual([]);
    expect(await errata.rows("select * from errata.proposal where state = 'open'")).toEqual([]);
    expect(await errata.rows('select * from errata.refused_entry where found_run_id is null')).toEqual([]);
  },
);

function sorted(values: ReadonlyMap<string, number>): [string, number][] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}
