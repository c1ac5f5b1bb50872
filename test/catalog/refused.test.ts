import { describe, expect, test } from 'vitest';
import { applyRollup } from '../../src/catalog/apply.ts';
import { findCompleteFrom } from '../../src/catalog/complete-from.ts';
import { definitionOf, fingerprintOf } from '../../src/catalog/definition.ts';
import { describeRollup, type Fault } from '../../src/catalog/describe.ts';
import { describedRollup, openRollup } from '../../src/catalog/open.ts';
import { boundsOf, listPartitions } from '../../src/catalog/partitions.ts';
import { parseSettings } from '../../src/config/read-settings.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { runRollup } from '../../src/pipeline/run.ts';
import { type Orders, openOrders } from '../support/orders.ts';

interface Settings {
  readonly bronze?: string;
  readonly key?: string;
  readonly measures?: string;
}

const bronze =
  'table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01';

function settingsOf(changed: Settings = {}) {
  return parseSettings(
    `
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: { ${changed.bronze ?? bronze} }
    window: { calendar: 1 day, time_zone: UTC }
    key: ${changed.key ?? '[region]'}
    measures: ${changed.measures ?? '{ orders: count(*), revenue: sum(amount) }'}
    watermark: { strategy: bounded, delay: 1 hour }
    allowed_lateness: 24 hours
    seal: { by: errata }
    publish: { policy: auto }
`,
    'errata.yaml',
    {},
  );
}

async function open(orders: Orders, changed?: Settings) {
  const settings = settingsOf(changed);
  return await openRollup(orders.control, settings, settings.rollups[0] as never);
}

async function migrate(orders: Orders, changed?: Settings) {
  const settings = settingsOf(changed);
  return await inTransaction(orders.control, 'read committed', async (transaction) =>
    applyRollup(transaction, await describedRollup(transaction, settings, settings.rollups[0] as never)),
  );
}

async function faultsOf(orders: Orders, changed: Settings): Promise<string[]> {
  const settings = settingsOf(changed);
  const { faults } = await inTransaction(orders.control, 'read committed', (transaction) =>
    describeRollup(transaction, settings.schema, settings.rollups[0] as never),
  );
  return faults.map(
    ({ place, fact, hint }: Fault) => `${place.split('.').slice(2).join('.')}: ${fact}; ${hint}`,
  );
}

const integerAmounts = `
  create schema bronze;
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount integer)`;

