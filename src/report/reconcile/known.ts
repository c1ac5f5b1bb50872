/**
 * A sweep beside what was known at a mark or an instant. Versions are kept by stamp, so the fold of then is exact; bronze has
 * no past, so it is compared as it is now, and what came in between is named.
 */
import type { Rollup } from '../../catalog/rollup.ts';
import { query } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import type { KeyedWindow } from '../keyed-window.ts';
import type { KnownAt } from '../known-at.ts';
import { type Reach, reading } from './sweep.ts';

/** Of one additive measure: known + since = latest. */
export interface KnownTotal {
  readonly measure: string;
  readonly known: string;
  /** Published since. */
  readonly since: string;
}

/** A keyed window of which a version was published since, or events kept by name were examined since. */
export interface MovedWindow extends KeyedWindow {
  /** 0: nothing was published of it by then. */
  readonly known_version: number;
  readonly version: number;
  readonly events_since: string;
  /** The first ten. */
  readonly events: readonly string[];
  readonly measures: Readonly<Record<string, Readonly<Record<'known' | 'latest' | 'bronze', string | null>>>>;
}

export interface Known extends KnownAt {
  readonly totals: readonly KnownTotal[] | null;
  readonly moved_windows: string;
  /** The first of them. */
  readonly windows: readonly MovedWindow[];
}

export async function compareKnown(
  transaction: ControlTransaction,
  rollup: Rollup,
  then: KnownAt,
  { swept_from: from, swept_to: to }: Reach,
  isTotalled: boolean,
  atMost: number,
): Promise<Known> {
  const read = reading(transaction, rollup);
  await read('known', { known_at: then.at, swept_from: from, swept_to: to });
  await query(transaction, 'analyze pg_temp.errata_known');
  const windows = await read<MovedWindow & { readonly windows: string }>('known_windows', {
    known_at: then.at,
    at_most: atMost,
  });
  return {
    ...then,
    totals: isTotalled ? await read<KnownTotal>('known_totals') : null,
    moved_windows: windows[0]?.windows ?? '0',
    windows: windows.map(({ windows: _, ...window }) => window),
  };
}
