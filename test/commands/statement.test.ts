/** `errata statement`: what it says of an instant stays what it said, whatever comes later. Figures are worked out by hand. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  createReadStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { beforeAll, describe, expect, test } from 'vitest';
import { statement } from '../../src/commands/statement.ts';
import { approveProposals, rejectProposals } from '../../src/publication/decide.ts';
import { makeMark } from '../../src/publication/marks.ts';
import { closePeriod, reopenPeriod } from '../../src/publication/periods.ts';
import { releaseEvents } from '../../src/publication/release.ts';
import { waiveEvents } from '../../src/publication/waive.ts';
import { call, settingsOf } from '../report/verb-context.ts';
import { openErrata } from '../support/errata.ts';
import { type Orders, openOrders, ordersYaml } from '../support/orders.ts';
import { reconciled } from '../support/reconcile.ts';
import {
  bytesOf,
  csvRows,
  statementDirectory,
  verifyStatement,
  writeStatement,
} from '../support/statement.ts';
import { errata, workDirectory } from './command.ts';

const ada = { actor: 'ada', reason: 'ticket 311' };
const october = { from: '2026-10-01Z', to: '2026-11-01Z' };

describe('what was known at a mark', () => {
  const directory = statementDirectory();
  let orders: Orders;
  const marks: string[] = [];
  /** Pins this moment, and writes its statement at once. */
  const pin = async (name: string) => {
    await makeMark(orders.control, settingsOf(orders), name, 'ada');
    const { exitCode } = await writeStatement(orders, join(directory, `${marks.length}`), { mark: name });
    expect(exitCode).toBe(0);
    marks.push(name);
  };

  beforeAll(async () => {
    orders = await openOrders({ policy: 'review', lateness: '24 hours' });
    await orders.land(
      'a 10-29 10:00 10-29 10:01 EU 20',
      'b 10-29 11:00 10-29 11:01 US 30',
      'jump 10-30 10:00 10-30 10:00 ZZ 1',
    );
    await orders.run({ bound: '2026-10-30T11:00Z' });
    await pin('sealed');
    // fires late: proposed under review
    await orders.land('c 10-29 12:00 10-30 11:30 EU 5');
    await orders.run({ bound: '2026-10-30T12:00Z' });
    await pin('proposed');
    // joins the proposal, which becomes another one
    await orders.land('d 10-29 13:00 10-30 12:30 EU 7', 'e 10-29 14:00 10-30 12:31 US 9');
    await orders.run({ bound: '2026-10-30T13:00Z' });
    await pin('proposed anew');
    const at13 = { bound: '2026-10-30T13:00Z' };
    await approveProposals(orders.control, orders.rollup, { ...ada, key: { region: 'EU' } }, at13);
    await pin('approved');
    await rejectProposals(orders.control, orders.rollup, { ...ada, key: { region: 'US' } }, at13);
    await pin('rejected');
    await waiveEvents(orders.control, orders.rollup, { ...ada, eventIds: ['d'] });
    await pin('waived');
    await releaseEvents(
      orders.control,
      orders.rollup,
      { ...ada, eventIds: ['d'] },
      { bound: '2026-10-30T14:00Z' },
    );
    await pin('taken in again');
    await reconciled(orders, october, { period: '2026-10' });
    await pin('swept');
    // refused, and held by the close
    await orders.land('jump2 11-02 10:00 11-02 10:00 ZZ 1');
    await orders.land('f 10-29 15:00 11-02 11:00 EU 11');
    await orders.run({ bound: '2026-11-02T12:00Z' });
    await pin('refused');
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-10' });
    await pin('closed');
    const [soon] = await orders.rows<{ soon: string }>(
      `select (clock_timestamp() + interval '1 hour')::text as soon`,
    );
    await reopenPeriod(orders.control, orders.rollup, {
      ...ada,
      period: '2026-10',
      until: soon?.soon as string,
    });
    await pin('reopened');
    // deleted behind our back: named by a sweep, and by a run once somebody says so
    await orders.rows(`delete from bronze.orders where order_id = 'b'`);
    await reconciled(orders, october, { period: '2026-10' });
    await pin('deleted');
  }, 120_000);

  const totals = (place: number) => {
    const row = csvRows(join(directory, `${place}`), 'totals.csv').find(
      ({ measure }) => measure === 'revenue',
    );
    const { sealed, latest, pending, held, waived, restated, unexplained, true: truth } = row ?? {};
    return [sealed, latest, pending, held, waived, restated, unexplained, truth].join(' ');
  };

  test('the figures of each moment', () => {
    const moments = Object.fromEntries(marks.map((name, place) => [name, totals(place)]));
    expect(moments).toEqual({
      // 20 + 30
      sealed: '50.00 50.00 0 0 0 50.00  50.00',
      proposed: '50.00 50.00 5.00 0 0 55.00  55.00',
      // 5 + 7 + 9
      'proposed anew': '50.00 50.00 21.00 0 0 71.00  71.00',
      approved: '50.00 62.00 9.00 0 0 71.00  71.00',
      rejected: '50.00 62.00 0 0 9.00 71.00  71.00',
      waived: '50.00 55.00 0 0 16.00 71.00  71.00',
      'taken in again': '50.00 62.00 0 0 9.00 71.00  71.00',
      swept: '50.00 62.00 0 0 9.00 71.00 0 71.00',
      // the day of the 30th and its one order are sealed by then; 11 more
      refused: '51.00 63.00 11.00 0 9.00 83.00 0 83.00',
      closed: '51.00 63.00 0 11.00 9.00 83.00 0 83.00',
      reopened: '51.00 63.00 11.00 0 9.00 83.00 0 83.00',
      deleted: '51.00 63.00 11.00 0 9.00 83.00 -30.00 53.00',
    });
  });

  test('is what it was, to the byte, after all that came later', async () => {
    for (const [place, name] of marks.entries()) {
      const again = join(directory, `again-${place}`);
      await writeStatement(orders, again, { mark: name });
      expect([name, bytesOf(again)]).toEqual([name, bytesOf(join(directory, `${place}`))]);
    }
  });

  test('and after a measure came to the definition, and another policy', async () => {
    const changed = await openErrata(
      orders.database,
      ordersYaml({
        policy: 'grace',
        lateness: '12 hours',
        measures: '{ revenue: sum(amount), largest: max(amount), orders: count(*) }',
      }),
    );
    // each takes half a second: one of each kind
    for (const place of ['proposed', 'waived', 'closed'].map((name) => marks.indexOf(name))) {
      const found = await verifyStatement(changed, join(directory, `${place}`));
      expect(found).toMatchObject({ exitCode: 0, data: { differences: [] } });
    }
    // what comes now has the new measure, and both definitions
    await makeMark(changed.control, settingsOf(changed), 'with the largest', 'ada');
    await writeStatement(changed, join(directory, 'largest'), { mark: 'with the largest' });
    expect(csvRows(join(directory, 'largest'), 'windows.csv')[0]).toHaveProperty('latest_largest', '');
    expect(
      new Set(
        csvRows(join(directory, 'largest'), 'settings.csv').map((row) => `${row.in_force} ${row.versions}`),
      ),
    ).toEqual(new Set(['true 0', 'false 6']));
  });

  test('who said what, by then', () => {
    const acts = (place: number) =>
      csvRows(join(directory, `${place}`), 'acts.csv').map(
        (row) => `${row.act} ${row.actor} ${row.versions} ${row.events} ${row.proposals}`,
      );
    expect(acts(marks.indexOf('proposed'))).toEqual([]);
    expect(acts(marks.indexOf('reopened'))).toEqual([
      'approve ada 1 2 1',
      'reject ada 0 1 1',
      'waive ada 1 1 0',
      'publish ada 1 1 0',
      'hard_close ada 0 1 0',
      'reopen ada 0 1 0',
    ]);
  });

  test('what no sweep could explain, and the event that it named', () => {
    expect(csvRows(join(directory, `${marks.indexOf('deleted')}`), 'unexplained.csv')).toMatchObject([
      {
        region: 'US',
        restated_revenue: '39.00',
        bronze_revenue: '9.00',
        unexplained_revenue: '-30.00',
        stands: 'true',
      },
    ]);
  });

  test('a change of a state that no run made is found', async () => {
    await orders.rows(`update gold.daily_orders_late_event set state = 'waived' where event_id = 'f'`);
    const found = await verifyStatement(orders, join(directory, `${marks.indexOf('deleted')}`));
    expect(found.exitCode).toBe(3);
    expect(found.text).toMatch(
      /outdated events\.csv: line \d+: .*,f,side_output,pending,.* there, .*,f,side_output,waived,/,
    );
  });
});

