/** `errata reconcile` as a person calls it: text, JSON, exit codes, what is kept, and a table of totals kept elsewhere. */
import { beforeAll, expect, test } from 'vitest';
import { reconcile } from '../../src/commands/reconcile.ts';
import { call } from '../report/verb-context.ts';
import { type Orders, openOrders, ordersYaml } from '../support/orders.ts';
import { type Ended, errata, workDirectory } from './command.ts';

const measures = '{ orders: count(*), revenue: sum(amount), greatest: max(amount) }';
let orders: Orders;
let directory: string;
const spawned = (...words: string[]): Promise<Ended> => errata(directory, orders.database.url, ...words);

beforeAll(async () => {
  orders = await openOrders({ policy: 'grace', measures });
  directory = workDirectory(ordersYaml({ policy: 'grace', measures }));
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 10',
    'b 10-29 11:00 10-29 11:01 US 20',
    'c 10-30 11:00 10-30 11:01 EU 4',
    'd 10-31 11:00 10-31 11:01 EU 4',
    'w 11-02 01:30 11-02 01:31 EU 5',
    'late 10-29 10:00 11-03 10:00 EU 17',
  );
  await orders.run({ bound: '2026-11-05T00:00:00Z' });
});

test('a period that adds up: the totals, and what awaits someone', async () => {
  const { exitCode, stdout, stderr } = await spawned(
    'reconcile',
    'daily_orders',
    '--period',
    '2026-10',
    '--actor',
    'ada',
  );
  expect(stderr).toBe('daily_orders: windows, 100 %\ndaily_orders: names\ndaily_orders: event ids\n');
  expect(
    stdout,
  ).toBe(`daily_orders, 2026-10: windows from 2026-10-01 00:00:00Z to 2026-11-01 00:00:00Z, sealed until 2026-11-02 00:30:00Z, examined up to 2026-11-05 00:00:00Z
4 keyed windows: 3 identical, 1 explained, 0 unexplained
  explained by: pending 1

           orders  revenue
sealed          4    38.00
latest          4    38.00
  pending      +1   +17.00
restated        5    55.00
bronze          5    55.00

Everything adds up. Kept as reconciliation 1.
`);
  expect(exitCode).toBe(0);
  // of a measure that does not add up, what was counted anew
  expect(
    await orders.rows(
      `select window_start::date::text as day, region, latest_greatest, restated_greatest, pending_greatest
       from gold.daily_orders_reconciliation order by 1, 2`,
    ),
  ).toEqual([
    {
      day: '2026-10-29',
      region: 'EU',
      latest_greatest: '10.00',
      restated_greatest: '17.00',
      pending_greatest: null,
    },
    {
      day: '2026-10-29',
      region: 'US',
      latest_greatest: '20.00',
      restated_greatest: '20.00',
      pending_greatest: null,
    },
    {
      day: '2026-10-30',
      region: 'EU',
      latest_greatest: '4.00',
      restated_greatest: '4.00',
      pending_greatest: null,
    },
    {
      day: '2026-10-31',
      region: 'EU',
      latest_greatest: '4.00',
      restated_greatest: '4.00',
      pending_greatest: null,
    },
  ]);
  expect(
    await orders.rows(
      "select period, actor, run_id, range_from::text, counts->>'identical' as identical from errata.reconciliation",
    ),
  ).toEqual([
    { period: '2026-10', actor: 'ada', run_id: '1', range_from: '2026-10-01 00:00:00+00', identical: '3' },
  ]);
  // identical windows are not kept one by one
  expect(await orders.rows('select key, status, explained_by from errata.reconciled_window')).toEqual([
    { key: ['EU'], status: 'explained', explained_by: ['pending'] },
  ]);
});

