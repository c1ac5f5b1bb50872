/** Whether a written statement is as it was written, and as the database tells it still (R12, R21). */
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { selectRollups } from '../../catalog/open.ts';
import type { RollupSettings, Settings } from '../../config/settings.ts';
import type { Control } from '../../db/control.ts';
import {
  format,
  type Manifest,
  manifestName,
  manifestText,
  readManifest,
  sha256Of,
  sha256OfFile,
  sumsName,
  sumsText,
} from './manifest.ts';
import { composeStatement } from './write.ts';

export interface Difference {
  readonly file: string;
  /** `edited`: it is not what the manifest says; `outdated`: the database tells it otherwise. */
  readonly what: 'edited' | 'missing' | 'unknown' | 'outdated';
  readonly detail: string;
}

export interface StatementVerification {
  readonly rollup: string;
  readonly period: string;
  readonly known_until: string;
  readonly files: number;
  readonly holds: boolean;
  readonly differences: readonly Difference[];
}

/** @throws Failure, exit code 2, for a directory without a statement, or one of a rollup that the settings do not name. */
export async function verifyStatement(
  control: Control,
  settings: Settings,
  directory: string,
  name: string,
): Promise<StatementVerification> {
  const manifest = await readManifest(directory, name);
  const [chosen] = selectRollups(settings, [manifest.rollup]) as [RollupSettings];
  const edited = await filesAsWritten(directory, manifest);
  const fresh = await mkdtemp(join(tmpdir(), 'errata-statement-'));
  try {
    const asked =
      manifest.mark === null
        ? { period: manifest.period, at: manifest.known_until }
        : { period: manifest.period, mark: manifest.mark };
    const now = await composeStatement(control, settings, chosen, asked, fresh);
    const differences = [...edited, ...(await asTheDatabaseTells(directory, manifest, fresh, now, edited))];
    return {
      rollup: manifest.rollup,
      period: manifest.period,
      known_until: manifest.known_until,
      files: Object.keys(manifest.files).length,
      holds: differences.length === 0,
      differences,
    };
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function filesAsWritten(directory: string, manifest: Manifest): Promise<Difference[]> {
  const expected = new Map([
    ...Object.entries(manifest.files).map(([file, { sha256 }]) => [file, sha256] as const),
    [sumsName, sha256Of(sumsText(manifest))] as const,
  ]);
  const differences: Difference[] = [];
  for (const [file, sha256] of expected) {
    const found = await sha256OfFile(join(directory, file));
    if (found === null) differences.push({ file, what: 'missing', detail: 'it cannot be read' });
    else if (found !== sha256)
      differences.push({ file, what: 'edited', detail: `SHA-256 ${found}, the manifest has ${sha256}` });
  }
  for (const file of (await readdir(directory)).sort())
    if (!expected.has(file) && file !== manifestName)
      differences.push({ file, what: 'unknown', detail: 'the manifest does not name it' });
  return differences;
}

async function asTheDatabaseTells(
  directory: string,
  then: Manifest,
  fresh: string,
  now: Manifest,
  edited: readonly Difference[],
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const known = new Set(edited.map(({ file }) => file));
  for (const [file, { sha256 }] of Object.entries(now.files)) {
    // another layout of pages is no other statement; figures are compared whatever wrote them
    if (then.errata_statement !== format && !file.endsWith('.csv')) continue;
    if (then.files[file]?.sha256 === sha256) continue;
    const line =
      file.endsWith('.csv') && !known.has(file)
        ? await firstDifference(join(directory, file), join(fresh, file))
        : undefined;
    differences.push({
      file,
      what: 'outdated',
      detail: line ?? 'the database tells it otherwise than the manifest',
    });
  }
  const frame = ({ files: _, errata_statement: __, ...rest }: Manifest) => rest;
  for (const [name, value] of Object.entries(frame(then))) {
    const other = now[name as keyof Manifest];
    if (JSON.stringify(value) !== JSON.stringify(other))
      differences.push({
        file: manifestName,
        what: 'outdated',
        detail: `${name}: ${JSON.stringify(value)} there, ${JSON.stringify(other)} in the database`,
      });
  }
  if (
    then.errata_statement === format &&
    differences.length === 0 &&
    manifestText(then) !== manifestText(now)
  )
    differences.push({ file: manifestName, what: 'outdated', detail: 'it names other files' });
  return differences;
}

async function firstDifference(there: string, now: string): Promise<string | undefined> {
  const lines = (path: string) =>
    createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })[
      Symbol.asyncIterator
    ]();
  const [a, b] = [lines(there), lines(now)];
  for (let number = 1; ; number++) {
    const [left, right] = [await a.next(), await b.next()];
    if (left.done && right.done) return undefined;
    if (left.value !== right.value)
      return `line ${number}: ${left.done ? 'nothing' : left.value} there, ${right.done ? 'nothing' : right.value} in the database`;
  }
}
