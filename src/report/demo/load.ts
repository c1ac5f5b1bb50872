/** The demo's bronze: the tables and rows of `examples/`, loaded as their comments tell a person to. */
import { createReadStream, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

export type Example = 'orders' | 'git';

/** `examples/orders/errata.yaml`, as an absolute path. */
export function examplePath(example: Example, file: string): string {
  return fileURLToPath(new URL(`../../../examples/${example}/${file}`, import.meta.url));
}

export function exampleText(example: Example, file: string): string {
  return readFileSync(examplePath(example, file), 'utf8');
}

/** Makes and fills `bronze.orders` and `bronze.changes`; the rows of the latter stream from the packed file. */
export async function loadBronze(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(exampleText('orders', 'bronze.sql'));
    await client.query(exampleText('git', 'bronze.sql'));
    const rows = client.query(copyFrom('copy bronze.changes from stdin with (format csv, header)'));
    await pipeline(createReadStream(examplePath('git', 'events.csv.gz')), createGunzip(), rows);
    await client.query('analyze bronze.changes');
  } finally {
    client.release();
  }
}