test('something is unexplained: exit code 3, the window and the event by name, and everything in JSON', async () => {
  await orders.rows(`begin; set local session_replication_role = replica;
    delete from gold.daily_orders_late_event where event_id = 'late'; commit`);
  const { exitCode, stdout } = await spawned(
    'reconcile',
    'daily_orders',
    '--from',
    '2026-10-29',
    '--to',
    '2026-10-30',
  );
  expect(exitCode).toBe(3);
  expect(stdout).toContain(`
Unexplained:
  2026-10-29, region EU: counted by neither; orders 1 accounted for, 2 in bronze (+1); revenue 10.00 accounted for, 27.00 in bronze (+17.00)
    counted by neither: event late

1 keyed window is UNEXPLAINED. Kept as reconciliation 2.
`);
  const json = await spawned(
    '--json',
    'reconcile',
    'daily_orders',
    '--period',
    '2026-10',
    '--key',
    'region=EU',
  );
  const data = JSON.parse(json.stdout);
  expect(json.exitCode).toBe(3);
  expect(data).toMatchObject({
    rollup: 'daily_orders',
    key: { region: 'EU' },
    counts: {
      keyed_windows: '3',
      unexplained_by: { 'counted by neither': { keyed_windows: '1', events: '1' } },
    },
    windows: [
      {
        status: 'unexplained',
        measures: { revenue: { unexplained: '17.00' }, greatest: { bronze: '17.00' } },
      },
    ],
    events: [{ kind: 'counted by neither', event_id: 'late', key: { region: 'EU' } }],
  });
  // the hash is of what is kept
  const [hash] = await orders.rows(
    `select encode(sha256(string_agg(sha256(convert_to((to_jsonb(w) - 'reconciliation_id')::text, 'UTF8')), ''::bytea order by window_start, window_end, key)), 'hex') as hash
     from errata.reconciled_window as w where reconciliation_id = $1`,
    [data.reconciliation_id],
  );
  expect(hash).toEqual({ hash: data.result_hash });
});

test.each(['reconciliation', 'reconciled_window', 'reconciled_event'])('%s is a record', async (table) => {
  for (const act of [
    `update errata.${table} set ${table === 'reconciliation' ? 'actor' : 'key'} = null`,
    `delete from errata.${table}`,
    `truncate errata.${table} cascade`,
  ]) {
    const refusal = orders.rows(
      `do $$ begin perform set_config('session_replication_role', 'replica', true); ${act}; end $$`,
    );
    await expect(refusal).rejects.toThrow(/of what was reconciled is refused/);
  }
});

test('against a table that has an older version, another number, a row too few and one too many', async () => {
  const other = await openOrders({ policy: 'auto' });
  await other.land(
    'a 10-26 10:00 10-26 10:01 EU 10',
    'b 10-27 10:00 10-27 10:01 EU 10',
    'c 10-28 10:00 10-28 10:01 EU 10',
    'd 10-29 10:00 10-29 10:01 EU 10',
    'e 10-30 10:00 10-30 10:01 EU 10',
    'w 11-02 01:30 11-02 01:31 EU 5',
  );
  await other.run({ bound: '2026-11-03T00:00:00Z' });
  await other.land('l1 10-27 10:00 11-03 10:00 EU 7');
  await other.run({ bound: '2026-11-04T00:00:00Z' });
  await other.rows(`create schema mail; create table mail.october (tag date, land text, total_eur numeric)`);
  await other.rows(`insert into mail.october values
    ('2026-10-26', 'EU', 10.0), ('2026-10-27', 'EU', 10), ('2026-10-28', 'EU', 11), ('2026-10-30', 'EU', 10), ('2026-10-25', 'US', 1)`);
  const flags = {
    period: '2026-10',
    against: 'mail.october',
    columns: ['local_date=tag,region=land', 'revenue=total_eur'],
  };
  const { exitCode, text } = await call(reconcile, other, ['daily_orders'], flags);
  const stood = /stood from \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ to \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/;
  expect(text).toMatch(stood);
  expect(text.replace(stood, 'stood …')).toContain(`
mail.october has: the latest version of 2 keyed windows; what was sealed of 1 keyed window; nothing that was published or is in bronze of 1 keyed window; 1 keyed window not in the table; 1 keyed window only in the table
  2026-10-25, region US: only it has it; revenue 1
  2026-10-27, region EU: version 1, which stood …; revenue 10, latest 17.00
  2026-10-28, region EU: none of its versions; revenue 11, latest 10.00
  2026-10-29, region EU: it lacks it; revenue 10.00
`);
  expect(exitCode).toBe(3);
  expect(
    await other.rows(
      "select status, outside->'equals' as equals from errata.reconciled_window order by window_start",
    ),
  ).toEqual([
    { status: 'outside', equals: [] },
    { status: 'explained', equals: ['sealed'] },
    { status: 'identical', equals: [] },
    { status: 'identical', equals: [] },
  ]);
  await other.rows("insert into mail.october values ('2026-10-26', 'EU', 10)");
  await expect(call(reconcile, other, ['daily_orders'], flags)).rejects.toMatchObject({
    message: 'mail.october has keyed windows more than once',
    detail: 'such as 2026-10-26 EU, 2 rows',
    exitCode: 2,
  });
});

