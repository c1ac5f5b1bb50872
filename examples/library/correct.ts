/**
 * Errata in a program of one's own: a late order is published as a correction, explained, and reconciled.
 *
 *     npm install /path/to/errata-0.1.0.tgz pg
 *     DATABASE_URL=postgresql://… node correct.ts
 *
 * Makes the schemas bronze, gold and errata in that database.
 */
import { createErrata, type RollupResult, readSettings } from 'errata';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`
  create schema bronze;
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12, 2));
  insert into bronze.orders values
    ('8839', '2026-10-29T10:00Z', '2026-10-29T10:00:20Z', 'EU', 20.00),
    ('8840', '2026-10-29T17:00Z', '2026-10-29T17:00:20Z', 'EU', 5.50),
    ('8842', '2026-10-30T02:00Z', '2026-10-30T02:00:20Z', 'EU', 1.00)`);

const errata = createErrata({ pool, settings: readSettings('errata.yaml', process.env) });
const { migrations } = await errata.migrate();
console.log(`${migrations.length > 0 ? 'made' : 'found'} the control tables`);

/** A rollup that fails does not stop the others: each result is a report, or the failure. */
const say = ([result]: RollupResult[]) =>
  console.log(
    result?.failure?.message ?? `run ${result?.report?.runId}: ${JSON.stringify(result?.report?.counts)}`,
  );

say(await errata.run({ bound: '2026-10-30T03:00Z' }));
await pool.query(
  `insert into bronze.orders values ('8841', '2026-10-29T18:02Z', '2026-10-30T12:00Z', 'EU', 9.00)`,
);
say(await errata.plan({ bound: '2026-10-30T13:00Z' }));
say(await errata.run({ bound: '2026-10-30T13:00Z' }));

const answer = await errata.explain('daily_orders', '2026-10-29', ['EU']);
if ('explanation' in answer)
  for (const { version, measures } of answer.explanation.versions)
    console.log(`version ${version}: ${measures.orders?.new} orders, ${measures.revenue?.new}`);

const { counts } = await errata.reconcile('daily_orders', { period: '2026-10' });
console.log(`${counts.keyed_windows} keyed windows, ${counts.unexplained} unexplained`);
await pool.end();
