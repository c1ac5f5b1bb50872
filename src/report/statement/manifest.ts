/** The manifest: of what the statement tells, and the SHA-256 of each of its files. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../failure.ts';
import type { Basis } from './basis.ts';

export interface FileEntry {
  readonly sha256: string;
  readonly bytes: number;
  /** Of a list; its header not counted. */
  readonly rows?: number | undefined;
}

export const manifestName = 'manifest.json';
export const sumsName = 'SHA256SUMS';

/** Raised with whatever changes the bytes of a statement. */
export const format = 1;

const text = z.string();
const file = z.strictObject({
  sha256: text.regex(/^[0-9a-f]{64}$/),
  bytes: z.number(),
  rows: z.number().optional(),
});

const shape = z.strictObject({
  errata_statement: z.number(),
  rollup: text,
  gold: text,
  period: text,
  period_start: text,
  period_end: text,
  time_zone: text,
  known_until: text,
  mark: text.nullable(),
  digest: z.strictObject({ head: text, run_id: text, stamp: text, links: text, versions: text }).nullable(),
  reconciliation: z.strictObject({ reconciliation_id: text, swept_at: text, result_hash: text }).nullable(),
  // names without a separator: a file of another directory is none of the statement's
  files: z.record(text.regex(/^[a-z0-9-]+\.[a-z]+$/), file),
});

export type Manifest = z.output<typeof shape>;

export function manifestOf(basis: Basis, files: Readonly<Record<string, FileEntry>>): Manifest {
  const { rollup, digest, sweep } = basis;
  const { gold, name } = rollup.settings;
  return {
    errata_statement: format,
    rollup: name,
    gold: `${gold.schema}.${gold.name}`,
    period: basis.period,
    period_start: basis.periodStart,
    period_end: basis.periodEnd,
    time_zone: basis.timeZone,
    known_until: basis.stamp,
    mark: basis.mark,
    digest: digest && {
      head: digest.head,
      run_id: digest.run_id,
      stamp: digest.stamp,
      links: digest.links,
      versions: digest.versions,
    },
    reconciliation: sweep && {
      reconciliation_id: sweep.reconciliation_id,
      swept_at: sweep.swept_at,
      result_hash: sweep.result_hash,
    },
    files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** What `sha256sum --check` reads: the files of the manifest, and the manifest itself. */
export function sumsText(manifest: Manifest): string {
  const entries = [
    ...Object.entries(manifest.files).map(([name, { sha256 }]) => [name, sha256] as const),
    [manifestName, sha256Of(manifestText(manifest))] as const,
  ];
  return entries.map(([name, sha256]) => `${sha256}  ${name}\n`).join('');
}

/** @throws Failure, exit code 2, for a directory without a manifest that can be read. */
export async function readManifest(directory: string, name: string): Promise<Manifest> {
  let detail: string;
  try {
    const read = shape.safeParse(JSON.parse(await readFile(join(directory, manifestName), 'utf8')));
    if (read.success) return read.data;
    detail = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n');
  } catch (error) {
    detail = (error as Error).message;
  }
  throw new Failure(`${name} holds no statement`, {
    detail: `${manifestName}: ${detail}`,
    hint: 'name the directory that `errata statement --out` wrote',
    exitCode: 2,
  });
}

export function sha256Of(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Null: it cannot be read. */
export async function sha256OfFile(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const part of createReadStream(path)) hash.update(part as Buffer);
    return hash.digest('hex');
  } catch {
    return null;
  }
}
