/** A result as psql prints it, for comparison with documents; machines that run the tests may have no psql. */
import type pg from 'pg';

/** By the oid of their type: smallint, integer, bigint, oid, real, double precision, numeric. */
const rightAligned = new Set([20, 21, 23, 26, 700, 701, 1700]);

/** Empty where nothing is selected. Values must be texts, as the product's pool gives them. */
export function psqlText({ fields, rows }: pg.QueryResult): string {
  if (!fields || fields.length === 0) return '';
  const cells = rows.map((row) => fields.map(({ name }) => cellText(row[name])));
  const widths = fields.map(({ name }, place) =>
    Math.max(name.length, ...cells.map((row) => row[place]?.length ?? 0)),
  );
  const line = (row: readonly string[], pad: (cell: string, place: number, width: number) => string) =>
    row
      .map((cell, place) => ` ${pad(cell, place, widths[place] as number)} `)
      .join('|')
      .trimEnd();
  const centred = (cell: string, _: number, width: number) =>
    cell.padStart(cell.length + Math.floor((width - cell.length) / 2)).padEnd(width);
  const aligned = (cell: string, place: number, width: number) =>
    rightAligned.has(fields[place]?.dataTypeID ?? 0) ? cell.padStart(width) : cell.padEnd(width);
  return [
    line(
      fields.map(({ name }) => name),
      centred,
    ),
    widths.map((width) => '-'.repeat(width + 2)).join('+'),
    ...cells.map((row) => line(row, aligned)),
    `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`,
    '',
  ].join('\n');
}

function cellText(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (Array.isArray(value)) return `{${value.join(',')}}`;
  return String(value);
}
