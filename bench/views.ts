/**
 * What the views cost over a long ledger, beside the same rows read from a plain table:
 *
 *     npm run bench -- views [--versions 10000000] [--keys 50] [--rounds 3] [--write]
 *
 * Whole, and for one month. Each column of each row is computed, and counted or added up. Not part of the tests.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { makeLedger } from './ledger.ts';
import { median, writeReadme } from './result.ts';
import { machineText, say, startServer } from './server.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    versions: { type: 'string', default: '10000000' },
    keys: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});
const [versions, keys, rounds] = [values.versions, values.keys, values.rounds].map(Number) as [
  number,
  number,
  number,
];
if (![versions, keys, rounds].every((number) => Number.isSafeInteger(number) && number > 0))
  throw new Error('usage: npm run bench -- views [--versions 10000000] [--keys 50] [--rounds 3] [--write]');

/** Windows end at this instant, and begin as early as there are versions. */
const until = '2026-01-01 00:00Z';
const month = ['2025-11-01 00:00Z', '2025-12-01 00:00Z'] as const;
/** The last at which all windows were sealed; corrections of the last hours came after it. */
const instant = '2026-01-01 00:15Z';
/** Of a keyed window: 0.02 have a second version, 0.002 a third. */
const versionsAWindow = 1.022;
const windowMilliseconds = 300_000;
const from = new Date(
  Date.parse(until) - Math.round(versions / versionsAWindow / keys) * windowMilliseconds,
).toISOString();
if (Date.parse(from) > Date.parse(month[0]))
  throw new Error(`with ${keys} keys so few versions do not reach back to ${month[0]}`);

const relations: Readonly<Record<string, string>> = {
  'a plain table': 'bench.plain',
  latest: 'gold.orders_latest',
  as_of: `gold.orders_as_of('${instant}')`,
  reconciliation: 'gold.orders_reconciliation',
};

const server = await startServer();
const pool = new pg.Pool({ connectionString: server.url, max: 1, options: '-c timezone=UTC' });
try {
  await makeLedger(pool, { from, until, keys });
  const figures = await measure();
  const text = await resultText(figures);
  process.stdout.write(text);
  if (values.write)
    writeReadme(`views ${versions}`, `The views over ${versions.toLocaleString('en')} versions`, text);
} finally {
  await pool.end();
  await server.stop();
}

/** Of each relation the milliseconds of each round: whole, and for the month. */
async function measure(): Promise<Map<string, [number[], number[]]>> {
  const figures = new Map<string, [number[], number[]]>();
  for (let round = 0; round <= rounds; round++) {
    for (const [place, where] of [
      '',
      `where window_start >= '${month[0]}' and window_start < '${month[1]}'`,
    ].entries()) {
      const counts = new Set<string>();
      for (const [name, relation] of Object.entries(relations)) {
        const query = `select count(*) as count, ${await columnsOf(relation)} from ${relation} ${where}`;
        const started = performance.now();
        const { rows } = await pool.query(query);
        const milliseconds = performance.now() - started;
        counts.add(rows[0].count);
        say(`round ${round}, ${name}${where && ' for a month'}: ${Math.round(milliseconds)} ms`);
        const row = figures.get(name) ?? [[], []];
        figures.set(name, row);
        // The first round warms what lies on disk.
        if (round > 0) row[place as 0 | 1].push(milliseconds);
      }
      if (counts.size > 1) throw new Error(`not the same number of rows: ${[...counts].join(', ')}`);
    }
  }
  return figures;
}

/** Numbers are added up, other values counted: so each is computed. */
async function columnsOf(relation: string): Promise<string> {
  const { fields } = await pool.query(`select * from ${relation} where window_start is null limit 0`);
  const numbers: readonly number[] = [20, 23, 1700];
  return fields
    .map(
      ({ name, dataTypeID }, place) =>
        `${numbers.includes(dataTypeID) ? 'sum' : 'count'}(${name}) as c${place}`,
    )
    .join(', ');
}

async function resultText(figures: ReadonlyMap<string, readonly [number[], number[]]>): Promise<string> {
  const { rows } = await pool.query(
    `select count(*)::integer as versions, pg_table_size('gold.orders') as bytes, pg_indexes_size('gold.orders') as index_bytes,
       (select count(*)::integer from gold.orders_late_event) as late_events,
       (select count(*)::integer from bench.plain where window_start >= $1 and window_start < $2) as in_month
     from gold.orders`,
    [...month],
  );
  const [made] = rows;
  const number = (value: number) => Math.round(value).toLocaleString('en');
  const gigabytes = (bytes: string) => (Number(bytes) / 1e9).toFixed(1);
  const plain = figures.get('a plain table');
  const cells = (taken: readonly [number[], number[]]) =>
    ([0, 1] as const).map(
      (place) =>
        `${number(median(taken[place]))} (${(median(taken[place]) / median(plain?.[place] ?? [])).toFixed(2)})`,
    );
  return [
    `${number(made.versions)} versions of windows of 5 minutes and ${keys} keys since ${from.slice(0, 10)}, ${number(made.late_events)} refused rows; the ledger has ${gigabytes(made.bytes)} GB,\n`,
    `its indexes ${gigabytes(made.index_bytes)} GB. A month has ${number(made.in_month)} keyed windows. Medians of ${rounds} rounds, milliseconds; in brackets: times the plain table.\n`,
    `${machineText(server)}.\n\n`,
    '|  | whole | one month |\n| --- | ---: | ---: |\n',
    ...[...figures].map(([name, taken]) => `| ${[name, ...cells(taken)].join(' | ')} |\n`),
  ].join('');
}
