import { beforeAll, describe, expect, test } from 'vitest';
import { releaseEvents } from '../../src/publication/release.ts';
import { type Orders, openOrders } from '../support/orders.ts';

/** Two days, two regions: a late firing (7), a refused row that was released (5) and one that awaits a person (3). */
let orders: Orders;
beforeAll(async () => {
  orders = await openOrders({
    policy: 'grace',
    measures: '{ orders: count(*), revenue: sum(amount), largest: max(amount) }',
  });
  await orders.land(
    'a 10-29 10:00 10-29 10:01 EU 20',
    'b 10-29 11:00 10-29 11:01 US 30',
    'c 10-30 11:00 10-30 11:01 EU 40',
  );
  await orders.land('firing 10-29 12:00 10-30 12:00 EU 7', 'jump 10-31 03:00 10-31 03:01 ZZ 1');
  await orders.land(
    'released 10-29 13:00 10-31 04:00 EU 5',
    'waits 10-29 14:00 10-31 04:00 US 3',
    'odd 11-09 14:00 10-31 04:00 US 3',
  );
  await orders.run({ bound: '2026-10-31T05:00Z' });
  await releaseEvents(
    orders.control,
    orders.rollup,
    { actor: 'kim', reason: 'asked', eventIds: ['released'] },
    { bound: '2026-10-31T06:00Z' },
  );
});

const view = (name: string, columns: string, order = 'window_start, region') =>
  orders.rows(`select ${columns} from gold.daily_orders_${name} order by ${order}`);

describe('each view at its grain', () => {
  test('sealed: what shipped', async () => {
    expect(await view('sealed', 'local_date, region, orders, revenue')).toEqual([
      { local_date: '2026-10-29', region: 'EU', orders: '1', revenue: '20.00' },
      { local_date: '2026-10-29', region: 'US', orders: '1', revenue: '30.00' },
      { local_date: '2026-10-30', region: 'EU', orders: '1', revenue: '40.00' },
    ]);
  });

  test('latest: one row a keyed window, so that a plain sum is right; what awaits a person beside it (B27)', async () => {
    expect(
      await view(
        'latest',
        'local_date, region, revenue, version, is_corrected, pending_events, pending_revenue, pending_largest, is_provisional, is_closed',
      ),
    ).toEqual([
      {
        local_date: '2026-10-29',
        region: 'EU',
        revenue: '32.00',
        version: 3,
        is_corrected: true,
        pending_events: '0',
        pending_revenue: '0',
        pending_largest: null,
        is_provisional: false,
        is_closed: false,
      },
      {
        local_date: '2026-10-29',
        region: 'US',
        revenue: '30.00',
        version: 1,
        is_corrected: false,
        pending_events: '1',
        pending_revenue: '3.00',
        pending_largest: null,
        is_provisional: false,
        is_closed: false,
      },
      {
        local_date: '2026-10-30',
        region: 'EU',
        revenue: '40.00',
        version: 1,
        is_corrected: false,
        pending_events: '0',
        pending_revenue: '0',
        pending_largest: null,
        is_provisional: true,
        is_closed: false,
      },
    ]);
    expect(
      await orders.rows(
        `select sum(revenue) from gold.daily_orders_latest l join (values ('EU', 'Europe'), ('US', 'America')) as d (region, name) using (region)`,
      ),
    ).toEqual([{ sum: '102.00' }]);
  });

  test('history: all versions with the value before and the difference', async () => {
    expect(
      await view(
        'history',
        'version, previous_revenue, revenue, delta_revenue, causes, actor',
        'window_start, region, version',
      ),
    ).toMatchObject([
      { version: 1, previous_revenue: null, revenue: '20.00', delta_revenue: '20.00', causes: [] },
      {
        version: 2,
        previous_revenue: '20.00',
        revenue: '27.00',
        delta_revenue: '7.00',
        causes: ['late_firing'],
        actor: null,
      },
      {
        version: 3,
        previous_revenue: '27.00',
        revenue: '32.00',
        delta_revenue: '5.00',
        causes: ['refused'],
        actor: 'kim',
      },
      { version: 1, revenue: '30.00' },
      { version: 1, revenue: '40.00' },
    ]);
  });

  test('journal: a reversal and a rebook, or a delta; the two ways book the same', async () => {
    expect(await view('journal', 'version, line, revenue', 'version, line')).toEqual([
      { version: 2, line: 'delta', revenue: '7.00' },
      { version: 2, line: 'rebook', revenue: '27.00' },
      { version: 2, line: 'reversal', revenue: '-20.00' },
      { version: 3, line: 'delta', revenue: '5.00' },
      { version: 3, line: 'rebook', revenue: '32.00' },
      { version: 3, line: 'reversal', revenue: '-27.00' },
    ]);
  });

  test('side_output: the refused events by name, with their share of the window', async () => {
    expect(
      await view(
        'side_output',
        'event_id, state, version, revenue, round(share_of_revenue, 4) as share',
        'event_id',
      ),
    ).toEqual([
      { event_id: 'released', state: 'included', version: 3, revenue: '5.00', share: '0.1563' },
      { event_id: 'waits', state: 'pending', version: null, revenue: '3.00', share: '0.0909' },
    ]);
  });

  test('reconciliation: from the number that shipped to the number that is true (R14)', async () => {
    expect(
      await view(
        'reconciliation',
        'region, sealed_revenue, corrections_revenue, late_firing_revenue, refused_revenue, latest_revenue, pending_revenue, restated_revenue, sealed_largest, latest_largest, restated_largest',
      ),
    ).toEqual([
      {
        region: 'EU',
        sealed_revenue: '20.00',
        corrections_revenue: '12.00',
        late_firing_revenue: '7.00',
        refused_revenue: '5.00',
        latest_revenue: '32.00',
        pending_revenue: '0',
        restated_revenue: '32.00',
        sealed_largest: '20.00',
        latest_largest: '20.00',
        restated_largest: null,
      },
      {
        region: 'US',
        sealed_revenue: '30.00',
        corrections_revenue: '0',
        late_firing_revenue: '0',
        refused_revenue: '0',
        latest_revenue: '30.00',
        pending_revenue: '3.00',
        restated_revenue: '33.00',
        sealed_largest: '30.00',
        latest_largest: '30.00',
        restated_largest: null,
      },
      {
        region: 'EU',
        sealed_revenue: '40.00',
        corrections_revenue: '0',
        late_firing_revenue: '0',
        refused_revenue: '0',
        latest_revenue: '40.00',
        pending_revenue: '0',
        restated_revenue: '40.00',
        sealed_largest: '40.00',
        latest_largest: '40.00',
        restated_largest: null,
      },
    ]);
  });

  test('live: the latest, and today straight from bronze', async () => {
    expect(await view('live', 'local_date, region, revenue, is_open', 'window_start, region')).toEqual([
      { local_date: '2026-10-29', region: 'EU', revenue: '32.00', is_open: false },
      { local_date: '2026-10-29', region: 'US', revenue: '30.00', is_open: false },
      { local_date: '2026-10-30', region: 'EU', revenue: '40.00', is_open: false },
      { local_date: '2026-10-31', region: 'ZZ', revenue: '1.00', is_open: true },
    ]);
  });
});

