/** A rollup whose rows come from several source partitions; a second is the unit, 2026-01-01 in UTC the zero. */
import { openTestDatabase, type TestDatabase } from './database.ts';
import { openErrata, type TestErrata } from './errata.ts';

export interface SourcePartitions extends TestErrata {
  readonly database: TestDatabase;
  /** Rows of `source_partition arrival_second event_second`. */
  land(...rows: string[]): Promise<void>;
  /** An entry of the log that Errata makes for the rollup. */
  log(name: string, at: number, watermark: number | null, isIdle?: boolean): Promise<void>;
  runAt(second: number): Promise<void>;
}

export const zero = '2026-01-01 00:00:00+00';

export async function openSourcePartitions(options: {
  readonly watermark: string;
  readonly window?: string;
  readonly lateness?: string;
  /** Runs before the rollup is migrated. */
  readonly ddl?: string;
}): Promise<SourcePartitions> {
  const database = await openTestDatabase('migrated');
  await database.pool.query(`
    create schema bronze;
    create table bronze.event (id bigint generated always as identity, source text, event_time timestamptz, ingested_at timestamptz)`);
  if (options.ddl) await database.pool.query(options.ddl);
  const errata = await openErrata(
    database,
    `
rollups:
  total:
    gold: gold.total
    bronze: { table: bronze.event, event_id: id, event_time: event_time, ingested_at: ingested_at, source_partition: source, complete_from: 0001-01-01 }
    window: ${options.window ?? '{ tumbling: 10 s }'}
    measures: { rows_counted: count(*) }
    watermark: ${options.watermark}
    allowed_lateness: ${options.lateness ?? '0'}
    seal: { by: errata }
    publish: { policy: auto }
`,
  );
  const second = `timestamptz '${zero}' + interval '1 second' *`;
  return {
    ...errata,
    database,
    land: async (...rows) => {
      for (const row of rows) {
        const [source, at = '', time = ''] = row.split(' ');
        await errata.rows(
          `insert into bronze.event (source, ingested_at, event_time) values ($1, ${second} $2::float8, ${second} $3::float8)`,
          [source === 'NULL' ? null : source, at, time],
        );
      }
    },
    log: async (name, at, watermark, isIdle = false) => {
      await errata.rows(
        `insert into gold.total_watermark_log (source_partition, at, watermark, idle) values ($1, ${second} $2::float8, ${second} $3::float8, $4)`,
        [name, at, watermark, isIdle],
      );
    },
    runAt: async (at) => {
      const [row] = await errata.rows<{ bound: string }>(`select (${second} $1::float8)::text as bound`, [
        at,
      ]);
      await errata.run({ bound: row?.bound });
    },
  };
}

/** The combined watermark just after a second, in seconds; null while there is none. */
export async function combinedAfter(errata: TestErrata, second: number): Promise<number | null> {
  const [row] = await errata.rows<{ watermark: string }>(
    `select extract(epoch from s.watermark - timestamptz '${zero}')::text as watermark
     from errata.watermark_step as s where s.at <= timestamptz '${zero}' + interval '1 second' * $1::float8
     order by s.at desc limit 1`,
    [second],
  );
  return row ? Number(row.watermark) : null;
}

/** The whole history, `at watermark` in seconds. */
export async function historyOf(errata: TestErrata): Promise<string[]> {
  const rows = await errata.rows<{ line: string }>(
    `select extract(epoch from s.at - timestamptz '${zero}')::float8 || ' ' || extract(epoch from s.watermark - timestamptz '${zero}')::float8 as line
     from errata.watermark_step as s order by s.at`,
  );
  return rows.map((row) => row.line);
}
