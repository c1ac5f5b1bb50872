/** Which indexes of bronze serve a look-up: of keyed windows, led by the event time or by the key and then that; of an event id. */
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { Rollup } from './rollup.ts';

const statement = prepare('catalog/indexes.sql', {});

/** What is true of every leaf of bronze; nothing is where it has none, as a view. */
export interface ServingIndexes {
  /** The oids of bronze's tables. */
  readonly leaves: readonly string[];
  readonly leadWithTime: boolean;
  /** And then with the time; of a rollup without a key, with the time. */
  readonly leadWithKey: boolean;
  /** Some may lead with the key and some with the time. */
  readonly serve: boolean;
  /** With the event id, where one column is it: then it is cheap to ask for an id in other windows (R5). */
  readonly leadWithId: boolean;
}

export async function servingIndexes(
  transaction: ControlTransaction,
  rollup: Rollup,
): Promise<ServingIndexes> {
  const { rows } = await execute<{ relation_id: string; columns: string[] | null }>(transaction, statement, {
    relation_id: rollup.relationId,
  });
  const leaves = [...new Set(rows.map((row) => row.relation_id))];
  const every = (fits: (columns: readonly string[]) => boolean) =>
    leaves.length > 0 &&
    leaves.every((leaf) => rows.some((row) => row.relation_id === leaf && row.columns && fits(row.columns)));
  const keys = rollup.keys.map((key) => key.name);
  const leadsWithTime = (columns: readonly string[]) => isEventTime(rollup, columns[0]);
  const leadsWithKey = (columns: readonly string[]) =>
    keys.every((key) => columns.slice(0, keys.length).includes(key)) &&
    isEventTime(rollup, columns[keys.length]);
  return {
    leaves,
    leadWithTime: every(leadsWithTime),
    leadWithKey: every(leadsWithKey),
    serve: every((columns) => leadsWithTime(columns) || leadsWithKey(columns)),
    leadWithId: rollup.ids.length === 1 && every(([column]) => column === rollup.ids[0]?.name),
  };
}

function isEventTime({ times }: Rollup, column: string | undefined): boolean {
  if (column === undefined) return false;
  if (times.eventTime.type.endsWith('with time zone')) return column === times.eventTime.name;
  return /at time zone/i.test(column) && column.includes(times.eventTime.name);
}
