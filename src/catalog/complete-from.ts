/** From when on bronze is complete: the setting, else the earliest ingestion partition, else the first ingestion (R15). */

import { quoteName } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { bindingsOf } from './bindings.ts';
import { earliestBound, listPartitions } from './partitions.ts';
import type { Rollup } from './rollup.ts';

export interface CompleteFrom {
  readonly instant: string;
  readonly source: 'setting' | 'partition' | 'first_ingestion' | 'empty';
}

export async function findCompleteFrom(
  transaction: ControlTransaction,
  rollup: Rollup,
): Promise<CompleteFrom> {
  const { completeFrom } = rollup.settings.bronze;
  if (completeFrom !== undefined)
    return { instant: await startOf(transaction, zoneOf(rollup), completeFrom), source: 'setting' };
  const bound = earliestBound(await listPartitions(transaction, rollup));
  if (bound !== undefined) {
    const zone = rollup.settings.bronze.timeZone ?? zoneOf(rollup);
    return { instant: await startOf(transaction, zone, bound), source: 'partition' };
  }
  const { bronze, ingested_at_value: ingestedAt } = bindingsOf(rollup);
  const [first] = await query<{ day: string | null }>(
    transaction,
    `select date_trunc('day', min(${ingestedAt}), $1)::text as day from ${bronze} as b where isfinite(${ingestedAt})`,
    [zoneOf(rollup)],
  );
  if (first?.day) return { instant: first.day, source: 'first_ingestion' };
  return { instant: '-infinity', source: 'empty' };
}

/**
 * For a bronze that was empty when the rollup was migrated: the start of the day of its earliest ingestion, once there
 * is one. @returns it, recorded.
 */
export async function recordFirstIngestion(
  transaction: ControlTransaction,
  rollup: Rollup,
  earliest: string,
): Promise<string> {
  const [row] = await query<{ complete_from: string }>(
    transaction,
    `update ${quoteName(rollup.schema)}.rollup as r
     set complete_from = date_trunc('day', $2::timestamptz, $3), complete_from_source = 'first_ingestion'
     where r.rollup_id = $1
     returning r.complete_from::text as complete_from`,
    [rollup.id, earliest, zoneOf(rollup)],
  );
  return row?.complete_from ?? '-infinity';
}

/** A date or a time of day is of the zone; an instant with an offset stands for itself. */
async function startOf(transaction: ControlTransaction, zone: string, text: string): Promise<string> {
  const hasZone = /([Zz]|[+-]\d\d(:?\d\d)?)$/.test(text.slice(10));
  const [row] = await query<{ instant: string }>(
    transaction,
    hasZone
      ? 'select $1::timestamptz::text as instant'
      : 'select ($1::timestamp at time zone $2)::text as instant',
    hasZone ? [text] : [text, zone],
  );
  return row?.instant ?? '-infinity';
}

/** The calendar's, else UTC. */
function zoneOf(rollup: Rollup): string {
  const { window } = rollup.settings;
  return window.kind === 'calendar' ? window.timeZone : 'UTC';
}
