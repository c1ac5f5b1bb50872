/** A definition made anew keeps what users have built on the views and were given on them, or names it and does nothing. */
import { beforeAll, describe, expect, test } from 'vitest';
import { parseSettings } from '../../src/config/read-settings.ts';
import { Failure, formatFailure } from '../../src/failure.ts';
import { migrateAll, rehearse } from '../../src/install/install.ts';
import { type Orders, openOrders, ordersYaml } from '../support/orders.ts';

const added = '{ orders: count(*), largest: max(amount), revenue: sum(amount) }';

async function published(): Promise<Orders> {
  const orders = await openOrders();
  await orders.land('a 10-29 10:00 10-29 10:01', 'pass 10-30 02:00 10-30 02:01 ZZ');
  await orders.run({ bound: '2026-10-30T03:00Z' });
  await orders.rows('create schema mine');
  return orders;
}

const migrated = (orders: Orders, measures: string) =>
  migrateAll(orders.control, parseSettings(ordersYaml({ measures }), 'errata.yaml', {}));
const rehearsed = (orders: Orders, measures: string) =>
  rehearse(orders.control, parseSettings(ordersYaml({ measures }), 'errata.yaml', {}));
const columns = async (orders: Orders, view: string) =>
  (
    await orders.rows<{ name: string }>(
      'select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum',
      [view],
    )
  ).map(({ name }) => name);

describe('a measure is added', () => {
  let orders: Orders;
  const role = `errata_reader_${process.pid}`;
  const views = ['sealed', 'latest', 'live', 'history', 'journal', 'side_output', 'reconciliation'];
  beforeAll(async () => {
    orders = await published();
    for (const view of views)
      await orders.rows(`create view mine.of_${view} as select * from gold.daily_orders_${view}`);
    await orders.rows('create view mine.above as select region, revenue from mine.of_latest');
    await orders.rows('create materialized view mine.stored as select * from mine.of_live');
    await orders.rows(`create function mine.total () returns numeric language sql
      begin atomic select sum(revenue) from gold.daily_orders_latest; end`);
    await orders.rows(
      'create function mine.row_of (r gold.daily_orders_latest) returns text language sql return r.region',
    );
    await orders.rows(`create role ${role}`);
    await orders.rows(`grant select on gold.daily_orders_latest to ${role} with grant option`);
    await orders.rows(`grant execute on function gold.daily_orders_as_of to ${role}`);
    return async () => {
      await orders.rows(`drop owned by ${role}`);
      await orders.rows(`drop role ${role}`);
    };
  });

  test('what users have on the views stays, the views have it after the columns that were there', async () => {
    const before = new Map<string, string[]>();
    for (const view of views) before.set(view, await columns(orders, `gold.daily_orders_${view}`));
    const changes = await rehearsed(orders, added);
    // only what is carried out: no view is dropped, and each is made once
    expect(changes.filter(({ sql }) => /drop view/.test(sql))).toEqual([]);
    expect(
      changes.filter(({ sql }) => /create or replace view "gold"."daily_orders_latest" /.test(sql)),
    ).toHaveLength(1);
    await migrated(orders, added);
    for (const view of views) {
      const after = await columns(orders, `gold.daily_orders_${view}`);
      expect(after.slice(0, before.get(view)?.length), view).toEqual(before.get(view));
    }
    expect((await columns(orders, 'gold.daily_orders_latest')).slice(-2)).toEqual([
      'largest',
      'pending_largest',
    ]);
    await orders.land('late 10-29 12:00 10-30 04:00 EU 7', 'open 10-30 03:00 10-30 03:01 EU 4');
    await orders.run({ bound: '2026-10-30T05:00Z' });
    await orders.rows('refresh materialized view mine.stored');
    expect(await orders.rows('select * from mine.above')).toEqual([{ region: 'EU', revenue: '17.00' }]);
    expect(
      await orders.rows(
        'select mine.total() as total, mine.row_of(l) as region from gold.daily_orders_latest as l',
      ),
    ).toEqual([{ total: '17.00', region: 'EU' }]);
    expect(
      await orders.rows(
        'select is_open, sum(revenue) as revenue, sum(largest) as largest from gold.daily_orders_live group by 1 order by 1',
      ),
    ).toEqual([
      { is_open: false, revenue: '17.00', largest: null },
      { is_open: true, revenue: '14.00', largest: '14.00' },
    ]);
    expect(await orders.rows('select sum(revenue) as revenue from mine.stored')).toEqual([
      { revenue: '31.00' },
    ]);
    await migrated(orders, added);
  });

  test('what users were given on views and functions they still have', async () => {
    expect(
      await orders.rows(
        `select has_table_privilege($1, 'gold.daily_orders_latest', 'select with grant option') as latest,
           has_function_privilege($1, 'gold.daily_orders_as_of(timestamptz)', 'execute') as as_of,
           has_function_privilege($1, 'gold.daily_orders_changes(text)', 'execute') as changes`,
        [role],
      ),
    ).toEqual([{ latest: true, as_of: true, changes: false }]);
  });
});

