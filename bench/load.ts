/**
 * What each index of bronze costs while a day is loaded:
 *
 *     npm run bench -- load [--rounds 5] [--write]
 *
 * One ingestion day of 670,000 rows in one insert, into an empty partition with one set of indexes after the other. Not part of the tests.
 */
import pg from 'pg';
import { readOptions } from './options.ts';
import { median, writeReadme } from './result.ts';
import { machineText, say, startServer } from './server.ts';
import { statement } from './statement.ts';

const { rounds, write } = readOptions('load', 5);

const rowsADay = 670_000;
const [day, late, keys] = ['2026-10-01', 1000, 50];
const byKey = '(region, ordered_at)';
const covering = `${byKey} include (amount, ingested_at)`;
const byId = '(order_id)';
const sets: ReadonlyMap<string, readonly string[]> = new Map([
  ['none', []],
  [byKey, [byKey]],
  [covering, [covering]],
  [byId, [byId]],
  [`${covering}, and ${byId}`, [covering, byId]],
]);

interface Loaded {
  readonly milliseconds: number;
  readonly walBytes: number;
  readonly indexBytes: number;
}

const server = await startServer();
const pool = new pg.Pool({ connectionString: server.url, max: 1, options: '-c timezone=UTC' });
try {
  await pool.query(statement('schema'));
  const figures = new Map<string, Loaded[]>();
  // The first round warms, and is not counted.
  for (let round = 0; round <= rounds; round++)
    for (const [name, indexes] of sets) {
      const loaded = await load(indexes);
      say(`round ${round}, ${name}: ${Math.round(loaded.milliseconds)} ms`);
      if (round > 0) figures.set(name, [...(figures.get(name) ?? []), loaded]);
    }
  const text = resultText(figures);
  process.stdout.write(text);
  if (write) writeReadme('load', 'The price of an index at load', text);
} finally {
  await pool.end();
  await server.stop();
}

async function load(indexes: readonly string[]): Promise<Loaded> {
  await pool.query('truncate bronze.orders');
  const { rows: old } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, indexname) as name from pg_indexes where schemaname = 'bronze' and tablename = 'orders'`,
  );
  for (const { name } of old) await pool.query(`drop index ${name}`);
  for (const index of indexes) await pool.query(`create index on bronze.orders ${index}`);
  await pool.query('checkpoint');
  const [{ lsn: before } = {}] = (await pool.query('select pg_current_wal_insert_lsn() as lsn')).rows;
  const started = performance.now();
  await pool.query(statement('day'), [day, rowsADay, late, keys]);
  const milliseconds = performance.now() - started;
  const { rows } = await pool.query(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::float8 as wal, pg_indexes_size('bronze.orders_20261001')::float8 as indexes`,
    [before],
  );
  return { milliseconds, walBytes: rows[0].wal, indexBytes: rows[0].indexes };
}

function resultText(figures: ReadonlyMap<string, readonly Loaded[]>): string {
  const of = (loaded: readonly Loaded[], member: keyof Loaded) => median(loaded.map((one) => one[member]));
  const bare = of(figures.get('none') ?? [], 'milliseconds');
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return [
    `One day of ${rowsADay.toLocaleString('en')} rows and ${keys} keys in one insert, which makes the rows too. Medians of ${rounds} rounds.\n`,
    `${machineText(server)}.\n\n`,
    line(['indexes', 'milliseconds', 'more, microseconds a row', 'bytes a row', 'WAL, bytes a row']),
    line(['---', '---:', '---:', '---:', '---:']),
    ...[...figures].map(([name, loaded]) =>
      line([
        name,
        Math.round(of(loaded, 'milliseconds')).toLocaleString('en'),
        (((of(loaded, 'milliseconds') - bare) * 1000) / rowsADay).toFixed(2),
        (of(loaded, 'indexBytes') / rowsADay).toFixed(0),
        (of(loaded, 'walBytes') / rowsADay).toFixed(0),
      ]),
    ),
  ].join('');
}
