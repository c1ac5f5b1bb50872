/** Readers never see half a run, stamps follow commits also when the clock steps back, and what is settled stays (R11). */
import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../src/config/read-settings.ts';
import { makeMark } from '../../src/publication/marks.ts';
import { type Orders, openOrders, ordersYaml } from '../support/orders.ts';

const byStream = '{ by: stream, after: 0 }';
const day = (number: number) => `2026-10-${number}T00:00Z`;

/** The stream inserts version 1 of a day. */
const emission = (number: number, region: string, revenue: number) =>
  `insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
   values ('${day(number)}', '${day(number + 1)}', '${region}', 1, ${revenue})`;

/** Other tests run on the same server. */
const waitingHere = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

const asOf = (orders: Orders, instant: string) =>
  orders.rows(
    'select window_start, region, version, revenue from gold.daily_orders_as_of($1) order by 1, 2',
    [instant],
  );

describe('while runs publish and a stream inserts', () => {
  test('nobody sees half a run, and as_of never changes for a settled instant', async () => {
    const orders = await openOrders({ seal: byStream, lateness: '0', policy: 'auto' });
    const regions = ['A', 'B', 'C', 'D'];
    let isOver = false;
    const kept = new Map<string, string>();
    const seen = new Set<string>();

    const streaming = async () => {
      const client = await orders.database.pool.connect();
      for (let number = 10; number < 28; number++) {
        for (const region of regions) {
          await client.query(`begin; ${emission(number, region, 1)}`);
          // some are slower than a run: it publishes meanwhile
          if (region === 'B' && number % 2 === 0) await client.query('select pg_sleep(0.4)');
          await client.query('commit');
        }
      }
      client.release();
    };
    const landing = async () => {
      for (let number = 10; number < 28; number++) {
        const rows = regions.map(
          (
            region,
          ) => `('${region}${number}', '2026-10-${number}T10:00Z', '2026-10-${number}T10:01Z', '${region}', 1),
          ('late ${region}${number}', '2026-10-${number}T11:00Z', '2026-10-${number + 1}T12:00Z', '${region}', ${number})`,
        );
        await orders.rows(
          `insert into bronze.orders values ${rows.join(',')}, ('pass${number}', '2026-10-${number + 1}T03:00Z', '2026-10-${number + 1}T03:00Z', 'Z', 1)`,
        );
        await orders.run({ bound: `2026-10-${number + 1}T13:00Z` });
      }
    };
    const reading = async () => {
      while (!isOver) {
        // what a run says of itself, its versions and the frontier are there together or not at all
        const torn = await orders.rows<{ run_id: string }>(
          `select r.run_id from errata.run as r
           where (select count(*) from gold.daily_orders as g where g.run_id = r.run_id) <> (r.counts ->> 'windows_corrected')::int
             or r.bound > (select frontier from errata.rollup)
           union all
           select g.run_id from gold.daily_orders as g
           where g.run_id is not null and not exists (select from errata.run as r where r.run_id = g.run_id and r.outcome <> 'running' and r.stamp = g.stamp)`,
        );
        for (const { run_id: run } of torn) seen.add(run);
        const [{ settled } = { settled: '-infinity' }] = await orders.rows<{ settled: string }>(
          'select settled_until as settled from errata.rollup',
        );
        if (settled !== '-infinity' && !kept.has(settled))
          kept.set(settled, JSON.stringify(await asOf(orders, settled)));
      }
    };
    const readers = [reading(), reading()];
    await Promise.all([streaming(), landing()]);
    await orders.run({ bound: '2026-10-29T00:00Z' });
    isOver = true;
    await Promise.all(readers);
    // how many instants the readers met depends on the machine
    expect(kept.size).toBeGreaterThan(1);
    for (const [instant, before] of kept)
      expect(`${instant} ${JSON.stringify(await asOf(orders, instant))}`).toBe(`${instant} ${before}`);
    expect([...seen]).toEqual([]);
    expect(
      await orders.rows(`select g.window_start, g.region from gold.daily_orders as g join gold.daily_orders as b using (window_start, region)
        where b.version = g.version + 1 and b.stamp <= g.stamp and g.run_id is not null`),
    ).toEqual([]);
  });
});