describe('one that was written', () => {
  const directory = statementDirectory();
  let orders: Orders;
  beforeAll(async () => {
    orders = await openOrders({ policy: 'grace' });
    await orders.land('a 10-29 10:00 10-29 10:01 EU 20', 'w 11-01 10:00 11-01 10:00 EU 1');
    await orders.run({ bound: '2026-11-01T11:00Z' });
    await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-10' });
    await writeStatement(orders, join(directory, 'october'));
  }, 60_000);

  test('is checked without Errata: sha256sum reads its sums', () => {
    const checked = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
      cwd: join(directory, 'october'),
      encoding: 'utf8',
    });
    const files = readdirSync(join(directory, 'october')).filter((file) => file !== 'SHA256SUMS');
    expect(checked.trim().split('\n').sort()).toEqual(files.map((file) => `${file}: OK`).sort());
  });

  test('written again into its directory it is there already; another is refused, and nothing is left behind', async () => {
    expect((await writeStatement(orders, join(directory, 'october'))).text).toContain('holds it already');
    const [last] = await orders.rows<{ at: string }>('select settled_until::text as at from errata.rollup');
    await expect(
      writeStatement(orders, join(directory, 'october'), { at: last?.at as string }),
    ).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('is not empty') });
    mkdirSync(join(directory, 'empty'));
    expect((await writeStatement(orders, join(directory, 'empty'))).exitCode).toBe(0);
    expect(readdirSync(directory).sort()).toEqual(['empty', 'october']);
  });

  test('a figure that was edited, a file that came, and one that went', async () => {
    const copy = join(directory, 'edited');
    await writeStatement(orders, copy);
    const path = join(copy, 'totals.csv');
    writeFileSync(path, readFileSync(path, 'utf8').replace('20.00', '21.00'));
    writeFileSync(join(copy, 'note.txt'), '');
    expect(await verifyStatement(orders, copy)).toMatchObject({
      exitCode: 3,
      data: {
        differences: [
          { file: 'totals.csv', what: 'edited' },
          { file: 'note.txt', what: 'unknown' },
        ],
      },
    });
  });

  test('one whose manifest was made to fit is found by the database', async () => {
    const copy = join(directory, 'forged');
    await writeStatement(orders, copy);
    const manifest = readFileSync(join(copy, 'manifest.json'), 'utf8');
    writeFileSync(join(copy, 'manifest.json'), manifest.replace(/"head": "./, '"head": "x'));
    const found = await verifyStatement(orders, copy);
    expect(found.exitCode).toBe(3);
    expect(found.text).toContain('outdated manifest.json: digest: ');
  });

  test('a version that was edited with the guard disabled', async () => {
    await orders.rows('alter table gold.daily_orders disable trigger errata_refuse_change');
    await orders.rows(`update gold.daily_orders set revenue = 21 where window_start = '2026-10-29Z'`);
    const found = await verifyStatement(orders, join(directory, 'october'));
    await orders.rows(`update gold.daily_orders set revenue = 20.00 where window_start = '2026-10-29Z'`);
    await orders.rows('alter table gold.daily_orders enable always trigger errata_refuse_change');
    expect(found.exitCode).toBe(3);
    expect(found.text).toMatch(
      /outdated totals\.csv: line 3: revenue,20\.00,.* there, revenue,21,.* in the database/,
    );
    expect((await verifyStatement(orders, join(directory, 'october'))).exitCode).toBe(0);
  });
});

