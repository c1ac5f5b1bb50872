/**
 * Where what the stream wrote contradicts the settings: the job's delay and allowed lateness must be those of the stream,
 * or the two judge one row differently. A warning, with both figures.
 */
import { microseconds } from '../catalog/describe.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupSettings } from '../config/settings.ts';
import { execute, type Statement } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { counted } from '../output/amount.ts';
import { spanText } from './instant-text.ts';

export interface Contradiction {
  /** See `sql/report/contradictions.sql`. */
  readonly kind: 'refused_early' | 'refused_there' | 'refused_here' | 'delay';
  readonly setting: 'allowed_lateness' | 'watermark.delay';
  /** How many rows say so; null: not by rows. */
  readonly rows: string | null;
  /** As in the file. */
  readonly configured: string;
  /** What the stream's would be, at most (`refused_here`: at least); null: nothing tells. */
  readonly implied_seconds: string | null;
  readonly text: string;
}

/** @param runId what this run found; null: all that runs have found */
export async function readContradictions(
  transaction: ControlTransaction,
  statement: Statement,
  rollup: Rollup,
  runId: string | null,
): Promise<Contradiction[]> {
  const { watermark, allowedLateness } = rollup.settings;
  const isRecorded = watermark.strategy === 'recorded';
  if (watermark.refused === undefined && !(isRecorded && watermark.delay)) return [];
  const { rows } = await execute<Pick<Contradiction, 'kind' | 'rows' | 'implied_seconds'>>(
    transaction,
    statement,
    {
      rollup_id: rollup.id,
      run_id: runId,
      allowed_lateness: microseconds(allowedLateness),
      delay: isRecorded && watermark.delay ? microseconds(watermark.delay) : null,
      compares_refused: isRecorded && watermark.refused !== undefined,
    },
  );
  return rows.map(({ kind, ...found }) => {
    const setting = kind === 'delay' ? 'watermark.delay' : 'allowed_lateness';
    const configured = (kind === 'delay' ? watermark.delay : allowedLateness)?.text ?? '';
    return { kind, setting, configured, ...found, text: textOf(kind, found, configured, rollup.settings) };
  });
}

function textOf(
  kind: Contradiction['kind'],
  { rows, implied_seconds: seconds }: Pick<Contradiction, 'rows' | 'implied_seconds'>,
  configured: string,
  { allowedLateness }: RollupSettings,
): string {
  const many = counted(rows ?? '0', 'row');
  const span = seconds === null ? null : spanText(seconds);
  const limit = `allowed_lateness is ${allowedLateness.text}`;
  switch (kind) {
    case 'refused_early':
      return seconds?.startsWith('-')
        ? `the stream refused ${many} too early: one even ${span?.slice(1)} before its window's end, where ${limit}`
        : `the stream refused ${many} too early: one ${span} after its window's end, where ${limit}`;
    case 'refused_there':
      return `the stream refused ${many} that ${rows === '1' ? 'is' : 'are'} in time here: ${limit}${span === null ? '' : `, the stream's at most ${span}`}`;
    case 'refused_here':
      return `${many} refused here the stream did not refuse: ${limit}, the stream's more than ${span}`;
    case 'delay':
      return `the stream's log stands ${span} behind the greatest event time in bronze, where watermark.delay is ${configured}`;
  }
}
