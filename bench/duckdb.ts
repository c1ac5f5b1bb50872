/**
 * DuckDB over a copy of bronze in Parquet, one file an ingestion day: what a full scan by columns takes. It is no dependency of Errata;
 * the job is there where it can be found:
 *
 *     npm install --no-save @duckdb/node-api
 */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

/** As much of its module as is used. */
interface DuckModule {
  readonly DuckDBInstance: {
    create(path: string): Promise<{ connect(): Promise<DuckConnection> }>;
  };
}
interface DuckConnection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }>;
  closeSync(): void;
}

export interface Totals {
  readonly windows: string;
  readonly orders: string;
  readonly revenue: string;
}

export interface Duck {
  /** Copies what landed in bronze from one instant to another into one more file; not timed. */
  append(from: string, until: string): Promise<void>;
  /** All totals from all files, into a table of its own. @returns milliseconds */
  full(width: string): Promise<number>;
  totals(): Promise<Totals>;
  close(): void;
}

/** Undefined where DuckDB is not installed. */
export async function openDuck(pool: pg.Pool): Promise<Duck | undefined> {
  const name = '@duckdb/node-api';
  const module = (await import(name).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  })) as DuckModule | undefined;
  if (!module) return undefined;
  const place = mkdtempSync(join(tmpdir(), 'bench-parquet-'));
  const connection = await (await module.DuckDBInstance.create(':memory:')).connect();
  let files = 0;
  return {
    async append(from, until) {
      const text = join(place, 'day.csv');
      const client = await pool.connect();
      try {
        const rows = `select order_id, (extract(epoch from ordered_at) * 1000000)::bigint, region, amount
          from bronze.orders where ingested_at >= '${from}' and ingested_at < '${until}'`;
        await pipeline(
          client.query(copyTo(`copy (${rows}) to stdout (format csv)`)),
          createWriteStream(text),
        );
      } finally {
        client.release();
      }
      await connection.run(
        `copy (
           select order_id, make_timestamp(ordered_at) as ordered_at, region, amount
           from read_csv('${text}', header = false, columns = {
             'order_id': 'bigint', 'ordered_at': 'bigint', 'region': 'varchar', 'amount': 'decimal(12, 2)'
           })
         ) to '${join(place, `${files++}.parquet`)}' (format parquet)`,
      );
      rmSync(text);
    },
    async full(width) {
      const started = performance.now();
      await connection.run(
        `create or replace table totals as
         select time_bucket(interval '${width}', ordered_at) as window_start, region, count(*) as orders, sum(amount) as revenue
         from read_parquet('${join(place, '*.parquet')}')
         group by all`,
      );
      return performance.now() - started;
    },
    async totals() {
      const found = await connection.runAndReadAll(
        'select count(*)::varchar, sum(orders)::varchar, sum(revenue)::varchar from totals',
      );
      const [[windows, orders, revenue] = []] = found.getRowsJson() as string[][];
      return { windows: windows ?? '', orders: orders ?? '', revenue: revenue ?? '' };
    },
    close() {
      connection.closeSync();
      rmSync(place, { recursive: true, force: true });
    },
  };
}