test('the same to the byte by the command itself, in another time zone and locale', async () => {
  const orders = await openOrders({ policy: 'grace' });
  await orders.land('a 10-29 10:00 10-29 10:01 EU 20', 'w 11-01 10:00 11-01 10:00 EU 1');
  await orders.run({ bound: '2026-11-01T11:00Z' });
  await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-10' });
  const directory = workDirectory(`database: \${DATABASE_URL}\n${ordersYaml({ policy: 'grace' })}`);
  await writeStatement(orders, join(directory, 'here'));
  const there = await errata(
    directory,
    orders.database.url,
    'statement',
    'daily_orders',
    '--period',
    '2026-10',
    '--out',
    'there',
    '--json',
  );
  expect(there.stderr).toBe('');
  expect(JSON.parse(there.stdout)).toMatchObject({ mark: 'daily_orders 2026-10 close', is_there: false });
  expect(bytesOf(join(directory, 'there'))).toEqual(bytesOf(join(directory, 'here')));
  const away = workDirectory();
  execFileSync(
    process.execPath,
    [
      join(import.meta.dirname, '../../bin/errata.mjs'),
      '--config',
      join(directory, 'errata.yaml'),
      'statement',
      'daily_orders',
      '--period',
      '2026-10',
      '--out',
      join(away, 'far'),
    ],
    {
      cwd: away,
      env: {
        ...process.env,
        DATABASE_URL: orders.database.url,
        TZ: 'Pacific/Kiritimati',
        LC_ALL: 'de_DE.UTF-8',
        PGTZ: 'America/St_Johns',
      },
    },
  );
  expect(bytesOf(join(away, 'far'))).toEqual(bytesOf(join(directory, 'here')));
  appendFileSync(join(away, 'far', 'days.csv'), '\n');
  const verified = await errata(directory, orders.database.url, 'statement', '--verify', join(away, 'far'));
  expect(verified.exitCode).toBe(3);
  expect(verified.stdout).toContain('edited   days.csv');
}, 60_000);

