/** The database and the model must agree on every version, landing and late event, whatever the cuts (R1 to R10, R14, R17). */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';
import { reconciled } from '../support/reconcile.ts';
import { type History, histories, withBridges } from './history.ts';
import { Model, type Policy } from './model.ts';
import { divide, land } from './partitions.ts';
import { policies } from './policies.ts';
import { SessionModel } from './sessions.ts';

/** Random histories in the normal run; ERRATA_HISTORIES=5000 for the long one. */
const numberOfHistories = Number(process.env.ERRATA_HISTORIES ?? 200);
/** Every fourth one is also reconciled in the normal run, in the long one each. */
const sweepsEvery = process.env.ERRATA_HISTORIES === undefined ? 4 : 1;
const seed = process.env.ERRATA_SEED === undefined ? 8841 : Number(process.env.ERRATA_SEED);

let database: TestDatabase;
const rollups = new Map<string, TestErrata>();
/** Histories follow each other on one database, so that none has to be made anew: each begins where none has been. */
let epoch = 0;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.pool.query(`
    create schema bronze;
    create table bronze.event (id text, key text, source text, event_time timestamptz, ingested_at timestamptz, amount integer, delay interval);
    create index on bronze.event (key, event_time);
    create index on bronze.event (event_time);
    create table bronze.parted (like bronze.event) partition by range (ingested_at);
    create index on bronze.parted (key, event_time);
    create table bronze.log (at timestamptz, watermark timestamptz, idle boolean, source_partition text)`);
  for (const [name, policy] of Object.entries(policies)) {
    await database.pool.query(
      `create table bronze.${name}_overrides as
       select who, delay * interval '1 second' as delay, lateness * interval '1 second' as lateness
       from jsonb_to_recordset($1) as r (who text, delay integer, lateness integer)`,
      [JSON.stringify(overridesOf(policy))],
    );
    rollups.set(name, await openErrata(database, yamlOf(name, policy)));
  }
}, 60_000);

afterAll(async () => database.close());

test.each(Object.entries(policies))('%s', { timeout: 3_600_000 }, async (name, policy) => {
  const errata = rollups.get(name) as TestErrata;
  // Each run makes work tables, and what is left of them in the catalogue slows the next hundred runs.
  await errata.rows(
    'vacuum pg_catalog.pg_class, pg_catalog.pg_attribute, pg_catalog.pg_type, pg_catalog.pg_depend, pg_catalog.pg_index, pg_catalog.pg_statistic',
  );
  await fc.assert(
    fc.asyncProperty(histories, async (drawn) => {
      const history = policy.hasBridges ? withBridges(drawn, policy.gap ?? 0) : drawn;
      // a multiple of every window size, so that the model may count from 0
      epoch += 100_800;
      const sweeps = (epoch / 100_800) % sweepsEvery === 0;
      const expected = modelled(policy, history).filter((line) => sweeps || !line.startsWith('r '));
      expect(await published(errata, name, history, sweeps)).toEqual(expected);
    }),
    {
      numRuns: Math.ceil(numberOfHistories / Object.keys(policies).length),
      seed,
      interruptAfterTimeLimit: 3_600_000,
      endOnFailure: process.env.ERRATA_SHRINK === undefined,
    },
  );
});

function modelled(policy: Policy, history: History): string[] {
  const model = policy.gap ? new SessionModel(policy) : new Model(policy);
  for (const [run, bound] of history.bounds.entries()) {
    model.run(
      bound,
      history.rows.filter((_, place) => (history.visibleFrom[place] as number) <= run),
      history.log,
    );
  }
  const key = (text: string | null) => (text === null ? 'NULL' : `'${text}'`);
  return [
    restatedLine(policy, model.restated.length, model.restated),
    ...model.versions.map((v) =>
      [
        'v',
        v.window,
        ...(policy.gap ? [v.end] : []),
        key(v.key),
        v.version,
        v.count,
        v.sum ?? 'void',
        v.causes,
      ].join(' '),
    ),
    ...(model instanceof Model ? model.proposals : []).map((p) =>
      ['p', p.window, key(p.key), p.base, p.count, p.sum].join(' '),
    ),
    ...model.lateEvents.map((e) =>
      [
        'e',
        e.window ?? '-',
        ...(policy.gap ? [e.end ?? '-'] : []),
        policy.keyed ? key(e.row.key) : '',
        e.row.id,
        e.row.ingestedAt,
        e.landing,
        e.watermark ?? '-',
        e.state ?? '-',
        e.version ?? '-',
      ].join(' '),
    ),
  ].sort();
}

