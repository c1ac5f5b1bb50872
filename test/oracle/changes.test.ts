/**
 * Bronze rows deleted, changed and moved in random histories, with the trigger: after each run every sealed keyed window
 * must restate what plain loops over the rows that are left give, and under `auto` that is the latest value
 * (R5, R7, R9, R14). What counts is remembered here by a number of the row that the rollups do not see.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';
import { type History, histories } from './history.ts';
import type { Row } from './model.ts';
import { divide, land } from './partitions.ts';

const numberOfHistories = Number(process.env.ERRATA_HISTORIES ?? 40);
const seed = process.env.ERRATA_SEED === undefined ? 8841 : Number(process.env.ERRATA_SEED);

interface Plan {
  readonly policy: 'auto' | 'grace';
  readonly size: number;
  readonly every: number;
  readonly keyed: boolean;
  readonly partials?: true;
}

const plans: Record<string, Plan> = {
  changed_auto: { policy: 'auto', size: 20, every: 20, keyed: true },
  changed_grace: { policy: 'grace', size: 30, every: 30, keyed: true },
  changed_total: { policy: 'auto', size: 40, every: 40, keyed: false },
  changed_hopping: { policy: 'auto', size: 30, every: 10, keyed: true },
  changed_partials: { policy: 'auto', size: 60, every: 60, keyed: true, partials: true },
  changed_partials_grace: { policy: 'grace', size: 60, every: 30, keyed: true, partials: true },
};

/** Before which run, which row, and what happens to it. */
const changes = fc.array(
  fc.record({
    run: fc.nat(),
    row: fc.nat(),
    what: fc.constantFrom('delete' as const, 'amount' as const, 'move' as const, 'key' as const),
    by: fc.integer({ min: -70, max: 30 }),
  }),
  { maxLength: 12 },
);

type Change = { run: number; row: number; what: 'delete' | 'amount' | 'move' | 'key'; by: number };
type Live = Row & { no: number };

let database: TestDatabase;
const rollups = new Map<string, TestErrata>();
let epoch = 0;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.pool.query(
    `create schema bronze; create table bronze.event (no integer, id text, key text, event_time timestamptz, ingested_at timestamptz, amount integer);
     create table bronze.parted (like bronze.event) partition by range (ingested_at); create index on bronze.parted (key, event_time)`,
  );
  for (const [name, plan] of Object.entries(plans)) {
    rollups.set(
      name,
      await openErrata(
        database,
        `
rollups:
  ${name}:
    gold: gold.${name}
    bronze: { table: ${bronzeOf(plan)}, event_id: id, event_time: event_time, ingested_at: ingested_at, complete_from: 0001-01-01, track_changes: true }
    window: { hopping: ${plan.size} s, every: ${plan.every} s }
    key: ${plan.keyed ? '[key]' : '[]'}
    measures: { amount: sum(amount) }
    watermark: { strategy: bounded, delay: 5 s, max_future_skew: 1 day }
    allowed_lateness: 10 s
    seal: { by: errata }
    publish: { policy: ${plan.policy} }
    partials: ${plan.partials ?? false}
`,
      ),
    );
  }
}, 60_000);

afterAll(async () => database.close());

test.each(Object.entries(plans))('%s', { timeout: 3_600_000 }, async (name, plan) => {
  await fc.assert(
    fc.asyncProperty(histories, changes, async (history, changed) => {
      epoch += 100_800;
      await replay(rollups.get(name) as TestErrata, name, plan, history, changed);
    }),
    {
      numRuns: Math.ceil(numberOfHistories / Object.keys(plans).length),
      seed,
      endOnFailure: process.env.ERRATA_SHRINK === undefined,
    },
  );
});

async function replay(
  errata: TestErrata,
  name: string,
  plan: Plan,
  { rows, bounds }: History,
  changed: readonly Change[],
): Promise<void> {
  if (plan.partials) await divide(errata, 'parted', epoch, instant);
  await errata.rows('truncate bronze.event');
  const live: Live[] = [];
  /** The row that counts, by window and id. */
  const counting = new Map<string, number>();
  for (const [run, bound] of bounds.entries()) {
    const before = run === 0 ? Number.NEGATIVE_INFINITY : (bounds[run - 1] as number);
    for (const [no, row] of rows.entries()) {
      if (row.ingestedAt <= before || row.ingestedAt > bound) continue;
      live.push({ ...row, no });
      await land(database, `insert into ${bronzeOf(plan)} values ($1, $2, $3, $4, $5, $6)`, [
        no,
        row.id,
        row.key,
        instant(row.eventTime),
        instant(row.ingestedAt),
        row.amount,
      ]);
    }
    for (const change of changed.filter((one) => one.run % bounds.length === run))
      await carryOut(errata, bronzeOf(plan), live, change);
    await errata.run({ bound: instant(bound) });
    expect(await restated(errata, name, plan)).toEqual(await expected(errata, name, plan, live, counting));
  }
}

