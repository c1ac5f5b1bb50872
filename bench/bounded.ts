/**
 * What it costs to examine a new ingestion day where its rows move the watermark (`bounded`):
 *
 *     npm run bench -- bounded [--rounds 3] [--write]
 *
 * Every row has an instant of its own, and event times up to a minute behind it: with 64 source partitions half of all rows raise
 * their own. Not part of the tests.
 */
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createErrata, readSettings } from '../src/index.ts';
import { readOptions } from './options.ts';
import { median, writeReadme } from './result.ts';
import { machineText, runApart, say, startServer } from './server.ts';
import { statement } from './statement.ts';

const { rounds, write } = readOptions('bounded', 3);

const [rowsADay, late, keys] = [670_000, 1000, 50];
const settingsFile = fileURLToPath(new URL('bounded.yaml', import.meta.url));
const rollups: ReadonlyMap<string, string> = new Map([
  ['orders_bounded', 'no source partition'],
  ['orders_bounded_64', '64'],
  ['orders_bounded_64_idle', '64, `idle_after`'],
]);
const reading = 'the new partition read once';
const stages = ['scan', 'watermark', 'classify'];

const server = await startServer();
const pool = new pg.Pool({ connectionString: server.url, max: 1, options: '-c timezone=UTC' });
try {
  await pool.query(statement('schema'));
  await pool.query(
    'alter table bronze.orders add column source_partition integer generated always as (order_id & 63) stored',
  );
  for (const index of ['(region, ordered_at)', '(order_id)'])
    await pool.query(`create index on bronze.orders ${index}`);
  await pool.query('create schema gold');
  await createErrata({ pool, settings: readSettings(settingsFile, process.env) }).migrate();
  const figures = new Map<string, number[]>();
  const note = (name: string, value: number) => figures.set(name, [...(figures.get(name) ?? []), value]);
  // The first days are history, and not counted.
  for (let place = 0; place < rounds + 2; place++) {
    const [day, next] = [dayAfter(place), dayAfter(place + 1)];
    await pool.query(statement('day'), [day, rowsADay, late, keys]);
    await pool.query('vacuum analyze');
    for (const rollup of rollups.keys()) {
      const done = await runApart(settingsFile, rollup, `${next}T00:00:00Z`);
      if (place >= 2) for (const stage of stages) note(`${rollup} ${stage}`, done.stages[stage] ?? 0);
    }
    for (let time = 0; time < 3; time++) {
      const started = performance.now();
      await pool.query(statement('scan_day'), [day]);
      if (place >= 2) note(reading, performance.now() - started);
    }
    say(`${day}: done`);
  }
  const text = resultText(figures);
  process.stdout.write(text);
  if (write) writeReadme('bounded', 'Where rows move the watermark', text);
} finally {
  await pool.end();
  await server.stop();
}

function resultText(figures: ReadonlyMap<string, readonly number[]>): string {
  const of = (name: string) => median(figures.get(name) ?? []);
  const number = (value: number) => Math.round(value).toLocaleString('en');
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const bare = of(reading);
  return [
    `A new ingestion day of ${number(rowsADay)} rows, ${number(late)} of them late. Medians of ${rounds} rounds, milliseconds; ${reading}: ${number(bare)}.\n`,
    `${machineText(server)}.\n\n`,
    line(['source partitions', ...stages, 'scan and classify: times the reading']),
    line(['---', ...stages.map(() => '---:'), '---:']),
    ...[...rollups].map(([rollup, name]) =>
      line([
        name,
        ...stages.map((stage) => number(of(`${rollup} ${stage}`))),
        ((of(`${rollup} scan`) + of(`${rollup} classify`)) / bare).toFixed(1),
      ]),
    ),
  ].join('');
}

function dayAfter(place: number): string {
  return new Date(Date.parse('2026-09-01') + place * 86_400_000).toISOString().slice(0, 10);
}
