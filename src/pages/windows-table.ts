/** Keyed windows as a table: what shipped beside what is known now, and what is pending. */
import { html, raw } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { type Content, paragraph, span } from '../report/statement/markup.ts';
import { rowsOfPage } from './asked.ts';
import {
  change,
  count,
  type Html,
  keyCells,
  markup,
  moment,
  number,
  shown,
  type WindowRow,
  windowLink,
  words,
} from './cells.ts';
import { figureTable } from './figure.ts';
import type { Executed, Reading } from './reading.ts';

type Values = Readonly<Record<string, string | null>>;

export interface ShownWindow extends WindowRow {
  /** Null: it has no version. */
  readonly version: string | null;
  /** Null: nothing shipped. */
  readonly sealed: Values | null;
  readonly latest: Values | null;
  readonly is_void: boolean | null;
  readonly causes: readonly string[] | null;
  readonly stamp: string | null;
  readonly pending_rows: string | null;
  readonly pending: Values | null;
}

export interface WindowsAsked {
  readonly from: string;
  readonly to: string;
  readonly key: readonly (string | null)[] | null;
  readonly step: number;
}

export async function readWindows(
  reading: Reading,
  rollup: Rollup,
  { from, to, key, step }: WindowsAsked,
): Promise<Executed<ShownWindow>> {
  return await reading.figures<ShownWindow>('pages/windows.sql', 'auditor', bindingsOf(rollup), {
    from_instant: from,
    to_instant: to,
    key: key === null ? null : JSON.stringify(key),
    passed_over: (step - 1) * rowsOfPage,
    at_most: rowsOfPage,
  });
}

export function windowsTable(
  { settings, keys, measures }: Rollup,
  from: Executed<ShownWindow>,
  caption: string,
): Html {
  if (from.rows.length === 0) return html`${raw(paragraph('There is none.'))}`;
  const additive = measures.filter(({ isAdditive, isNumeric }) => isAdditive && isNumeric);
  return figureTable(
    {
      caption,
      head: [
        { title: 'Window' },
        ...keys.map(({ name }) => ({ title: name })),
        ...measures.flatMap(({ name, isNumeric }) => [
          { title: `${name} shipped`, isNumber: isNumeric },
          { title: `${name} now`, isNumber: isNumeric },
        ]),
        { title: 'Version', isNumber: true },
        { title: 'Causes' },
        { title: 'Pending rows', isNumber: true },
        ...additive.map(({ name }) => ({ title: `Pending ${name}`, isNumber: true })),
        { title: 'Published' },
      ],
      rows: from.rows.map((row) => [
        windowLink(settings, row),
        ...keyCells(row.key),
        ...measures.flatMap(({ name }): Content[] => [
          row.sealed === null ? span('zero', 'nothing') : number(row.sealed[name]),
          row.is_void
            ? span('zero', 'void')
            : row.latest === null
              ? span('zero', 'nothing')
              : latestOf(row, name),
        ]),
        row.version === null ? span('zero', 'none') : number(row.version),
        words(row.causes ?? []),
        row.pending_rows === null ? span('zero', '–') : count(row.pending_rows),
        ...additive.map(({ name }) =>
          row.pending_rows === null ? span('zero', '–') : change(row.pending?.[name]),
        ),
        moment(row.stamp),
      ]),
    },
    from,
  );
}

/** A value that is not the one that shipped stands out. */
function latestOf({ sealed, latest }: ShownWindow, name: string): Content {
  const value = number(latest?.[name]);
  if (typeof value === 'string' || sealed?.[name] === latest?.[name]) return value;
  return markup(html`<strong>${shown(value)}</strong>`);
}
