/** Readers never see half a run, stamps follow commits also when the clock steps back, and what is settled stays (R11). */
import { describe, expect, test } from 'vitest';
import { type Orders, openOrders } from '../support/orders.ts';

const byStream = '{ by: stream, after: 0 }';
const day = (number: number) => `2026-10-${number}T00:00Z`;

/** The stream inserts version 1 of a day. */
const emission = (number: number, region: string, revenue: number) =>
  `insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
   values ('${day(number)}', '${day(number + 1)}', '${region}', 1, ${revenue})`;

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

  test('an instant that a stream’s insert may still fall before is not settled', async () => {
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
    await expect
      .poll(
        async () =>
          (await holder.query(`select from pg_locks where locktype = 'advisory' and not granted`)).rowCount,
      )
      .toBe(1);
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
    expect([first, second]).toEqual([
      'what was known then is not settled yet',
      'what was known then is not settled yet',
    ]);
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
