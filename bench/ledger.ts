/** A long ledger with its refused rows and closed months, and beside it what `latest` gives as a plain table. */
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { createErrata, readSettings } from '../src/index.ts';
import { timed } from './server.ts';
import { statement } from './statement.ts';

export interface Ledger {
  /** Instants between which the windows of five minutes lie. */
  readonly from: string;
  readonly until: string;
  readonly keys: number;
}

/** Made as `errata migrate` makes it, and filled in sets past the guard, which takes versions from runs alone. */
export async function makeLedger(pool: pg.Pool, { from, until, keys }: Ledger): Promise<void> {
  await pool.query(statement('views/schema'));
  const settings = readSettings(fileURLToPath(new URL('views.yaml', import.meta.url)), process.env);
  await createErrata({ pool, settings }).migrate();
  const { rows } = await pool.query('select definition_fingerprint from errata.rollup');
  for (const table of ['gold.orders', 'gold.orders_late_event'])
    await pool.query(`alter table ${table} disable trigger user`);
  await timed('versions', async () => {
    const step = 90 * 86_400_000;
    for (let start = Date.parse(from); start < Date.parse(until); start += step) {
      const stretch = [start, Math.min(start + step, Date.parse(until))].map((at) =>
        new Date(at).toISOString(),
      );
      await pool.query(statement('views/versions'), [...stretch, keys, rows[0].definition_fingerprint]);
    }
  });
  await timed('late events', () => pool.query(statement('views/late_events')));
  await pool.query(statement('views/known'), [from, until]);
  await timed('vacuum', () => pool.query('vacuum analyze'));
  await timed('the plain table', async () => {
    await pool.query(statement('views/plain'));
    await pool.query('create index on bench.plain (window_start)');
    await pool.query('vacuum analyze bench.plain');
  });
}