describe('the type of a bronze column changes', () => {
  const retype = 'alter table bronze.orders alter column amount type numeric(12,2)';

  test('no run rounds to the old type: it asks for a migration', async () => {
    const orders = await openOrders({ ddl: integerAmounts });
    await orders.rows(retype);
    await expect(open(orders)).rejects.toMatchObject({
      exitCode: 2,
      message: 'rollup "daily_orders" has changed since it was migrated',
      hint: expect.stringContaining('run `errata migrate`'),
    });
  });

  test('a measure that becomes another type is refused, unless a cast keeps the old one', async () => {
    const orders = await openOrders({ ddl: integerAmounts });
    await orders.rows(retype);
    await expect(migrate(orders)).rejects.toMatchObject({
      exitCode: 2,
      message: 'rollup "daily_orders" cannot be changed in place',
      detail: 'type of measure revenue: "bigint" is now "numeric"',
      hint: expect.stringContaining('or keep its type: revenue: (sum(amount))::bigint'),
    });
    await migrate(orders, { measures: '{ orders: count(*), revenue: (sum(amount))::bigint }' });
    await open(orders, { measures: '{ orders: count(*), revenue: (sum(amount))::bigint }' });
  });

  test('where every measure keeps its type, a migration makes the functions anew', async () => {
    const measures = '{ orders: count(*), revenue: sum(amount::numeric) }';
    const orders = await openOrders({ ddl: integerAmounts, measures });
    await orders.rows(retype);
    await migrate(orders, { measures });
    const rollup = await open(orders, { measures });
    await orders.land('a 10-29 10:00 10-29 10:01 EU 2.55', 'pass 10-30 02:00 10-30 02:01 ZZ');
    await runRollup(orders.control, rollup, { bound: '2026-10-30T03:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 2.55"]);
  });

  test('a definition that an older version stored has no types, and is the same', async () => {
    const orders = await openOrders();
    const { types: _, ...untyped } = definitionOf(orders.rollup);
    const fingerprint = fingerprintOf(untyped);
    await orders.rows(
      "insert into errata.definition (fingerprint, rollup, definition, first_applied_at) values ($1, 'daily_orders', $2, now())",
      [fingerprint, JSON.stringify(untyped)],
    );
    await orders.rows('update errata.rollup set definition_fingerprint = $1', [fingerprint]);
    await open(orders);
    await migrate(orders);
    await open(orders);
  });
});

describe('the type of a key or measure', () => {
  const ddl = `
    create schema bronze;
    create type bronze.status as enum ('new', 'paid');
    create type bronze.pair as (a int, b int);
    create domain bronze.tags as text[];
    create domain bronze.code as varchar(8);
    create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric,
      list int[], tags bronze.tags, payload_json json, at_point point, pair bronze.pair, doc jsonb,
      status bronze.status, code bronze.code, span int4range, address cidr, label varchar(9), id uuid)`;

  test('keys that a run could not tell apart are refused', async () => {
    const orders = await openOrders({ ddl });
    const way = 'cast it in a view over bronze, such as to text, and name the view';
    expect(await faultsOf(orders, { key: '[list, tags, payload_json, at_point, pair]' })).toEqual([
      `key: column "list" has type integer[], which is an array: no key and an empty one would be one key; ${way}`,
      `key: column "tags" has type bronze.tags, which is an array: no key and an empty one would be one key; ${way}`,
      `key: column "payload_json" has type json, which has no order (no default operator class for btree); ${way}`,
      `key: column "at_point" has type point, which has no order (no default operator class for btree); ${way}`,
      `key: column "pair" has type bronze.pair, which is a row: one of NULLs would be no key; ${way}`,
    ]);
    expect(await faultsOf(orders, { key: '[status, code, span, address, label, id, doc]' })).toEqual([]);
  });

  test('a type of an extension is refused, under a domain too', async () => {
    const orders = await openOrders();
    const [there] = await orders.rows("select from pg_available_extensions where name = 'citext'");
    if (!there) return;
    await orders.rows('create extension citext schema public');
    await orders.rows('create domain bronze.mail as public.citext');
    await orders.rows('alter table bronze.orders add column name public.citext, add column mail bronze.mail');
    const faults = await faultsOf(orders, { key: '[name, mail]', measures: '{ first: max(name) }' });
    expect(faults).toHaveLength(2);
    for (const fault of faults) expect(fault).toContain('comes from an extension');
  });

  test('measures that could not be compared are refused', async () => {
    const orders = await openOrders({ ddl });
    const measures =
      '{ a: json_agg(amount), b: array_agg(at_point), c: jsonb_agg(amount), d: array_agg(amount), e: max(status), f: max(address), g: range_agg(span) }';
    const faults = await faultsOf(orders, { measures });
    expect(faults.map((fault) => fault.split(', whose')[0])).toEqual([
      'measures.a: "json_agg(amount)" has type json',
      'measures.b: "array_agg(at_point)" has type point[]',
    ]);
  });
});

describe('measures', () => {
  test.each([
    ['sum((select 1))', 'has a subquery'],
    ['count(*) filter (where exists (select from bronze.orders))', 'has a subquery'],
    ["count(*) filter (where ordered_at < now() - interval '1 day')", 'depends on the moment'],
    ['count(*) filter (where ordered_at < current_timestamp)', 'depends on the moment'],
    ['count(*) filter (where region = current_user)', 'depends on the moment'],
    ['max(age(ordered_at))', 'depends on the moment'],
    ["max(current_setting('TimeZone'))", 'depends on the moment'],
    ['count(*) filter (where ordered_at < clock_timestamp())', 'changes from call to call'],
  ])('%s cannot be computed again', async (expression, fact) => {
    const orders = await openOrders();
    const faults = await faultsOf(orders, { measures: `{ odd: "${expression}" }` });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fact);
  });

  test('a name is no subquery, and only numbers are additive', async () => {
    const orders = await openOrders();
    await orders.rows('alter table bronze.orders add column "{SUBLINK x" int');
    const additive = (expression: string) => `{ m: { value: '${expression}', additive: true } }`;
    expect(await faultsOf(orders, { measures: '{ m: \'sum("{SUBLINK x")\' }' })).toEqual([]);
    expect(await faultsOf(orders, { measures: additive('sum(amount) filter (where amount > 0)') })).toEqual(
      [],
    );
    expect(await faultsOf(orders, { measures: additive('max(region)') })).toEqual([
      'measures.m: only numbers are additive, and "max(region)" has type text; leave additive out, or cast it to a number',
    ]);
  });
});

describe('names', () => {
  test('a used column with a name of our own is refused; others may have any', async () => {
    const orders = await openOrders();
    await orders.rows(
      'alter table bronze.orders add column payload int, add column window_start int, add column errata_x int, add column place int, add column "T" int',
    );
    expect(
      await faultsOf(orders, {
        measures: '{ s: sum(payload), w: max(window_start), x: max(errata_x), u: max("T") }',
      }),
    ).toEqual([
      'bronze.table: column "payload", which the rollup uses, has a name that the statements of a run use themselves; rename it in a view over bronze, and name the view',
      'bronze.table: column "window_start", which the rollup uses, has a name that the statements of a run use themselves; rename it in a view over bronze, and name the view',
      'bronze.table: column "errata_x", which the rollup uses, has a name that begins with errata_, which Errata keeps for itself; rename it in a view over bronze, and name the view',
    ]);
    const id = await faultsOf(orders, { bronze: bronze.replace('order_id', 'place') });
    expect(id).toHaveLength(1);
    expect(await faultsOf(orders, {})).toEqual([]);
  });

  test('keys and measures cannot have one either', () => {
    for (const name of ['place', 'payload', 'target', 'why', 'verdict', 'copies', 'since', 't'])
      expect(() => settingsOf({ measures: `{ ${name}: count(*) }` })).toThrow();
    expect(() => settingsOf({ key: '[old_version]' })).toThrow();
  });
});

const columns =
  'order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2)';
const uncertain = bronze.replace(', complete_from: 2026-01-01', '');

/** Bronze divided so, with its partitions. */
function divided(by: string, ...partitions: string[]): string {
  return [
    'create schema bronze',
    `create table bronze.orders (${columns}, id bigint, event_zone text) partition by ${by}`,
    ...partitions.map((partition, place) => `create table bronze.p${place} partition of bronze.${partition}`),
  ].join(';\n');
}

describe('partitions', () => {
  test.each([
    [
      'by range of ingestion',
      divided(
        'range (ingested_at)',
        "orders for values from ('2026-10-25 00:00+00') to ('2026-10-26 00:00+00')",
        "orders for values from ('2026-10-26 00:00+00') to ('2026-10-27 00:00+00')",
        'orders default',
      ),
      '2026-10-25 00:00:00+00 partition',
    ],
    [
      'by range of ingestion, then by list',
      divided(
        'range (ingested_at)',
        "orders for values from ('2026-10-25 00:00+00') to ('2026-10-26 00:00+00') partition by list (region)",
        "p0 for values in ('EU', null)",
        'p0 default',
      ),
      '2026-10-25 00:00:00+00 partition',
    ],
    [
      'by list, then by range of ingestion',
      divided(
        'list (region)',
        "orders for values in ('EU') partition by range (ingested_at)",
        "p0 for values from ('2026-10-25 00:00+00') to ('2026-10-26 00:00+00')",
        "orders for values in ('US') partition by range (ingested_at)",
        "p2 for values from ('2026-10-24 00:00+00') to ('2026-10-26 00:00+00')",
      ),
      '2026-10-24 00:00:00+00 partition',
    ],
    [
      'without a lower end',
      divided('range (ingested_at)', "orders for values from (minvalue) to ('2026-10-26 00:00+00')"),
      '-infinity empty',
    ],
    [
      'by number',
      divided('range (id)', 'orders for values from (20200101) to (20300101)'),
      '-infinity empty',
    ],
    [
      'by number and ingestion',
      divided(
        'range (id, ingested_at)',
        "orders for values from (1, '2026-10-25 00:00+00') to (2, '2026-10-26 00:00+00')",
      ),
      '-infinity empty',
    ],
    [
      'by event time',
      divided(
        'range (ordered_at)',
        "orders for values from ('2026-10-25 00:00+00') to ('2026-10-26 00:00+00')",
      ),
      '-infinity empty',
    ],
  ])('complete from: %s', async (_, ddl, expected) => {
    const orders = await openOrders({ ddl, bronze: `{ ${uncertain} }` });
    const found = await inTransaction(orders.control, 'read committed', (transaction) =>
      findCompleteFrom(transaction, orders.rollup),
    );
    expect(`${found.instant} ${found.source}`).toBe(expected);
  });

  test('only a partition whose own upper bound of ingestion is behind is past', async () => {
    const orders = await openOrders({
      ddl: divided(
        'range (ingested_at)',
        "orders for values from ('2026-10-25 00:00+00') to ('2026-10-26 00:00+00')",
        "orders for values from ('2026-10-26 00:00+00') to ('2026-10-27 00:00+00')",
        'orders default',
      ),
    });
    const past = await inTransaction(orders.control, 'read committed', async (transaction) =>
      (
        await listPartitions(transaction, orders.rollup, { frontier: '2026-10-26 12:00+00', bound: null })
      ).map((partition) => `${partition.relation} ${partition.is_past}`),
    );
    expect(past).toEqual(['bronze.p0 true', 'bronze.p1 false', 'bronze.p2 false']);
  });

  test('divided by an expression over columns that the rollup does not read, it runs', async () => {
    const orders = await openOrders({
      ddl: divided(
        "range (((ingested_at at time zone 'UTC')::date), (lower(event_zone)))",
        "orders for values from ('2026-10-25', minvalue) to ('2026-11-10', minvalue)",
        'orders default',
      ),
    });
    await orders.land('a 10-29 10:00 10-29 10:01', 'pass 10-30 02:00 10-30 02:01 ZZ');
    await orders.run({ bound: '2026-10-30T03:00Z' });
    await orders.land('late 10-29 12:00 10-30 04:00 EU 7');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10.00", "10-29 'EU' v2 2 17.00 late_firing"]);
  });

  test.each([
    [
      "((at IS NOT NULL) AND (at >= '2026-10-29 00:00:00+00'::timestamp with time zone) AND (at < '2026-10-30 00:00:00+00'::timestamp with time zone))",
      '2026-10-29 00:00:00+00 2026-10-30 00:00:00+00',
    ],
    [
      "((k IS NOT NULL) AND (at IS NOT NULL) AND ((k > 1) OR ((k = 1) AND (at >= '2026-10-29 00:00:00+00'::timestamp with time zone))) AND (k < 9))",
      'null null',
    ],
    ["(NOT ((at IS NOT NULL) AND (at >= '2026-10-29'::date) AND (at < '2026-10-30'::date)))", 'null null'],
    [
      "((region IS NOT NULL) AND (region = ') OR (''('::text) AND (at IS NOT NULL) AND (at >= '2026-10-29'::date))",
      '2026-10-29 null',
    ],
    ['', 'null null'],
  ])('bounds of %s', (constraint, expected) => {
    const { lower, upper } = boundsOf(constraint, 'at');
    expect(`${lower} ${upper}`).toBe(expected);
  });

  test('bounds of a column with a hostile name', () => {
    expect(
      boundsOf(`(("a ""("" b" IS NOT NULL) AND ("a ""("" b" < '2026-10-30'::date))`, 'a "(" b').upper,
    ).toBe('2026-10-30');
  });
});
