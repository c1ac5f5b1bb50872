/** Statements of a test's rollup, in a directory of the test file's own. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Outcome } from '../../src/cli/verb.ts';
import { statement } from '../../src/commands/statement.ts';
import { call } from '../report/verb-context.ts';
import type { TestErrata } from './errata.ts';
import { onFileEnd } from './file-end.ts';

/** Gone when the test file ends. */
export function statementDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'errata-statements-'));
  onFileEnd(async () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export async function writeStatement(
  errata: TestErrata,
  out: string,
  options: { readonly period?: string; readonly mark?: string; readonly at?: string } = {},
): Promise<Outcome> {
  return await call(statement, errata, [errata.rollup.settings.name], { period: '2026-10', out, ...options });
}

export async function verifyStatement(errata: TestErrata, directory: string): Promise<Outcome> {
  return await call(statement, errata, [], { verify: directory });
}

/** Every file's bytes, by its name. */
export function bytesOf(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((file) => [file, readFileSync(join(directory, file)).toString('base64')]),
  );
}

/** The rows of one of its CSV files, by the names of their columns. */
export function csvRows(directory: string, file: string): Record<string, string>[] {
  return parse(readFileSync(join(directory, file), 'utf8'), { columns: true });
}
