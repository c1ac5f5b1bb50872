/**
 * Partials change no result (R20): two rollups over one bronze, of which one keeps them, hear the same random story of copies,
 * late rows, stragglers, releases, waivers, deletions and changes, and publish the same after each step of it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { query } from '../../src/db/statement.ts';
import type { SpineOptions } from '../../src/pipeline/run.ts';
import { amendWindows } from '../../src/publication/amend.ts';
import { releaseQuarantined } from '../../src/publication/quarantine.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { waiveEvents } from '../../src/publication/waive.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';
import { land } from './partitions.ts';

/** Days of one story; ERRATA_HISTORIES=5000 for long ones. */
const days = Math.ceil(Number(process.env.ERRATA_HISTORIES ?? 40) / 5);
const seed = process.env.ERRATA_SEED === undefined ? 8841 : Number(process.env.ERRATA_SEED);
const first = Date.UTC(2026, 0, 10);
const day = 86_400_000;

const stories: Record<
  string,
  { window: string; key: string; policy: string; lateness: string; seal?: 'stream' }
> = {
  days: {
    window: '{ calendar: 1 day, time_zone: Europe/Berlin }',
    key: '[key]',
    policy: 'grace',
    lateness: '1 day',
  },
  long: { window: '{ tumbling: 60 hours }', key: '[key]', policy: 'auto', lateness: '0' },
  overlapping: {
    window: '{ hopping: 48 hours, every: 16 hours }',
    key: '[key]',
    policy: 'grace',
    lateness: '0',
  },
  shipped: {
    window: '{ tumbling: 1 day }',
    key: '[key]',
    policy: 'auto',
    lateness: '0',
    seal: 'stream',
  },
  short: { window: '{ tumbling: 5 hours }', key: '[key]', policy: 'grace', lateness: '0' },
  total: { window: '{ tumbling: 1 day }', key: '[]', policy: 'review', lateness: '12 hours' },
};

let database: TestDatabase;
/** How often a partial was used, and how often the rows were read in its place. */
const used = { partials: 0, left: 0 };

beforeAll(async () => {
  database = await openTestDatabase();
}, 60_000);

afterAll(async () => database.close());

/** In the normal run the first four. */
const told = Object.entries(stories).slice(0, process.env.ERRATA_HISTORIES === undefined ? 4 : undefined);

