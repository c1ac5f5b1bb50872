/** Commands that a person can paste into a shell as they stand. */
import { isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageDirectory = fileURLToPath(new URL('../../', import.meta.url));

/** Single-quoted where a shell would read something into it. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** How `errata` is called from `directory`: `npx errata` where it is installed, else by its file. */
export function errataCommand(directory: string): string {
  if (packageDirectory.split(sep).includes('node_modules')) return 'npx errata';
  return `node ${shellWord(pathFrom(directory, join(packageDirectory, 'bin', 'errata.mjs')))}`;
}

/** Relative where the file lies below `directory`, else absolute. */
export function pathFrom(directory: string, file: string): string {
  const path = relative(directory, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}
