/**
 * What Errata keeps of the overrides follows the settings, and must not lose where a key was sealed: a change that would
 * is refused until all keys stand where the rollup does (R8).
 */
import { quoteName } from '../db/identifiers.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import type { Definition } from './definition.ts';
import { namesOf, relationsOf } from './relations.ts';
import { emptyViewsOn } from './remake.ts';
import type { Rollup } from './rollup.ts';

/** Before the definitions, which make it anew. @throws Failure, exit code 2, where a key is sealed otherwise than the rest. */
export async function retireOverrides(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const { overrides, schema, settings } = rollup;
  const { rows } = await execute<{ column_name: string }>(transaction, prepare('catalog/relation.sql', {}), {
    schema,
    name: `${settings.name}_override`,
  });
  const known = rows.map(({ column_name: name }) => name).filter((name) => !name.startsWith('errata_'));
  if (known.length === 0) return;
  const { override } = relationsOf(rollup);
  const wanted = overrides?.by.map(({ name }) => name) ?? [];
  if (overrides?.hasDelay && wanted.join('\n') === known.join('\n')) return;
  const [apart] = await query<{ keys: string; one: string | null }>(
    transaction,
    `select count(*)::text as keys, min(to_jsonb(o)::text) as one
     from (
       select ${known.map((name) => `o.${quoteName(name)}`).join(', ')}
       from ${override} as o
       join ${quoteName(schema)}.rollup as r on r.rollup_id = $1
       where greatest(o.errata_sealed_floor, r.sealed_until + o.errata_shift) is distinct from r.sealed_until
     ) as o`,
    [rollup.id],
  );
  if (apart && apart.keys !== '0') {
    throw new Failure(`the overrides of rollup "${settings.name}" cannot be changed yet`, {
      detail: `keys with a delay of their own are sealed otherwise than the rest: ${apart.keys}, such as ${apart.one}`,
      hint: 'keep the setting, delete the rows of its table, and run `errata run` until they stand where the others do; then change it',
      exitCode: 2,
    });
  }
  await emptyViewsOn(transaction, rollup, namesOf(rollup).override);
  await query(transaction, `drop table ${override}`);
}

/** The watermark of a key is reckoned from the delay of each step; steps from before the overrides do not say theirs. */
export async function noteDelayOfSteps(
  transaction: ControlTransaction,
  { id, overrides, schema, settings }: Rollup,
  old: Definition,
): Promise<void> {
  const delay = old.policies.delay;
  if (!overrides?.isByKey || !overrides.hasDelay || settings.watermark.strategy !== 'bounded' || !delay)
    return;
  await query(
    transaction,
    `update ${quoteName(schema)}.watermark_step set delay = $2::interval where rollup_id = $1 and delay is null`,
    [id, delay],
  );
}
