/** Writes a statement into a directory, whole or not at all. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RollupSettings, Settings } from '../../config/settings.ts';
import type { Control } from '../../db/control.ts';
import { type ControlTransaction, inTransaction } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import { type Asked, type Basis, readBasis, refuseWhileStoring } from './basis.ts';
import { writeCsv } from './csv.ts';
import { countOf, type Listed, type ListName, layOut, listNames, readList, streamList } from './figures.ts';
import {
  type FileEntry,
  type Manifest,
  manifestName,
  manifestOf,
  manifestText,
  sha256Of,
  sha256OfFile,
  sumsName,
  sumsText,
} from './manifest.ts';

/** What a list is called as a file; those that are a part of another have none. */
export const csvOf: Readonly<Partial<Record<ListName, string>>> = {
  totals: 'totals.csv',
  bridge: 'bridge.csv',
  days: 'days.csv',
  windows: 'windows.csv',
  versions: 'versions.csv',
  events: 'events.csv',
  proposals: 'proposals.csv',
  adjustments: 'adjustments.csv',
  unexplained: 'unexplained.csv',
  acts: 'acts.csv',
  settings: 'settings.csv',
};

export interface Written {
  readonly manifest: Manifest;
  /** The very statement was there already. */
  readonly isThere: boolean;
}

/**
 * @param directory made if need be; one with anything in it is left alone, unless it is this very statement
 * @throws Failure, exit code 2.
 */
export async function writeStatement(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  asked: Asked,
  directory: string,
  name: string,
): Promise<Written> {
  const there = await entriesOf(directory, name);
  const partial = join(dirname(directory), `.${basename(directory)}-${randomUUID()}`);
  await mkdir(partial, { recursive: true });
  try {
    const manifest = await composeStatement(control, settings, chosen, asked, partial);
    if (there.length === 0) {
      await rm(directory, { recursive: true, force: true });
      await rename(partial, directory);
      return { manifest, isThere: false };
    }
    if (await isSame(directory, manifest, there)) return { manifest, isThere: true };
    throw new Failure(`${name} is not empty, and holds something else than this statement`, {
      detail: `${there.length} entries, ${there.slice(0, 3).join(', ')} among them`,
      hint: 'nothing was written; name a new directory with --out',
      exitCode: 2,
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Writes the files into a directory that is there and empty. All of it is read in one snapshot. */
export async function composeStatement(
  control: Control,
  settings: Settings,
  chosen: RollupSettings,
  asked: Asked,
  directory: string,
): Promise<Manifest> {
  await inTransaction(control, 'read committed', (transaction) =>
    refuseWhileStoring(transaction, settings.schema),
  );
  return await inTransaction(control, 'repeatable read', async (transaction) => {
    const basis = await layOut(transaction, await readBasis(transaction, settings, chosen, asked));
    const files = await writeFiles(transaction, basis, directory);
    const manifest = manifestOf(basis, files);
    await writeFile(join(directory, manifestName), manifestText(manifest));
    await writeFile(join(directory, sumsName), sumsText(manifest));
    return manifest;
  });
}

async function writeFiles(
  transaction: ControlTransaction,
  basis: Basis,
  directory: string,
): Promise<Record<string, FileEntry>> {
  const files: Record<string, FileEntry> = {};
  for (const [list, file] of Object.entries(csvOf) as [ListName, string][])
    files[file] = await writeCsv(join(directory, file), streamList(transaction, basis.rollup, list));
  // loaded only here: every other verb would wait for them
  const { pageRows, statementPage } = await import('./html.ts');
  const { sheetRows, workbook } = await import('./xlsx.ts');
  const lists = {} as Record<ListName, Listed>;
  const counts = {} as Record<ListName, number>;
  for (const name of listNames) {
    // people read the corrections and the refused rows among them
    lists[name] =
      name === 'versions' || name === 'events'
        ? { columns: [], rows: [] }
        : await readList(transaction, basis.rollup, name, Math.max(pageRows, sheetRows));
    counts[name] = await countOf(transaction, name);
  }
  const shown = (atMost: number) =>
    Object.fromEntries(
      listNames.map((name) => [name, { ...lists[name], rows: lists[name].rows.slice(0, atMost) }]),
    ) as unknown as typeof lists;
  const parts = { basis, counts, fileOf: csvOf };
  const made = {
    'statement.html': statementPage({ ...parts, lists: shown(pageRows) }),
    'statement.xlsx': await workbook({ ...parts, lists: shown(sheetRows) }),
  };
  for (const [file, bytes] of Object.entries(made)) {
    await writeFile(join(directory, file), bytes);
    files[file] = { sha256: sha256Of(bytes), bytes: Buffer.byteLength(bytes) };
  }
  return files;
}

async function entriesOf(directory: string, name: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return [];
    throw new Failure(`${name} cannot be written to`, {
      detail: (error as Error).message,
      hint: 'name a directory with --out, or one that is to be made',
      exitCode: 2,
    });
  }
}

async function isSame(directory: string, manifest: Manifest, there: readonly string[]): Promise<boolean> {
  const expected = [
    ...Object.entries(manifest.files).map(([file, { sha256 }]) => [file, sha256] as const),
    [manifestName, sha256Of(manifestText(manifest))] as const,
    [sumsName, sha256Of(sumsText(manifest))] as const,
  ];
  if (there.length !== expected.length) return false;
  for (const [file, sha256] of expected)
    if ((await sha256OfFile(join(directory, file))) !== sha256) return false;
  return true;
}