describe('what must be made anew', () => {
  const failureOf = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (reason) => reason,
    );
    if (!(error instanceof Failure)) throw error ?? new Error('nothing stands in the way');
    return error;
  };

  test('a function with further columns: whoever stands on it is named, and nothing is changed', async () => {
    const orders = await published();
    await orders.rows(`create view mine.october as select * from gold.daily_orders_as_of('2026-10-30Z');
      create view mine.of_october as select * from mine.october;
      create view mine.today as select * from gold.daily_orders_live;
      create view mine.opened as select * from errata.daily_orders_open_windows()`);
    for (const attempt of [migrated, rehearsed]) {
      const failure = await failureOf(attempt(orders, added));
      expect(formatFailure(failure)).toBe(`what others have made stands in the way of rollup "daily_orders"
  detail: view mine.of_october of postgres, on gold.daily_orders_as_of
          view mine.october of postgres, on gold.daily_orders_as_of
          view mine.opened of postgres, on errata.daily_orders_open_windows
  hint:   drop it, run \`errata migrate\`, and make it again; nothing was changed`);
      expect(failure.exitCode).toBe(2);
    }
    expect(await columns(orders, 'gold.daily_orders')).not.toContain('largest');
    expect(await orders.rows('select count(*) from errata.definition')).toEqual([{ count: '1' }]);
    await orders.rows('drop view mine.of_october, mine.october, mine.opened');
    await migrated(orders, added);
    expect(await orders.rows('select revenue from mine.today')).toEqual([
      { revenue: '10.00' },
      { revenue: '10.00' },
    ]);
  });

  test('a view that loses a column: all that stands on it and on our views above it is named, in any depth', async () => {
    const orders = await published();
    // as an older Errata may have left it
    const older = `
      drop view gold.daily_orders_side_output, gold.daily_orders_live, gold.daily_orders_latest;
      create view gold.daily_orders_latest as select g.*, 1 as of_old from gold.daily_orders as g;
      create view gold.daily_orders_live as select * from gold.daily_orders_latest`;
    await orders.rows(older);
    await orders.rows(`create view mine.today as select * from gold.daily_orders_live;
      create materialized view mine.stored as select * from mine.today;
      create index on mine.stored (region);
      create function mine.total () returns numeric language sql begin atomic select sum(revenue) from mine.stored; end;
      create function mine.nothing () returns trigger language plpgsql as 'begin return null; end';
      create trigger diverts instead of insert on gold.daily_orders_latest for each row execute function mine.nothing()`);
    const failure = await failureOf(migrated(orders, '{ orders: count(*), revenue: sum(amount) }'));
    expect(failure.detail?.split('\n').sort()).toEqual([
      'function mine.total() of postgres, on gold.daily_orders_latest',
      'materialized view mine.stored of postgres, on gold.daily_orders_latest',
      'trigger diverts on gold.daily_orders_latest, on gold.daily_orders_latest',
      'view mine.today of postgres, on gold.daily_orders_latest',
    ]);
    await orders.rows(
      'drop function mine.total(); drop materialized view mine.stored; drop view mine.today; drop trigger diverts on gold.daily_orders_latest',
    );
    await orders.rows(
      'grant select (revenue) on gold.daily_orders_latest to public; grant select on gold.daily_orders_live to public',
    );
    await migrated(orders, '{ orders: count(*), revenue: sum(amount) }');
    expect(await columns(orders, 'gold.daily_orders_latest')).not.toContain('of_old');
    expect(
      await orders.rows(`select relname, relacl is not null as table_given,
          (select attacl::text from pg_attribute where attrelid = c.oid and attname = 'revenue') as column_given
        from pg_class as c where relname in ('daily_orders_latest', 'daily_orders_live') order by 1`),
    ).toEqual([
      { relname: 'daily_orders_latest', table_given: false, column_given: '{=r/postgres}' },
      { relname: 'daily_orders_live', table_given: true, column_given: null },
    ]);
  });
});
