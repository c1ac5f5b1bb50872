/** Chain: hash what the run published, and link it to what was published before, in the same commit (R21). */
import { execute } from '../db/statement.ts';
import type { RunContext } from './context.ts';

export interface Hashed {
  readonly versions: string;
  /** Hexadecimal digits; null: there is nothing to link. */
  readonly rows_hash: string | null;
}

export async function hashVersions(run: RunContext): Promise<Hashed> {
  const { rows } = await execute<Hashed>(run.transaction, run.statements.pipeline.hash_versions, {
    run_id: run.runId,
  });
  return rows[0] as Hashed;
}

/**
 * Called when the record of the run is complete. A run that published nothing is no link: there would be one for each
 * call of a scheduler, and a record without a published number proves nothing.
 */
export async function link(run: RunContext, { versions, rows_hash }: Hashed): Promise<void> {
  if (rows_hash === null) return;
  await execute(run.transaction, run.statements.pipeline.link, {
    rollup_id: run.rollup.id,
    run_id: run.runId,
    versions,
    rows_hash,
  });
}