test.each(told)('%s', { timeout: 3_600_000 }, async (name, story) => {
  const random = generator(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T;
  const bronze = `${name}.event`;
  await database.pool.query(`
    create schema ${name};
    create table ${bronze} (no integer, id text, key text, event_time timestamptz, ingested_at timestamptz, amount numeric)
      partition by range (ingested_at);
    create index on ${bronze} (key, event_time)`);
  for (let at = -5; at < days + 1; at++)
    await database.pool.query(
      `create table ${bronze}_${at + 5} partition of ${bronze} for values from ('${instant(at)}') to ('${instant(at + 1)}')`,
    );
  const open = (which: string, partials: boolean) =>
    openErrata(
      database,
      `
rollups:
  ${which}:
    gold: ${name}_gold.${which}
    bronze: { table: ${bronze}, event_id: id, event_time: event_time, ingested_at: ingested_at, complete_from: 2025-01-01 }
    window: ${story.window}
    key: ${story.key}
    measures: { orders: count(*), amount: sum(amount), paid: count(amount), least: min(amount), last: max(id), positive: 'sum(amount) filter (where amount > 0)' }
    watermark: { strategy: fixed_delay, delay: 2 hours, max_future_skew: 1 hour }
    allowed_lateness: ${story.lateness}
    seal: { by: ${story.seal ?? 'errata'} }
    publish: { policy: ${story.policy} }
    partials: ${partials}
`,
    );
  const [keeps, reads] = [await open(`${name}_keeps`, true), await open(`${name}_reads`, false)];
  let no = 0;
  const ids: string[] = [];
  for (let now = 0; now < days; now++) {
    for (let rows = 2 + below(12); rows > 0; rows--) {
      // one in ten is a straggler: its transaction began days ago
      const ingested = now + random() - (below(10) === 0 ? below(5) : 0);
      const lateness = oneOf([
        0.001,
        0.01,
        0.05,
        0.2,
        random(),
        random() * 3,
        random() * 7,
        below(12) === 0 ? -1 : 0,
      ]);
      const id = ids.length > 0 && below(3) === 0 ? oneOf(ids.slice(-12)) : `e${no}`;
      if (id === `e${no}`) ids.push(id);
      await land(database, `insert into ${bronze} values ($1, $2, $3, $4, $5, $6)`, [
        no,
        id,
        oneOf(['a', 'b', null]),
        instant(ingested - lateness),
        instant(ingested),
        oneOf([1, 2.5, -3, null]),
      ]);
      no += 1;
    }
    // the same once more, with every value as it was
    if (below(3) === 0)
      await land(database, `insert into ${bronze} select * from ${bronze} where no = $1`, [below(no)]);
    const word = { actor: 'ada', reason: 'as it came' };
    const both = async (act: (errata: TestErrata) => Promise<unknown>) => {
      const outcomes = await Promise.all([outcome(act(keeps), keeps), outcome(act(reads), reads)]);
      expect(outcomes[0]).toEqual(outcomes[1]);
    };
    if (story.seal) for (const errata of [keeps, reads]) await ship(errata, bronze, now);
    const bound = instant(now + 0.5 + random() / 2);
    await both((errata) => errata.run({ bound, judged: countUse }));
    const choice = below(6);
    const eventIds = [oneOf(ids)];
    if (choice === 0)
      await both((e) =>
        releaseEvents(e.control, e.rollup, { ...word, eventIds }, { bound, judged: countUse }),
      );
    if (choice === 1)
      await both((e) => releaseEvents(e.control, e.rollup, word, { bound, judged: countUse }));
    if (choice === 2)
      await both((e) => waiveEvents(e.control, e.rollup, { ...word, eventIds }, { bound, judged: countUse }));
    if (choice === 3)
      await both((e) => releaseQuarantined(e.control, e.rollup, word, { bound, judged: countUse }));
    if (choice === 4) {
      // whether the counters arrive before the word of it
      const change = below(2) === 0 ? `delete from ${bronze}` : `update ${bronze} set amount = 7`;
      const sql = `${change} where id = $1`;
      if (below(2) === 0) await land(database, sql, eventIds);
      else await database.pool.query(sql, eventIds);
      await both((e) =>
        amendWindows(e.control, e.rollup, { ...word, eventIds }, { bound, judged: countUse }),
      );
    }
    expect(await published(keeps), `day ${now} of seed ${seed}`).toEqual(await published(reads));
  }
  expect(used.partials).toBeGreaterThan(0);
});

test('the stories had both: partials that were used, and rows that were read in the place of one', () => {
  expect(used.partials).toBeGreaterThan(10);
  expect(used.left).toBeGreaterThan(0);
});

const countUse: NonNullable<SpineOptions['judged']> = async (run) => {
  if (!run.rollup.settings.partials) return;
  const [found] = await query<{ used: string; left: string }>(
    run.transaction,
    'select count(*) filter (where not p.is_left) as used, count(*) filter (where p.is_left) as left from pg_temp.errata_partial as p',
  );
  used.partials += Number(found?.used);
  used.left += Number(found?.left);
};

/** Version 1 of the day before, of most keys and not always right. */
async function ship(errata: TestErrata, bronze: string, now: number): Promise<void> {
  const { gold } = errata.rollup.settings;
  await errata.rows(
    `insert into ${gold.schema}.${gold.name} (window_start, window_end, key, orders, amount, paid, least, last, positive)
     select $1, $2, key, count(*), sum(amount), count(amount), min(amount), max(id), sum(amount) filter (where amount > 0)
     from (
       select distinct on (id) * from ${bronze}
       where event_time >= $1 and event_time < $2 and ingested_at < $2::timestamptz + interval '2 hours'
       order by id, ingested_at, no
     ) as r
     where hashtext(id) % 20 <> 0
     group by key
     having hashtext(key || $1::text) % 4 is distinct from 0`,
    [instant(now - 1), instant(now)],
  );
}

/** What it published and found, without what differs from run to run. */
async function published(errata: TestErrata): Promise<unknown> {
  const { name, gold } = errata.rollup.settings;
  const table = `${gold.schema}.${gold.name}`;
  const key = errata.rollup.keys.length > 0 ? 'key,' : '';
  return {
    versions: await errata.rows(
      `select window_start, window_end, ${key} version, orders, amount, paid, least, last, positive, event_count, is_void, kind, causes
       from ${table} order by 1, 2, ${key ? '3, 4' : '3'}`,
    ),
    events: await errata.rows(
      `select window_start, window_end, event_id, ingested_at, landing, cause, state, version, released, is_conflict, row_digest, amount
       from ${table}_late_event order by 1, 3, row_digest, landing, is_conflict`,
    ),
    queue: await errata.rows(
      `select window_start, ${key} cause, blocked_reason, error from errata.${name}_touched order by 1, 2, 3`,
    ),
    restated: await errata.rows(
      `select * from ${table}_reconciliation order by window_start, ${key} window_end`,
    ),
    proposals: await errata.rows(
      `select window_start, window_end, key, base_version, event_count, measures, causes, state
       from errata.proposal where rollup_id = ${errata.rollup.id} order by 1, 3::text, 4, proposal_id`,
    ),
  };
}

/** What the work threw, in which the two may differ by their name alone. */
async function outcome(work: Promise<unknown>, { rollup }: TestErrata): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    return String((error as Error).message).replaceAll(rollup.settings.name, 'ROLLUP');
  }
}

function instant(at: number): string {
  return new Date(first + at * day).toISOString();
}

/** Mulberry32: the same numbers for the same seed. */
function generator(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
