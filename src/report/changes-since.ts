/** What changed since an instant, a run or a mark, keyed window by keyed window, as data (R9, R11). */
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { KeyedWindow } from './keyed-window.ts';

export interface ChangedWindow extends KeyedWindow {
  /** Null: nothing had been published of it. */
  readonly old_version: number | null;
  readonly new_version: number;
  readonly is_void: boolean;
  readonly causes: readonly string[] | null;
  /** The runs that published the versions since. */
  readonly runs: readonly string[];
  readonly stamp: string;
  /** Old and new, by measure. */
  readonly measures: Readonly<Record<string, readonly [string | null, string | null]>>;
  readonly deltas: Readonly<Record<string, string | null>>;
}

/** `runId`: only what this run changed, beside what stood before it. The latest window first. */
export async function readChangesSince(
  transaction: ControlTransaction,
  rollup: Rollup,
  {
    since,
    until = null,
    runId,
    atMost,
  }: {
    readonly since: string;
    /** What is stamped later is left out; null: nothing is. */
    readonly until?: string | null;
    readonly runId: string | null;
    readonly atMost: number;
  },
): Promise<ChangedWindow[]> {
  const { rows } = await execute<ChangedWindow>(
    transaction,
    prepare('report/changes_since.sql', bindingsOf(rollup)),
    { since, run_id: runId, at_most: atMost, until },
  );
  return rows;
}