test.each<[string, string[] | undefined, string]>([
  ['october', undefined, '--against "october" lacks the schema'],
  ['mail.november', undefined, 'there is no table or view mail.november'],
  ['bronze.orders', ['profit=amount'], 'the rollup has no column "profit"'],
  ['bronze.orders', ['revenue=amounts'], 'bronze.orders has no column "amounts"'],
  ['bronze.orders', ['revenue'], 'is no pair'],
  ['bronze.orders', undefined, 'it has neither "window_start" nor "local_date"'],
  ['bronze.orders', ['window_start=region,revenue=amount'], 'has type text, which is no instant'],
  ['bronze.orders', ['local_date=order_id,revenue=amount'], 'bronze.orders cannot be read'],
])('a table that does not fit: %s %s', async (against, columns, said) => {
  await refused({ period: '2026-10', against, ...(columns ? { columns } : {}) }, said);
});

test.each<[Parameters<typeof reconcile.execute>[2], string]>([
  [{}, 'nothing says which windows to reconcile'],
  [{ period: '2026-13' }, '"2026-13" is not a month'],
  [{ period: 'October' }, '"October" is not a month'],
  [{ period: '2026-10', from: '2026-10-01' }, '--period and --from or --to contradict each other'],
  [{ from: 'yesterday' }, '--from "yesterday"'],
  [{ period: '2026-10', key: ['country=DE'] }, '"country=DE" names no key column'],
  [{ period: '2026-10', columns: ['revenue=x'] }, '--columns says nothing without --against'],
])('bad input: %j', async (flags, said) => {
  await refused(flags, said);
});

async function refused(flags: Parameters<typeof reconcile.execute>[2], said: string): Promise<void> {
  const failure = await call(reconcile, orders, ['daily_orders'], flags).catch((error: unknown) => error);
  const { message, detail, exitCode } = failure as { message: string; detail?: string; exitCode: number };
  expect({ exitCode, said: `${message}\n${detail}`.includes(said) || message }).toEqual({
    exitCode: 2,
    said: true,
  });
}

test('a period of which nothing is sealed', async () => {
  const { exitCode, text } = await call(reconcile, orders, ['daily_orders'], { period: '2026-12' });
  expect(exitCode).toBe(0);
  expect(text).toContain('0 keyed windows: 0 identical, 0 explained, 0 unexplained');
});

test('a period of a calendar of your own', async () => {
  const own = await openOrders({ periods: '{ table: finance.quarters, period: name }' });
  await own.rows(`create schema finance; create table finance.quarters (name text, starts_at timestamptz, ends_at timestamptz);
    insert into finance.quarters values ('2026Q4', '2026-10-30 00:00+00', '2027-01-01 00:00+00')`);
  await own.land('a 10-29 10:00 10-29 10:01', 'b 10-30 10:00 10-30 10:01', 'w 11-02 01:30 11-02 01:31');
  await own.run({ bound: '2026-11-05T00:00:00Z' });
  const { text } = await call(reconcile, own, ['daily_orders'], { period: '2026Q4' });
  expect(text).toContain('1 keyed window: 1 identical, 0 explained, 0 unexplained');
  await expect(call(reconcile, own, ['daily_orders'], { period: '2026-10' })).rejects.toMatchObject({
    message: 'rollup "daily_orders" has no period "2026-10"',
    exitCode: 2,
  });
});
