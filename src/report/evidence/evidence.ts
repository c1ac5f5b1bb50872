/** A rollup whose published versions are hashed, and the links of its chain (R21). */
import { bindingsOf } from '../../catalog/bindings.ts';
import { relationsOf } from '../../catalog/relations.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import type { RollupSettings, Settings } from '../../config/settings.ts';
import { quoteName } from '../../db/identifiers.ts';
import { execute, prepare, query } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import { publishedRollup } from '../published-rollup.ts';

/** A run that hashed what it published, chained to the links before it. */
export interface Link {
  readonly run_id: string;
  /** As in `2026-10-30T05:00:00.123456Z`. */
  readonly stamp: string;
  /** 64 hexadecimal digits. */
  readonly head: string;
  /** Up to this one, it included. */
  readonly links: string;
  readonly versions: string;
}

/** @throws Failure, exit code 2, for a rollup that is not migrated, or whose settings lack a measure of the ledger. */
export async function evidenceRollup(
  transaction: ControlTransaction,
  settings: Settings,
  chosen: RollupSettings,
): Promise<Rollup> {
  const rollup = await publishedRollup(transaction, settings, chosen);
  const [found] = await query<{ is_there: boolean; measures: string[] }>(
    transaction,
    `select to_regclass($2) is not null as is_there,
       array(select jsonb_object_keys(d.definition->'measures')) as measures
     from ${quoteName(rollup.schema)}.rollup as r
     join ${quoteName(rollup.schema)}.definition as d on d.fingerprint = r.definition_fingerprint
     where r.rollup_id = $1`,
    [rollup.id, relationsOf(rollup).evidence],
  );
  const place = `${settings.file}:${chosen.position.line}`;
  if (!found?.is_there)
    throw new Failure(`the versions of rollup "${chosen.name}" are not hashed yet`, {
      detail: `an earlier version of Errata has migrated it (${place})`,
      hint: 'run `errata migrate`; the next run hashes what the ledger holds',
      exitCode: 2,
    });
  const missing = found.measures.filter((name) => !chosen.measures.some((measure) => measure.name === name));
  if (missing.length > 0)
    throw new Failure(`rollup "${chosen.name}" has measures that the settings do not name`, {
      detail: `${missing.join(', ')} (${place})`,
      hint: 'name them as they were migrated: the hash of a version covers every measure',
      exitCode: 2,
    });
  return rollup;
}

/** @param run undefined: the head, the latest of them. */
export async function readLink(
  transaction: ControlTransaction,
  rollup: Rollup,
  run?: string,
): Promise<Link | undefined> {
  const { rows } = await execute<Link>(transaction, prepare('report/digest.sql', bindingsOf(rollup)), {
    rollup_id: rollup.id,
    run_id: run ?? null,
  });
  return rows[0];
}

/** How many versions the next run is to link: those of the stream, or before the first link the whole ledger. */
export async function countWaiting(
  transaction: ControlTransaction,
  rollup: Rollup,
  head: Link | undefined,
): Promise<string> {
  const { ledger, unchained } = relationsOf(rollup);
  const [row] = await query<{ waiting: string }>(
    transaction,
    `select count(*) as waiting from ${head ? unchained : ledger}`,
  );
  return row?.waiting as string;
}