describe('the clock steps back by an hour', () => {
  const ahead = `update errata.rollup set last_stamp = clock_timestamp() + interval '1 hour'`;

  test('a run publishes after every stamp before it, those of the stream among them', async () => {
    const orders = await openOrders({ seal: byStream });
    await orders.land(
      'a 10-29 10:00 10-29 10:01 EU 10',
      'b 10-29 11:00 10-29 11:01 EU 5',
      'pass 10-30 02:00 10-30 02:01 ZZ',
    );
    const [before] = await orders.rows<{ stamp: string }>('select last_stamp as stamp from errata.rollup');
    // the stream inserted while the clock was ahead
    await orders.rows(ahead);
    await orders.rows(emission(29, 'EU', 10));
    await orders.rows('update errata.rollup set last_stamp = $1', [before?.stamp]);
    await orders.run({ bound: '2026-10-30T03:00Z' });
    expect(
      await orders.rows(
        'select version, stamp > lag(stamp) over (order by version) as is_later from gold.daily_orders order by version',
      ),
    ).toEqual([
      { version: 1, is_later: null },
      { version: 2, is_later: true },
    ]);
  });

  test('a stream that inserts while a run is in its commit stamps after it, so its instant is settled', async () => {
    const orders = await openOrders({ seal: byStream });
    await orders.land('a 10-29 10:00 10-29 10:01 EU 10', 'pass 10-30 02:00 10-30 02:01 ZZ');
    await orders.rows(emission(29, 'EU', 7));
    // a run published while the clock was ahead; this one stops in its commit
    await orders.rows(ahead);
    await orders.rows(`create function public.wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return null; end $$;
      create constraint trigger wait after update on errata.run initially deferred for each row execute function public.wait()`);
    const [holder, stream] = [await orders.database.pool.connect(), await orders.database.pool.connect()];
    await holder.query('begin; select pg_advisory_xact_lock(1)');
    const run = orders.run({ bound: '2026-10-30T03:00Z' });
    await expect.poll(async () => (await orders.rows(waitingHere)).length).toBe(1);
    await stream.query(`begin; ${emission(28, 'EU', 9)}`);
    await holder.query('rollback');
    const { stamp } = await run;
    const known = () =>
      asOf(orders, stamp).then(
        (rows) => rows.length,
        (error: Error) => error.message,
      );
    const first = await known();
    await stream.query('commit');
    const second = await known();
    for (const client of [holder, stream]) client.release();
    expect([first, second]).toEqual([1, 1]);
    expect(await orders.rows('select from gold.daily_orders where stamp > $1', [stamp])).toHaveLength(1);
  });

  test('where Errata seals, stamps go on from the last one, and each is settled at once', async () => {
    const orders = await openOrders();
    await orders.rows(ahead);
    await orders.land('a 10-29 10:00 10-29 10:01 EU 10', 'pass 10-30 02:00 10-30 02:01 ZZ');
    const stamps = [(await orders.run({ bound: '2026-10-30T03:00Z' })).stamp];
    await orders.land('late 10-29 12:00 10-30 04:00 EU 7');
    stamps.push((await orders.run({ bound: '2026-10-30T05:00Z' })).stamp);
    const revenues = await Promise.all(
      stamps.map(async (stamp) => (await asOf(orders, stamp)).map(({ revenue }) => revenue)),
    );
    expect(revenues).toEqual([['10.00'], ['17.00']]);
  });
});

describe('a stream inserts in a transaction that began before the clock stepped back', () => {
  const ahead = `update errata.rollup set last_stamp = clock_timestamp() + interval '1 hour'`;

  test.each(['read committed', 'repeatable read', 'serializable'])(
    'under %s its version is stamped after what was settled meanwhile, by a run or a mark',
    async (isolation) => {
      const orders = await openOrders({ seal: byStream });
      await orders.land('a 10-29 10:00 10-29 10:01 EU 10', 'pass 10-30 02:00 10-30 02:01 ZZ');
      await orders.rows(emission(29, 'EU', 10));
      const [one, other] = [await orders.database.pool.connect(), await orders.database.pool.connect()];
      for (const stream of [one, other]) await stream.query(`begin isolation level ${isolation}; select 1`);
      await orders.rows(ahead);
      const settled = [(await orders.run({ bound: '2026-10-30T03:00Z' })).stamp];
      await one.query(`${emission(28, 'EU', 9)}; commit`);
      const settings = parseSettings(ordersYaml({ seal: byStream }), 'errata.yaml', {});
      settled.push((await makeMark(orders.control, settings, 'now', 'ana')).stamp);
      const known = await asOf(orders, settled[1] as string);
      expect(known.length).toBe(2);
      await other.query(`${emission(27, 'EU', 8)}; commit`);
      for (const client of [one, other]) client.release();
      expect(await asOf(orders, settled[1] as string)).toEqual(known);
      expect(
        await orders.rows(
          `select to_char(window_start at time zone 'UTC', 'DD') as day, stamp > $1 as after_run, stamp > $2 as after_mark
           from gold.daily_orders where version = 1 order by 1`,
          settled,
        ),
      ).toEqual([
        { day: '27', after_run: true, after_mark: true },
        { day: '28', after_run: true, after_mark: false },
        { day: '29', after_run: false, after_mark: false },
      ]);
    },
  );
});

