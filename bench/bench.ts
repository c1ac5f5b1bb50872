/**
 * Errata beside other ways to bring the same totals up to date, on the same data, in one session, one after the other:
 *
 *     npm run bench -- [--size XS|S|M|L] [--keys 50|50000] [--rounds 3] [--write]
 *
 * Each round lands one more ingestion day with late rows, and lets everybody catch up with it. Not part of the tests.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createErrata, readSettings } from '../src/index.ts';
import { openDuck } from './duckdb.ts';
import { jobs, totalsOf } from './jobs.ts';
import { type Figures, resultText, writeReadme } from './result.ts';
import { type Done, machineText, runApart, say, startServer, timed } from './server.ts';
import { statement, underscored } from './statement.ts';

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: 'S' },
    keys: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});
const rowsOf: Readonly<Record<string, number>> = { XS: 200_000, S: 2_000_000, M: 20_000_000, L: 100_000_000 };
const rows = rowsOf[values.size];
const keys = Number(values.keys);
const rounds = Number(values.rounds);
if (!rows || !Number.isSafeInteger(keys) || !Number.isSafeInteger(rounds) || keys < 1 || rounds < 1)
  throw new Error('usage: npm run bench -- [--size XS|S|M|L] [--keys 50] [--rounds 3] [--write]');

const widths = ['5 minutes', '1 day'];
const late = [1000, 10_000];
const settingsFile = fileURLToPath(new URL('errata.yaml', import.meta.url));
/** Of one new ingestion day; a tenth of it to try the bench out. */
const rowsADay = values.size === 'XS' ? 70_000 : 670_000;

const server = await startServer();
const pool = new pg.Pool({ connectionString: server.url, max: 2 });
const duck = await openDuck(pool);

try {
  await land();
  const figures: Figures = new Map();
  let place = 0;
  for (let round = 1; round <= rounds; round++)
    for (const count of late) {
      const day = dayAfter(place++);
      await landDay(day, count);
      for (const width of widths) await catchUp(figures, width, count, day);
      say(`round ${round}, ${count} late rows: done`);
    }
  const text = resultText(figures, {
    size: values.size,
    rows,
    keys,
    rounds,
    rowsADay,
    machine: machineText(server),
  });
  process.stdout.write(text);
  if (values.write)
    writeReadme(`${values.size} ${values.keys}`, `Size ${values.size}, ${values.keys} keys`, text);
} finally {
  duck?.close();
  await pool.end();
  await server.stop();
}

/** Thirty days of history: landed, shipped by the stream, and corrected by everybody. */
async function land(): Promise<void> {
  await pool.query("set timezone = 'UTC'");
  await pool.query(statement('schema'));
  say(`landing ${rows} rows`);
  await pool.query(statement('bronze'), [rows, keys]);
  for (const index of ['(region, ordered_at) include (amount, ingested_at)', '(order_id)'])
    await timed(`index on ${index}`, () => pool.query(`create index on bronze.orders ${index}`));
  await pool.query('vacuum analyze bronze.orders');
  await pool.query('create schema gold');
  const errata = createErrata({ pool, settings: readSettings(settingsFile, process.env) });
  await errata.migrate();
  const [from, until] = ['2026-09-01 00:00Z', `${dayAfter(0)} 00:00Z`];
  for (const width of widths) {
    await timed(`version 1 of ${width}`, () => ship(width, from, sealedBy(width, until)));
    await pool.query(`analyze gold.orders_${underscored(width)}`);
    await timed(`the first run of ${width}`, () => run(width, until));
    for (const job of jobs)
      if (job.totals) {
        const totals = totalsOf(job.totals, width);
        await pool.query(statement('total', width, totals));
        await pool.query(statement('full', width, totals));
      }
  }
  for (let place = -30; place < 0; place++)
    await duck?.append(`${dayAfter(place)} 00:00Z`, `${dayAfter(place + 1)} 00:00Z`);
  await pool.query('vacuum analyze');
}

/** @param day as in `2026-10-01` */
async function landDay(day: string, count: number): Promise<void> {
  await pool.query(statement('day'), [day, rowsADay, count, keys]);
  const next = new Date(Date.parse(day) + 86_400_000).toISOString();
  for (const width of widths) await ship(width, sealedBy(width, `${day} 00:00Z`), sealedBy(width, next));
  await duck?.append(`${day} 00:00Z`, next);
  await pool.query('vacuum analyze');
}

async function catchUp(figures: Figures, width: string, count: number, day: string): Promise<void> {
  const column = `${width}, ${count} late`;
  const note = (name: string, milliseconds: number) => {
    const row = figures.get(name) ?? new Map<string, number[]>();
    figures.set(name, row.set(column, [...(row.get(column) ?? []), milliseconds]));
  };
  const next = new Date(Date.parse(day) + 86_400_000).toISOString();
  const done = await run(width, next);
  note('Errata, the whole run', done.milliseconds);
  for (const [stage, milliseconds] of Object.entries(done.stages)) note(`Errata: ${stage}`, milliseconds);
  note('Errata: Node at most, MB', done.kilobytes / 1024);
  for (const job of jobs) {
    const client = await pool.connect();
    try {
      const started = performance.now();
      await client.query('begin');
      await job.work(client, width, day);
      await client.query('commit');
      note(job.name, performance.now() - started);
    } finally {
      client.release();
    }
  }
  if (duck) {
    note('DuckDB: full scan of a copy in Parquet', await duck.full(width));
    const { rows: whole } = await pool.query(
      `select count(*)::text as windows, sum(orders)::text as orders, sum(revenue)::text as revenue from ${totalsOf('full', width)}`,
    );
    if (JSON.stringify(whole[0]) !== JSON.stringify(await duck.totals()))
      throw new Error(`the totals of DuckDB by ${width} differ from a full recompute`);
  }
  await mustAgree(width);
}

/** What Errata published is what a full recompute gives, but for the windows that are not sealed yet. */
async function mustAgree(width: string): Promise<void> {
  const { rows: found } = await pool.query(
    `select count(*)::integer as windows
     from gold.orders_${underscored(width)}_latest as l
     full join ${totalsOf('full', width)} as t using (window_start, region)
     where window_start >= '2026-09-01 00:00Z'
       and window_start < (select sealed_until from errata.rollup where name = $1)
       and window_start + $2::interval <= (select sealed_until from errata.rollup where name = $1)
       and (l.orders is distinct from t.orders or l.revenue is distinct from t.revenue)`,
    [`orders_${underscored(width)}`, width],
  );
  if (found[0]?.windows !== 0)
    throw new Error(`${found[0]?.windows} keyed windows of ${width} differ from a full recompute`);
}

function run(width: string, bound: string): Promise<Done> {
  return runApart(settingsFile, `orders_${underscored(width)}`, bound.replace(' ', 'T'));
}

async function ship(width: string, from: string, until: string): Promise<void> {
  await pool.query(statement('ship', width), [from, until]);
}

/** The end of the last window that the watermark has passed at an instant: ten minutes before it. */
function sealedBy(width: string, instant: string): string {
  const length = width === '1 day' ? 86_400_000 : 300_000;
  const watermark = Date.parse(instant.replace(' ', 'T')) - 600_000;
  return new Date(watermark - (watermark % length)).toISOString();
}

function dayAfter(place: number): string {
  return new Date(Date.parse('2026-10-01') + place * 86_400_000).toISOString().slice(0, 10);
}
