/** The sample rollup of the SQL files, small enough to reckon by hand: orders by day and region. */
import { openTestDatabase, type TestDatabase } from './database.ts';
import { openErrata, type TestErrata } from './errata.ts';

export interface OrdersOptions {
  readonly window?: string;
  readonly key?: string;
  readonly measures?: string;
  readonly watermark?: string;
  readonly lateness?: string;
  readonly policy?: 'auto' | 'grace' | 'review';
  /** Further members of `publish`, as in `horizon: 30 days`. */
  readonly publish?: string;
  /** As in `{ table: finance.periods }`; default: months. */
  readonly periods?: string;
  readonly seal?: string;
  readonly partials?: boolean;
  readonly bronze?: string;
  /** Runs before the rollup is migrated; default: the plain table. */
  readonly ddl?: string;
  /** Default: one of the test file's own. */
  readonly database?: TestDatabase;
}

export interface Orders extends TestErrata {
  readonly database: TestDatabase;
  /** Rows of `id event_time ingested_at [region [amount]]`; times as in `10-29 18:02` of 2026 in UTC, `-` is NULL. */
  land(...rows: string[]): Promise<void>;
  /** `region version orders revenue causes`, one line a version, in the order of windows, regions and versions. */
  ledger(): Promise<string[]>;
  /** `id region landing state vN cause`, in the order of ingestion. */
  lateEvents(): Promise<string[]>;
}

export const plainTable = `
  create schema if not exists bronze;
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2))`;

/** With a table of delays and latenesses by region, and columns of a row's own. */
export const tableWithDelays = `
  create schema if not exists bronze;
  create schema ops;
  create table ops.delays (region text, delay interval, lateness interval);
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2),
    patience interval, grace interval)`;

/** By day of ingestion, from 2026-10-25 to 2026-11-10. */
export const dailyPartitions = `
  create schema if not exists bronze;
  create table bronze.orders (order_id text, ordered_at timestamptz, ingested_at timestamptz, region text, amount numeric(12,2))
    partition by range (ingested_at);
  do $$ begin
    for n in 0..16 loop
      execute format('create table bronze.orders_%s partition of bronze.orders for values from (%L) to (%L)',
        to_char(date '2026-10-25' + n, 'YYYYMMDD'), (date '2026-10-25' + n)::text || ' 00:00+00', (date '2026-10-26' + n)::text || ' 00:00+00');
    end loop;
  end $$`;

/** The text of `errata.yaml`. */
export function ordersYaml(options: OrdersOptions = {}): string {
  return `
rollups:
  daily_orders:
    gold: gold.daily_orders
    bronze: ${options.bronze ?? '{ table: bronze.orders, event_id: order_id, event_time: ordered_at, ingested_at: ingested_at, complete_from: 2026-01-01 }'}
    window: ${options.window ?? '{ calendar: 1 day, time_zone: UTC }'}
    key: ${options.key ?? '[region]'}
    measures: ${options.measures ?? '{ orders: count(*), revenue: sum(amount) }'}
    watermark: ${options.watermark ?? '{ strategy: bounded, delay: 1 hour }'}
    allowed_lateness: ${options.lateness ?? '24 hours'}
    seal: ${options.seal ?? '{ by: errata }'}
    publish: { policy: ${options.policy ?? 'auto'}${options.publish ? `, ${options.publish}` : ''} }
    partials: ${options.partials ?? false}
${options.periods ? `periods: ${options.periods}\n` : ''}`;
}

export async function openOrders(options: OrdersOptions = {}): Promise<Orders> {
  const database = options.database ?? (await openTestDatabase('migrated'));
  await database.pool.query(options.ddl ?? plainTable);
  const errata = await openErrata(database, ordersYaml(options));
  const lines = async (sql: string) => (await errata.rows<{ line: string }>(sql)).map((row) => row.line);
  return {
    ...errata,
    database,
    land: async (...rows) => {
      const instant = (day: string, time: string) => (day === '-' ? null : `2026-${day} ${time}+00`);
      for (const row of rows) {
        const [id, day = '', time = '', landedOn = '', landedAt = '', region = 'EU', amount = '10'] =
          row.split(' ');
        await database.pool.query(
          'insert into bronze.orders (order_id, ordered_at, ingested_at, region, amount) values ($1, $2, $3, $4, $5)',
          [
            id,
            instant(day, time),
            instant(landedOn, landedAt),
            region === 'NULL' ? null : region === "''" ? '' : region,
            amount,
          ],
        );
      }
    },
    ledger: () =>
      lines(
        `select concat_ws(' ', to_char(window_start at time zone 'UTC', 'MM-DD'), coalesce(quote_nullable(region), ''), 'v' || version, coalesce(orders::text, '-'), coalesce(revenue::text, '-'), nullif(array_to_string(causes, '+'), '')) as line
         from gold.daily_orders order by window_start, region nulls first, version`,
      ),
    lateEvents: () =>
      lines(
        `select concat_ws(' ', event_id, quote_nullable(region), coalesce(landing, '-'), coalesce(state, '-'), 'v' || version, cause) as line
         from gold.daily_orders_late_event order by ingested_at, event_id, region, row_digest`,
      ),
  };
}

/**
 * Lets the catalogue's counters say what was written so far. A session tells of it up to a second later by itself, and a
 * past ingestion partition is read once more when they move.
 */
export async function settleCounters(errata: Pick<TestErrata, 'rows'>): Promise<void> {
  await errata.rows('select pg_stat_force_next_flush()');
  await errata.rows('select 1');
}

/** A mark "of another": of a rollup "other", which has a row and nothing else. Safe to repeat. */
export async function markAnother(errata: Pick<TestErrata, 'rows'>): Promise<void> {
  await errata.rows(
    `with other as (
       insert into errata.rollup (name, gold_schema, gold_name, definition_fingerprint, seal_by, allowed_lateness, complete_from, complete_from_source, created_at)
       select 'other', 'gold', 'other', definition_fingerprint, seal_by, allowed_lateness, complete_from, complete_from_source, created_at
       from errata.rollup where name = 'daily_orders'
       on conflict do nothing
       returning rollup_id
     )
     insert into errata.mark (name, stamp, actor, made_at, rollup_id)
     select 'of another', '2026-01-01', 'ada', '2026-01-01', rollup_id from other`,
  );
}
