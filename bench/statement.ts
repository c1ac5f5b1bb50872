/** The statements of `bench/sql`, for one width of window and one table of totals. */
import { readFileSync } from 'node:fs';

export interface Column {
  /** As SQL has it, and as a name has it. */
  readonly width: string;
  readonly name: string;
  readonly late: number;
}

/** @param totals where the job that asks keeps its totals, as in `bench.full_1_day` */
export function statement(file: string, width = '1 day', totals = 'bench.totals'): string {
  return readFileSync(new URL(`sql/${file}.sql`, import.meta.url), 'utf8')
    .replaceAll("interval '1 day'", `interval '${width}'`)
    .replaceAll('bench.totals', totals)
    .replaceAll('gold.daily_orders', `gold.orders_${underscored(width)}`);
}

export function underscored(width: string): string {
  return width.replaceAll(' ', '_');
}