test('texts that a spreadsheet would take for formulas, ids with all their digits, NULL and the empty text', async () => {
  const orders = await openOrders({ policy: 'grace', lateness: '0' });
  await orders.land(
    'a 10-29 10:00 10-29 10:01 =1+1 -5.10',
    "b 10-29 10:00 10-29 10:01 '' 1",
    'c 10-29 10:00 10-29 10:01 NULL 2',
  );
  await orders.land(
    'w 11-01 10:00 11-01 10:00 EU 1',
    '12345678901234567890 10-29 10:00 11-01 10:01 =1+1 -5.10',
  );
  await orders.run({ bound: '2026-11-01T11:00Z' });
  await closePeriod(orders.control, orders.rollup, { actor: '@ada', reason: "'quoted", period: '2026-10' });
  const directory = statementDirectory();
  await writeStatement(orders, join(directory, 's'));
  expect(csvRows(join(directory, 's'), 'events.csv')).toMatchObject([
    { region: "'=1+1", event_id: '12345678901234567890', revenue: '-5.10' },
  ]);
  expect(csvRows(join(directory, 's'), 'acts.csv')).toMatchObject([{ actor: "'@ada", reason: "''quoted" }]);
  const windows = readFileSync(join(directory, 's', 'windows.csv'), 'utf8').split('\n');
  // NULL first, then the empty text
  expect(windows[1]).toContain('2026-10-29,,1,');
  expect(windows[2]).toContain('2026-10-29,"",1,');
});

