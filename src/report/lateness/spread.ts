/** Percentiles of lateness: of all rows, by source partition, by key, by day of arrival. */
import type { Rollup } from '../../catalog/rollup.ts';
import { joinSql, quoteName, type Sql, trustedSql } from '../../db/identifiers.ts';
import type { Bindings } from '../../db/sql.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';

export type Grouping = 'source' | 'key';

/** Seconds as decimal text; null where no row of the group has a lateness. */
export interface Spread {
  /** `{ region: EU }`, `{ source_partition: 7 }`, `{ day: 2026-10-29 }`; empty for all rows. Null values are NULL. */
  readonly name: Readonly<Record<string, string | null>>;
  readonly rows: string;
  /** Rows without a lateness: quarantined, or without an arrival. */
  readonly set_aside: string;
  readonly p50: string | null;
  readonly p90: string | null;
  readonly p95: string | null;
  readonly p99: string | null;
  readonly p999: string | null;
  readonly max: string | null;
  /** Rows that arrived before their event time. */
  readonly negative: string;
  readonly negative_share: string | null;
  /** How many groups there are; not all of them may have been read. */
  readonly groups: string;
}

export interface Spreads {
  readonly whole: Spread;
  readonly groups: readonly Spread[];
}

export async function readSpread(
  transaction: ControlTransaction,
  rollup: Rollup,
  bindings: Bindings,
  grouping: Grouping | 'day' | 'none',
  atMost: number,
): Promise<Spread[]> {
  const statement = prepare('report/lateness_spread.sql', {
    ...bindings,
    ...groupBindings(rollup, bindings)[grouping],
  });
  return (await execute<Spread>(transaction, statement, { at_most: atMost })).rows;
}

/** `group_order` is taken in descending order, NULL last. */
function groupBindings(
  rollup: Rollup,
  { key_pairs: keyPairs }: Bindings,
): Record<Grouping | 'day' | 'none', Record<'group_name' | 'group_by' | 'group_order', Sql>> {
  const keys = rollup.keys.map(({ name }) => trustedSql(`c.${quoteName(name)}`));
  const p99 = trustedSql('percentile_disc(0.99) within group (order by c.errata_lateness)');
  return {
    none: { group_name: trustedSql("'{}'::jsonb"), group_by: trustedSql('()'), group_order: trustedSql('1') },
    source: {
      group_name: trustedSql("jsonb_build_object('source_partition', c.errata_source_partition)"),
      group_by: trustedSql('c.errata_source_partition'),
      group_order: p99,
    },
    key: {
      group_name: trustedSql(`jsonb_build_object(${keyPairs})`),
      group_by: keys.length === 0 ? trustedSql('()') : joinSql(keys, ', '),
      group_order: p99,
    },
    day: {
      group_name: trustedSql("jsonb_build_object('day', c.errata_arrival_day::text)"),
      group_by: trustedSql('c.errata_arrival_day'),
      group_order: trustedSql("date '2000-01-01' - c.errata_arrival_day"),
    },
  };
}