test.each(['latest', 'reconciliation', 'history', 'side_output'])(
  '%s of one day reads no other windows of the ledger',
  async (name) => {
    const client = await orders.database.pool.connect();
    try {
      await client.query('begin; set local enable_seqscan = off; set local enable_bitmapscan = off');
      const { rows } = await client.query(
        `explain (format json) select * from gold.daily_orders_${name}
         where window_start >= '2026-10-29 00:00Z' and window_start < '2026-10-30 00:00Z'`,
      );
      const scans = ledgerScans(rows[0]['QUERY PLAN'][0].Plan);
      expect(scans.length).toBeGreaterThan(0);
      for (const scan of scans) expect(scan['Index Cond']).toContain('window_start');
    } finally {
      await client.query('rollback');
      client.release();
    }
  },
);

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

function ledgerScans(node: PlanNode): PlanNode[] {
  const below = (node.Plans ?? []).flatMap(ledgerScans);
  return node['Relation Name'] === 'daily_orders' ? [node, ...below] : below;
}

test('every relation and column carries a comment that a BI tool shows', async () => {
  expect(
    await orders.rows(
      `select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum >= 0 and not a.attisdropped
       where c.relnamespace = 'gold'::regnamespace and c.relkind in ('r', 'v') and col_description(c.oid, a.attnum) is null
       union all
       select relname, null from pg_class where relnamespace = 'gold'::regnamespace and relkind in ('r', 'v') and obj_description(oid) is null`,
    ),
  ).toEqual([]);
});

test('a reader of the views needs no right on the ledger, on bronze or on the control tables', async () => {
  const { database } = orders;
  const role = `reader_${(await database.pool.query('select oid from pg_database where datname = current_database()')).rows[0].oid}`;
  const client = await database.pool.connect();
  try {
    await client.query(`create role ${role}`);
    await client.query(`grant usage on schema gold to ${role}`);
    for (const view of ['sealed', 'latest', 'live', 'history', 'journal', 'side_output', 'reconciliation'])
      await client.query(`grant select on gold.daily_orders_${view} to ${role}`);
    await client.query(`set role ${role}`);
    const known = `select count(*) from gold.daily_orders_as_of('2026-01-01')`;
    await expect(client.query(known)).rejects.toThrow('permission denied');
    await client.query(
      `reset role; grant execute on function gold.daily_orders_as_of, errata.daily_orders_open_windows to ${role}; set role ${role}`,
    );
    expect((await client.query(known)).rows).toEqual([{ count: '0' }]);
    for (const view of ['sealed', 'latest', 'live', 'history', 'journal', 'side_output', 'reconciliation'])
      await client.query(`select * from gold.daily_orders_${view}`);
    await expect(client.query('select * from gold.daily_orders')).rejects.toThrow('permission denied');
    await expect(client.query('select * from bronze.orders')).rejects.toThrow('permission denied');
  } finally {
    await client.query(`reset role; drop owned by ${role}; drop role ${role}`);
    client.release();
  }
});