async function carryOut(
  errata: TestErrata,
  bronze: string,
  live: Live[],
  { row, what, by }: Change,
): Promise<void> {
  const place = row % Math.max(live.length, 1);
  const old = live[place];
  if (!old) return;
  if (what === 'delete') {
    live.splice(place, 1);
    await errata.rows(`delete from ${bronze} where no = $1`, [old.no]);
    return;
  }
  const now = {
    ...old,
    amount: what === 'amount' ? by : old.amount,
    eventTime: what === 'move' ? old.eventTime + by : old.eventTime,
    key: what === 'key' ? 'moved' : old.key,
  };
  live[place] = now;
  await errata.rows(`update ${bronze} set amount = $2, event_time = $3, key = $4 where no = $1`, [
    now.no,
    now.amount,
    instant(now.eventTime),
    now.key,
  ]);
}

/** `window key value count`: for `grace` the value only; keyed windows whose value and count are 0 are left out. */
async function restated(errata: TestErrata, name: string, plan: Plan): Promise<string[]> {
  const range = `to_timestamp(${epoch} - 50000) and to_timestamp(${epoch} + 40000)`;
  const wrong = await errata.rows(
    `select * from gold.${name}_reconciliation
     where window_start between ${range} and (sealed_amount + corrections_amount <> latest_amount
       or corrections_amount <> late_firing_amount + straggler_amount + refused_amount + source_change_amount + other_amount
       or latest_amount + pending_amount + held_amount + waived_amount <> restated_amount
       ${plan.policy === 'auto' ? 'or latest_amount <> restated_amount' : ''})`,
  );
  expect(wrong).toEqual([]);
  expect(await errata.rows(`select * from errata.${name}_touched where blocked_reason is not null`)).toEqual(
    [],
  );
  const key = plan.keyed ? 'r.key' : 'null::text';
  const count = plan.policy === 'auto' ? 'l.event_count' : '0';
  const lines = await errata.rows<{ line: string }>(
    `select concat_ws(' ', extract(epoch from r.window_start)::bigint - ${epoch}, coalesce(quote_literal(${key}), 'NULL'), r.restated_amount, ${count}) as line
     from gold.${name}_reconciliation as r
     left join gold.${name}_latest as l on l.window_start = r.window_start ${plan.keyed ? 'and l.key is not distinct from r.key' : ''}
     where r.window_start between ${range} and (r.restated_amount <> 0 or ${count} <> 0)`,
  );
  return lines.map(({ line }) => line).sort();
}

async function expected(
  errata: TestErrata,
  name: string,
  plan: Plan,
  live: readonly Live[],
  counting: Map<string, number>,
): Promise<string[]> {
  const [rollup] = await errata.rows<{ until: string | null }>(
    `select (extract(epoch from sealed_until) - ${epoch})::text as until from errata.rollup where name = '${name}'`,
  );
  const until = rollup?.until == null ? Number.NEGATIVE_INFINITY : Number(rollup.until);
  const candidates = new Map<string, Live[]>();
  for (const row of live) {
    for (
      let start = Math.floor(row.eventTime / plan.every) * plan.every;
      start + plan.size > row.eventTime;
      start -= plan.every
    ) {
      if (start + plan.size > until) continue;
      const place = `${start}|${row.id}`;
      candidates.set(place, [...(candidates.get(place) ?? []), row]);
    }
  }
  for (const place of counting.keys()) if (!candidates.has(place)) counting.delete(place);
  const totals = new Map<string, { value: number; count: number }>();
  for (const [place, all] of candidates) {
    const inOrder = [...all].sort((a, b) => a.ingestedAt - b.ingestedAt);
    const counted = all.find((row) => row.no === counting.get(place)) ?? (inOrder[0] as Live);
    counting.set(place, counted.no);
    const key = plan.keyed && counted.key !== null ? `'${counted.key}'` : 'NULL';
    const line = `${place.split('|')[0]} ${key}`;
    const total = totals.get(line) ?? { value: 0, count: 0 };
    totals.set(line, { value: total.value + counted.amount, count: total.count + 1 });
  }
  return [...totals]
    .map(([line, { value, count }]) => ({ line, value, count: plan.policy === 'auto' ? count : 0 }))
    .filter(({ value, count }) => value !== 0 || count !== 0)
    .map(({ line, value, count }) => `${line} ${value} ${count}`)
    .sort();
}

function bronzeOf({ partials }: Plan): string {
  return partials ? 'bronze.parted' : 'bronze.event';
}

function instant(seconds: number): string {
  return new Date((epoch + seconds) * 1000).toISOString();
}
