/** Keyed windows that were corrected, or have events that await someone: sealed, latest and restated side by side. */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { amount, difference } from '../../output/amount.ts';
import { table } from '../../output/table.ts';
import { windowText } from '../../output/window-text.ts';
import { type KeyedWindow, keyValueText } from '../keyed-window.ts';
import { isNothing } from '../sum-check.ts';

export interface MovedWindow extends KeyedWindow {
  readonly version: number;
  readonly measures: Readonly<
    Record<string, Readonly<Record<'sealed' | 'corrections' | 'latest' | 'pending' | 'restated', string>>>
  >;
}

/** Those that moved by most events first. */
export async function readMovedWindows(
  transaction: ControlTransaction,
  rollup: Rollup,
  atMost: number,
): Promise<MovedWindow[]> {
  const { rows } = await execute<MovedWindow>(
    transaction,
    prepare('report/moved_windows.sql', bindingsOf(rollup)),
    { at_most: atMost },
  );
  return rows;
}

/** Aligned lines in the order of windows: one keyed window each, by one measure. */
export function movedLines(windows: readonly MovedWindow[], rollup: Rollup, measure: string): string[] {
  const parts = ['sealed', 'corrections', 'latest', 'pending', 'restated'] as const;
  const keys = rollup.keys.map((key) => key.name);
  const rows = [...windows]
    .sort((a, b) => (a.window_start < b.window_start ? -1 : a.window_start > b.window_start ? 1 : 0))
    .map((window) => {
      const values = window.measures[measure];
      return [
        windowText(window),
        ...keys.map((key) => keyValueText(window.key[key])),
        ...parts.map((part) => cellOf(part, values?.[part])),
      ];
    });
  return table(
    [
      { title: 'window' },
      ...keys.map((title) => ({ title })),
      ...parts.map((title) => ({ title, isNumber: true })),
    ],
    rows,
  );
}

function cellOf(part: string, value: string | undefined): string {
  if (part !== 'corrections' && part !== 'pending') return amount(value);
  return isNothing(value ?? null) ? '–' : difference(value);
}