describe('what it refuses', () => {
  let orders: Orders;
  beforeAll(async () => {
    orders = await openOrders({ policy: 'grace' });
    await orders.land('a 10-29 10:00 10-29 10:01 EU 20', 'w 11-01 10:00 11-01 10:00 EU 1');
    await orders.run({ bound: '2026-11-01T11:00Z' });
  });
  const directory = statementDirectory();
  const out = join(directory, 'none');

  test.each([
    [
      'a period that was never closed',
      ['daily_orders'],
      { period: '2026-10', out },
      'period 2026-10 of rollup "daily_orders" was never closed',
    ],
    [
      'a mark that nobody made',
      ['daily_orders'],
      { period: '2026-10', out, mark: 'x' },
      'there is no mark "x"',
    ],
    [
      'an instant to come',
      ['daily_orders'],
      { period: '2026-10', out, at: '2999-01-01' },
      'what was known then is not settled yet',
    ],
    [
      'an instant that is none',
      ['daily_orders'],
      { period: '2026-10', out, at: 'noon' },
      '--at "noon" is not a date or an instant; write it as 2026-01-01 or 2026-01-01T00:00:00Z',
    ],
    [
      'a month that is none',
      ['daily_orders'],
      { period: '2026-13', out, at: '2026-11-01' },
      '"2026-13" is not a month',
    ],
    [
      'both instants',
      ['daily_orders'],
      { period: '2026-10', out, at: '2026-11-01', mark: 'x' },
      '--at and --mark contradict each other',
    ],
    [
      'no directory',
      ['daily_orders'],
      { period: '2026-10' },
      'a statement takes a rollup, a period and a directory',
    ],
    ['a rollup that is none', ['dayly'], { period: '2026-10', out }, 'there is no rollup "dayly"'],
    [
      'more than a directory to verify',
      ['daily_orders'],
      { verify: out },
      '--verify takes nothing beside its directory',
    ],
    ['a directory without a statement', [], { verify: directory }, `${directory} holds no statement`],
  ])('%s', async (_, args, options, message) => {
    await expect(call(statement, orders, args, options)).rejects.toMatchObject({ exitCode: 2, message });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('an instant of which past states are not on record', async () => {
    const [row] = await orders.rows<{ at: string }>('select settled_until::text as at from errata.rollup');
    await orders.rows(`update errata.rollup set states_since = settled_until + interval '1 microsecond'`);
    await expect(writeStatement(orders, out, { at: row?.at as string })).rejects.toMatchObject({
      exitCode: 2,
      message: 'what was pending then is not on record',
    });
    await orders.rows(`update errata.rollup set states_since = '-infinity'`);
  });
});

test('docs/statement.md: its statement finds the versions of the ledger, and the totals', async () => {
  const orders = await openOrders({ policy: 'auto' });
  await orders.land('a 10-29 10:00 10-29 10:01 EU 20', 'jump 10-30 10:00 10-30 10:00 EU 1');
  await orders.run({ bound: '2026-10-30T11:00Z' });
  await orders.land('b 10-29 10:00 10-30 11:30 EU 5', 'w 11-01 10:00 11-01 10:00 EU 1');
  await orders.run({ bound: '2026-11-01T11:00Z' });
  await closePeriod(orders.control, orders.rollup, { ...ada, period: '2026-10' });
  const directory = statementDirectory();
  await writeStatement(orders, join(directory, 'october'));
  const manifest = JSON.parse(readFileSync(join(directory, 'october', 'manifest.json'), 'utf8'));
  const document = readFileSync(new URL('../../docs/statement.md', import.meta.url), 'utf8');
  const [, ddl = '', asked = ''] = /```sql\n([\s\S]*?)\\copy .*\n([\s\S]*?)```/.exec(document) ?? [];
  const client = await orders.database.pool.connect();
  try {
    await client.query(ddl);
    const rows = client.query(copyFrom('copy stated from stdin with (format csv, header)'));
    await pipeline(createReadStream(join(directory, 'october', 'versions.csv')), rows);
    // psql puts a variable in quotes where :'name' stands
    const { rows: found } = await client.query(
      asked.replaceAll(/:'(\w+)'/g, (_, name) => `'${manifest[name]}'`),
    );
    expect(found).toEqual([
      { missing: '0', made_up: '0', differing: '0', sealed: '21.00', corrections: '5.00', latest: '26.00' },
    ]);
    await client.query('update stated set revenue = revenue + 1 where version = 2');
    const { rows: edited } = await client.query(
      asked.replaceAll(/:'(\w+)'/g, (_, name) => `'${manifest[name]}'`),
    );
    expect(edited).toMatchObject([{ differing: '1' }]);
  } finally {
    client.release(true);
  }
});