async function published(
  errata: TestErrata,
  name: string,
  history: History,
  sweeps: boolean,
): Promise<string[]> {
  const instant = (seconds: number) => new Date((epoch + seconds) * 1000).toISOString();
  const policy = policies[name] as Policy;
  const bronze = policy.partials ? 'bronze.parted' : 'bronze.event';
  if (policy.partials) await divide(errata, 'parted', epoch, instant);
  await errata.rows('truncate bronze.event, bronze.log');
  // Nor do source partitions remember the history before this one.
  await errata.rows('truncate errata.source_partition, errata.source_watermark_step');
  await errata.rows('update errata.rollup set first_instant = null');
  // Nor is the greatest delay of a history before one of this.
  await errata.rows('update errata.watermark_step set delay = null');
  const sources = policies[name]?.sources;
  for (const { at, watermark, source, kind } of history.log) {
    await errata.rows(
      'insert into bronze.log (at, watermark, source_partition, idle) values ($1, $2, $3, $4)',
      [
        instant(at),
        // an idle mark may carry a value, which is ignored
        sources && kind === 'wake' ? null : instant(watermark),
        sources ? source : null,
        sources !== undefined && kind === 'idle',
      ],
    );
  }
  for (const [run, bound] of history.bounds.entries()) {
    const rows = history.rows.filter((_, place) => history.visibleFrom[place] === run);
    await land(
      database,
      `insert into ${bronze} select id, key, source, event_time, ingested_at, amount, delay * interval '1 second'
       from jsonb_to_recordset($1) as r (id text, key text, source text, event_time timestamptz, ingested_at timestamptz, amount integer, delay integer)`,
      [
        JSON.stringify(
          rows.map((row) => ({
            ...row,
            event_time: instant(row.eventTime),
            ingested_at: instant(row.ingestedAt),
          })),
        ),
      ],
    );
    await errata.run({ bound: instant(bound) });
  }
  const key = policies[name]?.keyed ? 'quote_nullable(key)' : `''`;
  const range = `to_timestamp(${epoch} - 50000) and to_timestamp(${epoch} + 40000)`;
  // the watermark of the history before this one is none to the model
  const seconds = (column: string) =>
    `coalesce(nullif(greatest(extract(epoch from ${column})::bigint - ${epoch}, -50000), -50000)::text, '-')`;
  const end = policies[name]?.gap ? `, ${seconds('window_end')}` : '';
  const proposedKey = policies[name]?.keyed
    ? `coalesce(quote_nullable(proposal.key ->> 0), 'NULL')`
    : `'NULL'`;
  const rows = await errata.rows<{ line: string }>(
    `select concat_ws(' ', 'v', ${seconds('window_start')}${end}, ${policies[name]?.keyed ? key : `'NULL'`}, version, event_count, case when is_void then 'void' else amount::text end, array_to_string(causes, '+')) as line
     from gold.${name} where window_start between ${range}
     union all
     select concat_ws(' ', 'p', ${seconds('window_start')}, ${proposedKey}, base_version, event_count, measures ->> 'amount')
     from errata.proposal
     where rollup_id = ${errata.rollup.id} and state = 'open' and window_start between ${range}
     union all
     select concat_ws(' ', 'e', ${seconds('window_start')}${end}, ${key}, event_id, ${seconds('ingested_at')}, landing, ${seconds('watermark')}, coalesce(state, '-'), coalesce(version::text, '-'))
     from gold.${name}_late_event where landing is not null and ingested_at between ${range}`,
  );
  // R14, from the stored states: the view's sums must close; what moves from one session to another has no event
  const open = await errata.rows(
    `select * from gold.${name}_reconciliation
     where window_start between ${range} and (sealed_amount + corrections_amount <> latest_amount
       or corrections_amount <> late_firing_amount + straggler_amount + refused_amount${policies[name]?.gap ? ' + other_amount' : ''}
       or latest_amount + pending_amount + held_amount + waived_amount <> restated_amount)`,
  );
  expect(open).toEqual([]);
  const lines = rows.map((row) => row.line);
  if (!sweeps) return lines.sort();
  const { counts, totals, windows } = await reconciled(errata, {
    from: instant(-50_000),
    to: instant(40_000),
  });
  // what one id does in several windows, or with several values, is named; nothing else may be
  const named = ['conflict', 'copy in another window', 'counted by both'];
  expect(windows.filter(({ unexplained }) => unexplained.some((kind) => !named.includes(kind)))).toEqual([]);
  const restated = restatedLine(policies[name] as Policy, counts.bronze_events, totals?.[0]?.bronze);
  return [restated, ...lines].sort();
}

