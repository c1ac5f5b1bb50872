/** What stands beside Errata: each job brings its own totals up to date after one more ingestion day. */
import type pg from 'pg';
import { statement, underscored } from './statement.ts';

export interface Job {
  readonly name: string;
  /** Keeps totals of its own, which are full before the first day. */
  readonly totals?: string;
  /** @param width of the windows @param day the new ingestion day, as in `2026-10-01` */
  work(client: pg.PoolClient, width: string, day: string): Promise<void>;
}

export const jobs: readonly Job[] = [
  {
    name: 'full recompute',
    totals: 'full',
    work: async (client, width) => {
      await client.query(`truncate ${totalsOf('full', width)}`);
      await client.query(statement('full', width, totalsOf('full', width)));
    },
  },
  {
    name: 'lateness join and MERGE over all bronze',
    totals: 'merge_all',
    work: async (client, width) => {
      await client.query(statement('merge_all', width, totalsOf('merge_all', width)));
    },
  },
  {
    name: 'the same through an analysed temporary table of the new partition’s late windows',
    totals: 'merge_touched',
    work: async (client, width, day) => {
      await touched(client, width, day);
      await client.query(statement('merge_touched', width, totalsOf('merge_touched', width)));
    },
  },
  ...[3, 10].map((days) => ({
    name: `delete and insert of ${days} days`,
    totals: `lookback_${days}`,
    work: async (client: pg.PoolClient, width: string, day: string) => {
      const totals = totalsOf(`lookback_${days}`, width);
      const since = [`${new Date(Date.parse(day) - days * 86_400_000).toISOString()}`];
      await client.query(`delete from ${totals} where window_start >= $1::timestamptz`, since);
      await client.query(statement('lookback', width, totals), since);
    },
  })),
  {
    name: 'by hand: each late window looked up in the covering index',
    totals: 'by_hand',
    work: async (client, width, day) => {
      await touched(client, width, day);
      await client.query(statement('by_hand', width, totalsOf('by_hand', width)));
    },
  },
  {
    name: 'limit: the new partition read once',
    work: async (client, _width, day) => {
      await client.query(statement('scan_day'), [day]);
    },
  },
  {
    name: 'limit: the touched windows counted in the index',
    work: async (client, width, day) => {
      await touched(client, width, day);
      await client.query(statement('count_touched', width));
    },
  },
];

export function totalsOf(job: string, width: string): string {
  return `bench.${job}_${underscored(width)}`;
}

async function touched(client: pg.PoolClient, width: string, day: string): Promise<void> {
  await client.query(statement('touched', width).replaceAll('$1', `'${day}'`));
  await client.query('analyze pg_temp.touched');
}
