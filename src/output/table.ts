/** Rows as aligned columns of text. */

export interface TableColumn {
  readonly title: string;
  /** Right-aligned. */
  readonly isNumber?: boolean;
}

/** Two spaces between columns, no space at a line's end. Rows have as many cells as there are columns. */
export function table(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string[] {
  const all = [columns.map((column) => column.title), ...rows.map((row) => row.map(oneLine))];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => widthOf(row[index] ?? ''))));
  return all.map((row) =>
    row
      .map((cell, index) => {
        const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell)));
        return columns[index]?.isNumber ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** A key may hold anything, also what would steer a terminal. */
function oneLine(cell: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return cell.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '\u00b7');
}

function widthOf(cell: string): number {
  return [...cell].length;
}
