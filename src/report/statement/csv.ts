/** A list as CSV: whole, in batches, hashed while it is written. docs/statement.md has the canonical form. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import type { Column, Listed } from './figures.ts';
import type { FileEntry } from './manifest.ts';

/** @returns what the manifest says of the file. */
export async function writeCsv(path: string, batches: AsyncIterable<Listed>): Promise<FileEntry> {
  const hash = createHash('sha256');
  const file = await open(path, 'wx');
  let [bytes, rows, isFirst] = [0, 0, true];
  try {
    for await (const { columns, rows: batch } of batches) {
      const header = isFirst ? [columns.map(({ name }) => name)] : [];
      isFirst = false;
      const text = csvText([...header, ...batch.map((row) => row.map((cell, n) => safe(cell, columns[n])))]);
      hash.update(text);
      bytes += Buffer.byteLength(text);
      rows += batch.length;
      await file.write(text);
    }
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), bytes, rows };
}

/** NULL is an empty field, an empty text is `""`. */
function csvText(rows: readonly (readonly (string | null)[])[]): string {
  return stringify(rows as (string | null)[][], {
    record_delimiter: 'unix',
    cast: { string: (value) => (value === '' ? { value, quoted_empty: true } : value) },
  });
}

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe in front, and so does one that begins with an
 * apostrophe, so that the first one can be taken away again. Numbers are left alone: `-5.10` is no formula.
 */
function safe(cell: string | null, column: Column | undefined): string | null {
  return cell !== null && column?.kind === 'text' && /^[=+\-@\t\r']/.test(cell) ? `'${cell}` : cell;
}