describe('the stream writes version 1 of a keyed window while a run publishes into it', () => {
  /** Two days sealed for EU; the stream has written nothing. */
  async function unwritten(): Promise<Orders> {
    const orders = await openOrders({ seal: byStream, policy: 'auto' });
    await orders.land('a 10-29 10:00 10-29 10:01 EU 10', 'pass 10-30 02:00 10-30 02:01 ZZ');
    return orders;
  }
  const at = { bound: '2026-10-30T03:00Z' };
  const kinds = (orders: Orders) => orders.rows('select kind, revenue from errata.daily_orders_emission');

  test('begun before the run is at its end: the keyed window waits, and the next run finds version 1', async () => {
    const orders = await unwritten();
    const stream = await orders.database.pool.connect();
    await stream.query(`begin; ${emission(29, 'EU', 7)}`);
    const { counts } = await orders.run(at);
    expect(counts.windows_corrected).toBe(0);
    expect(await orders.rows('select blocked_reason from errata.daily_orders_touched')).toEqual([
      { blocked_reason: 'the stream is writing a version 1 that it has not committed' },
    ]);
    await stream.query('commit');
    stream.release();
    await orders.run(at);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 7", "10-29 'EU' v2 1 10.00 seal_mismatch"]);
  });

  test('committed since the run’s snapshot: the run starts again', async () => {
    const orders = await unwritten();
    let rounds = 0;
    await orders.run({
      ...at,
      onStage: (stage) => {
        if (stage === 'recompute') rounds++;
      },
      before: async () => {
        if (rounds === 0) await orders.rows(emission(29, 'EU', 7));
      },
    });
    expect(rounds).toBe(2);
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 7", "10-29 'EU' v2 1 10.00 seal_mismatch"]);
  });

  test('begun while the run is in its commit: it waits, comes late, and stays out of the ledger', async () => {
    const orders = await unwritten();
    await orders.rows(`create function public.wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return null; end $$;
      create constraint trigger wait after update on errata.run initially deferred for each row execute function public.wait()`);
    const holder = await orders.database.pool.connect();
    const waiting = (count: number) =>
      expect.poll(async () => (await orders.rows(waitingHere)).length).toBe(count);
    await holder.query('begin; select pg_advisory_xact_lock(1)');
    const run = orders.run(at);
    await waiting(1);
    const insert = orders.rows(emission(29, 'EU', 7));
    await waiting(2);
    await holder.query('rollback');
    await Promise.all([run, insert]);
    holder.release();
    expect(await orders.ledger()).toEqual(["10-29 'EU' v2 1 10.00 seal_mismatch"]);
    expect(await kinds(orders)).toEqual([{ kind: 'late_seal', revenue: '7' }]);
    expect(await orders.rows('select from errata.daily_orders_touched')).toEqual([]);
  });

  test('of two that write it at once one is version 1, an equal other is absorbed', async () => {
    const orders = await unwritten();
    const [one, other] = [await orders.database.pool.connect(), await orders.database.pool.connect()];
    await one.query(`begin; ${emission(29, 'EU', 10)}`);
    const retry = other.query(emission(29, 'EU', 10));
    await expect.poll(async () => (await orders.rows(waitingHere)).length).toBe(1);
    await one.query('commit');
    await retry;
    for (const client of [one, other]) client.release();
    expect(await orders.ledger()).toEqual(["10-29 'EU' v1 1 10"]);
    expect(await kinds(orders)).toEqual([]);
    expect(await orders.rows('select cause from errata.daily_orders_touched')).toEqual([{ cause: 'seal' }]);
  });

  test('as many as there are in one transaction: none of them holds a lock of its own', async () => {
    const orders = await unwritten();
    const stream = await orders.database.pool.connect();
    await stream.query(`begin; insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
      select '${day(29)}', '${day(30)}', n, 1, 1 from generate_series(1, 300) as n`);
    const { rows } = await stream.query(
      `select count(*) < 10 as few from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`,
    );
    await stream.query('rollback');
    stream.release();
    expect(rows).toEqual([{ few: true }]);
  });
});
