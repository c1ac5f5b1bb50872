/** The statement as a workbook: figures as numbers where Excel keeps them exactly, dates as dates, everything else as text. */
import writeWorkbook, { type Cell, type SheetData } from 'write-excel-file/node';
import { amount } from '../../output/amount.ts';
import type { Basis } from './basis.ts';
import type { Column, Listed, ListName } from './figures.ts';

/** So many rows of each list: the library holds a workbook in memory. */
export const sheetRows = 5000;

export interface WorkbookParts {
  readonly basis: Basis;
  /** At most `sheetRows` of each. */
  readonly lists: Readonly<Record<ListName, Listed>>;
  readonly counts: Readonly<Record<ListName, number>>;
  readonly fileOf: Readonly<Partial<Record<ListName, string>>>;
}

const sheets: readonly (readonly [ListName, string])[] = [
  ['totals', 'Totals'],
  ['bridge', 'Bridge'],
  ['days', 'Days'],
  ['windows', 'Windows'],
  ['corrections', 'Corrections'],
  ['refused', 'Refused rows'],
  ['proposals', 'Proposals'],
  ['adjustments', 'Adjustments'],
  ['unexplained', 'Unexplained'],
  ['acts', 'Who decided'],
  ['settings', 'Settings'],
];

/** The same bytes for the same lists, on any day and in any time zone. */
export async function workbook(parts: WorkbookParts): Promise<Buffer> {
  const pages = sheets.map(([name, sheet]) => {
    const { columns } = parts.lists[name];
    return {
      sheet,
      data: sheetOf(parts, name),
      columns: columns.map((column) => ({ width: widthOf(column) })),
      stickyRowsCount: 1,
    };
  });
  const about = { sheet: 'Statement', data: aboutOf(parts.basis), columns: [{ width: 18 }, { width: 90 }] };
  return undated(await writeWorkbook([about, ...pages]).toBuffer());
}

function aboutOf(basis: Basis): SheetData {
  const { rollup, close, digest, sweep } = basis;
  const pairs: [string, string | null][] = [
    ['Rollup', rollup.settings.name],
    ['Table', `${rollup.settings.gold.schema}.${rollup.settings.gold.name}`],
    ['Period', basis.period],
    ['From', basis.periodStart],
    ['Until, exclusive', basis.periodEnd],
    ['Days of', basis.timeZone],
    ['Known until', basis.stamp],
    ['Mark', basis.mark],
    ['Closed', close === null ? null : `${close.closed_at} by ${close.actor}, ${close.act}`],
    ['Digest head', digest?.head ?? null],
    ['Sweep', sweep === null ? null : `${sweep.reconciliation_id}, ${sweep.swept_at}`],
    ['Rows', `at most ${amount(String(sheetRows))} of each list; the CSV files have all`],
  ];
  return pairs
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [{ value: name, type: String, fontWeight: 'bold' }, textCell(value as string)]);
}

function sheetOf({ lists, counts, fileOf }: WorkbookParts, name: ListName): SheetData {
  const { columns, rows } = lists[name];
  const scales = columns.map((_, place) => Math.max(0, ...rows.map((row) => decimalsOf(row[place]))));
  const rest = counts[name] - rows.length;
  const whole = { corrections: 'versions', refused: 'events' }[name as string] ?? name;
  return [
    columns.map((column) => ({
      value: column.name,
      type: String,
      fontWeight: 'bold' as const,
      align: column.kind === 'number' ? ('right' as const) : ('left' as const),
      bottomBorderStyle: 'thin' as const,
    })),
    ...rows.map((row) =>
      row.map((cell, place) => cellOf(cell, columns[place] as Column, scales[place] ?? 0)),
    ),
    ...(rest > 0
      ? [[textCell(`${amount(String(rest))} more rows: ${fileOf[whole as ListName]} has all`)]]
      : []),
  ];
}

const decimalsOf = (text: string | null | undefined) =>
  Math.min(15, /^-?\d+\.(\d+)$/.exec(text ?? '')?.[1]?.length ?? 0);

function cellOf(cell: string | null, { kind, attribute }: Column, scale: number): Cell {
  if (cell === null) return null;
  // what only names something is never added up
  const isName = attribute === 'run_id' || attribute === 'errata_proposal_id';
  if (kind === 'number' && !isName && isExact(cell))
    return {
      value: Number(cell),
      type: Number,
      format: scale === 0 ? '#,##0' : `#,##0.${'0'.repeat(scale)}`,
      align: 'right',
    };
  if (kind === 'number') return { ...textCell(cell), align: 'right' };
  // a serial number: Excel shows it in the order of its own country only where the format says so
  if (kind === 'date' && /^(19[0-9]{2}|[2-9]\d{3})-\d\d-\d\d$/.test(cell) && cell >= '1900-03-01')
    return { value: new Date(`${cell}T00:00:00Z`), type: Date, format: 'yyyy-mm-dd' };
  return textCell(cell);
}

/** Fifteen digits are what Excel keeps. */
function isExact(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text) && text.replaceAll(/^-?0*|\./g, '').length <= 15;
}

/** Excel refuses a file with a longer text in a cell. */
const longest = 32_000;

function textCell(text: string) {
  return { value: text.length > longest ? `${text.slice(0, longest)}…` : text, type: String };
}

function widthOf({ kind, name }: Column): number {
  if (name.endsWith('sha256')) return 20;
  return Math.max(name.length + 2, { number: 12, date: 12, instant: 28, boolean: 8, text: 16 }[kind]);
}

/**
 * A zip file carries the clock of the machine, in its own time zone, beside each file: all become the first instant that
 * the format knows. Positions are those of the central directory, at the end.
 */
function undated(zip: Buffer): Buffer {
  const firstInstant = 0x0021_0000;
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const entries = zip.readUInt16LE(end + 10);
  let place = zip.readUInt32LE(end + 16);
  for (let entry = 0; entry < entries; entry++) {
    zip.writeUInt32LE(firstInstant, place + 12);
    zip.writeUInt32LE(firstInstant, zip.readUInt32LE(place + 42) + 10);
    place += 46 + zip.readUInt16LE(place + 28) + zip.readUInt16LE(place + 30) + zip.readUInt16LE(place + 32);
  }
  return zip;
}
