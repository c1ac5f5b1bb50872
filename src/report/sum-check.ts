/** The sum check (R14): from what was sealed to what bronze says, measure by measure; amounts are decimal text. */
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { execute, prepare } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { amount, difference } from '../output/amount.ts';
import { table } from '../output/table.ts';
import type { KeyedWindow } from './keyed-window.ts';

export interface MeasureCheck {
  readonly measure: string;
  readonly sealed: string;
  readonly corrections: string;
  readonly latest: string;
  readonly pending: string;
  readonly held: string;
  readonly waived: string;
  readonly restated: string;
  /** The value counted anew from bronze; null where nobody has, or where bronze holds no row. */
  readonly recounted: string | null;
  /** sealed + corrections = latest, and latest + pending + held + waived = restated. */
  readonly adds_up: boolean;
  /** Recounted less restated; null where nobody has recounted. */
  readonly unexplained: string | null;
}

/** Measure to value, as text. */
export type Recount = Readonly<Record<string, string | null>>;

/** Over one keyed window, over one window of all keys, or over all; additive measures only, in the order of the settings. */
export async function readSumCheck(
  transaction: ControlTransaction,
  rollup: Rollup,
  recount?: Recount,
  only?: Pick<KeyedWindow, 'window_start' | 'window_end'> & Partial<Pick<KeyedWindow, 'key'>>,
): Promise<MeasureCheck[]> {
  const { rows } = await execute<MeasureCheck>(
    transaction,
    prepare('report/sum_check.sql', bindingsOf(rollup)),
    {
      window_start: only?.window_start ?? null,
      window_end: only?.window_end ?? null,
      key: only?.key ? JSON.stringify(only.key) : null,
      recount: recount ? JSON.stringify(recount) : null,
    },
  );
  return rows;
}

export function holds(checks: readonly MeasureCheck[]): boolean {
  return checks.every(({ adds_up: addsUp, unexplained }) => addsUp && isNothing(unexplained));
}

/** Aligned lines, and one below that says whether it holds. Held and waived only where there is any. Empty where no measure adds up. */
export function sumCheckLines(checks: readonly MeasureCheck[]): string[] {
  if (checks.length === 0) return [];
  const parts = (['held', 'waived'] as const).filter((part) =>
    checks.some((check) => !isNothing(check[part])),
  );
  const isRecounted = checks.some(({ unexplained }) => unexplained !== null);
  const columns = ['sealed', 'corrections', 'latest', 'pending', ...parts, 'restated'];
  if (isRecounted) columns.push('in bronze');
  const rows = checks.map((check) => [
    check.measure,
    amount(check.sealed),
    difference(check.corrections),
    amount(check.latest),
    difference(check.pending),
    ...parts.map((part) => difference(check[part])),
    amount(check.restated),
    ...(isRecounted ? [amount(check.recounted)] : []),
  ]);
  return [
    ...table([{ title: '' }, ...columns.map((title) => ({ title, isNumber: true }))], rows),
    verdictOf(checks, ['pending', ...parts], isRecounted),
  ];
}

function verdictOf(
  checks: readonly MeasureCheck[],
  waiting: readonly string[],
  isRecounted: boolean,
): string {
  const sums = `sealed + corrections = latest, latest + ${waiting.join(' + ')} = restated`;
  if (holds(checks)) return `It adds up: ${sums}${isRecounted ? ' = the rows of bronze, counted anew' : ''}.`;
  const wrong = checks
    .filter((check) => !holds([check]))
    .map(({ measure, unexplained }) => `${measure} ${difference(unexplained ?? '')}`.trim());
  return `IT DOES NOT ADD UP (${sums}${isRecounted ? ' = in bronze' : ''}); unexplained: ${wrong.join(', ')}.`;
}

export function isNothing(text: string | null): boolean {
  return text === null || /^-?0+(\.0+)?$/.test(text);
}
