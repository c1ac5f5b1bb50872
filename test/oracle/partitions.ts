/** Bronze in ingestion partitions of half a minute, for the histories of rollups that keep partials. */
import type { TestDatabase } from '../support/database.ts';
import type { TestErrata } from '../support/errata.ts';

/** Those of one history, in the place of those of the one before. @param table of schema bronze, partitioned by ingestion */
export async function divide(
  errata: TestErrata,
  table: string,
  epoch: number,
  instant: (seconds: number) => string,
): Promise<void> {
  const old = await errata.rows<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'bronze.${table}'::regclass`,
  );
  for (const { name } of old) await errata.rows(`drop table ${name}`);
  // Of windows that had rows in what is gone nothing is published (R15).
  await errata.rows('delete from errata.ingestion_partition where rollup_id = $1', [errata.rollup.id]);
  for (let from = 0; from < 720; from += 30)
    await errata.rows(
      `create table bronze.${table}_${epoch}_${from} partition of bronze.${table} for values from ('${instant(from)}') to ('${instant(from + 30)}')`,
    );
}

/** The counters of the partitions arrive with it, as they do within seconds: what a run does before is tested elsewhere. */
export async function land({ pool }: TestDatabase, sql: string, values: readonly unknown[]): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(sql, [...values]);
    await client.query('select pg_stat_force_next_flush()');
    await client.query('select 1');
  } finally {
    client.release();
  }
}