/** R14: what `reconcile` counts anew. Sums over windows that overlap are no totals, and it gives none. */
function restatedLine(
  { every, size }: Policy,
  events: string | number,
  amounts: string | undefined | readonly { readonly amount: number }[],
): string {
  const isTotal = every === undefined || every >= size;
  const sum = Array.isArray(amounts) ? amounts.reduce((all, { amount }) => all + amount, 0) : amounts;
  return `r ${events} ${isTotal ? sum : '-'}`;
}

/** What the user's table says of each source partition or key. */
function overridesOf({ sourceDelays, sourceLateness, keyDelays, keyLateness }: Policy) {
  const delays: Readonly<Record<string, number>> = sourceDelays ?? keyDelays ?? {};
  const latenesses: Readonly<Record<string, number>> = sourceLateness ?? keyLateness ?? {};
  const names = new Set([...Object.keys(delays), ...Object.keys(latenesses)]);
  return [...names].map((name) => ({
    who: name === 'null' ? null : name,
    delay: delays[name] ?? null,
    lateness: latenesses[name] ?? null,
  }));
}

function yamlOf(name: string, policy: Policy): string {
  const delay =
    policy.strategy === 'recorded'
      ? 'log: bronze.log'
      : policy.rowDelays
        ? `delay: { column: delay, default: ${policy.delay} s }`
        : `delay: ${policy.delay} s`;
  const { combine, idleAfter, declared } = policy.sources ?? {};
  const sources = [
    combine ? `, combine: ${combine}` : '',
    idleAfter ? `, idle_after: ${idleAfter} s` : '',
    declared ? `, source_partitions: [${declared.join(', ')}]` : '',
  ].join('');
  const isBySource = policy.sourceDelays || policy.sourceLateness;
  const column = policy.sources || isBySource ? ', source_partition: source' : '';
  const by = isBySource ? 'source_partition' : policy.keyDelays ? 'key' : undefined;
  const overrides = by
    ? `, overrides: { table: bronze.${name}_overrides, by: { ${by}: who }, delay: delay, allowed_lateness: lateness }`
    : '';
  return `
rollups:
  ${name}:
    gold: gold.${name}
    bronze: { table: ${policy.partials ? 'bronze.parted' : 'bronze.event'}, event_id: id, event_time: event_time, ingested_at: ingested_at${column}, complete_from: 0001-01-01 }
    window: ${policy.gap ? `{ session_gap: ${policy.gap} s }` : policy.every ? `{ hopping: ${policy.size} s, every: ${policy.every} s }` : `{ tumbling: ${policy.size} s }`}
    key: ${policy.keyed ? '[key]' : '[]'}
    measures: { amount: sum(amount) }
    watermark: { strategy: ${policy.strategy}, ${delay}, max_future_skew: ${policy.skew} s${sources}${overrides} }
    allowed_lateness: ${policy.rowLateness ? `{ column: delay, default: ${policy.lateness} s }` : `${policy.lateness} s`}
    seal: { by: errata }
    publish: { policy: ${policy.policy} }
    partials: ${policy.partials ?? false}
`;
}
