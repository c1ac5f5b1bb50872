/** One statement under settings of the planner of its own. */
import { query } from '../db/statement.ts';
import type { RunContext } from './context.ts';

/**
 * They end with the work; where it fails, with the savepoint or the transaction.
 * @param settings values as `set` takes them, such as `{ enable_sort: 'off' }`
 */
export async function planned<Result>(
  transaction: RunContext['transaction'],
  settings: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = await query<{ name: string; value: string }>(
    transaction,
    `select s.name, current_setting(s.name) as value from unnest($1::text[]) as s (name)`,
    [Object.keys(settings)],
  );
  await set(transaction, Object.entries(settings));
  const result = await work();
  await set(
    transaction,
    before.map(({ name, value }) => [name, value]),
  );
  return result;
}

async function set(
  transaction: RunContext['transaction'],
  settings: readonly (readonly [string, string])[],
): Promise<void> {
  await query(
    transaction,
    'select set_config(s.name, s.value, true) from unnest($1::text[], $2::text[]) as s (name, value)',
    [settings.map(([name]) => name), settings.map(([, value]) => value)],
  );
}
