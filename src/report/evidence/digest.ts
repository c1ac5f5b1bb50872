/** The digest: the head of each rollup's chain, printed, kept elsewhere, and read back (R21). */
import { readFileSync } from 'node:fs';
import { Failure } from '../../failure.ts';
import { table } from '../../output/table.ts';

/** Of one rollup. Null: no run has hashed anything yet. */
export interface DigestEntry {
  readonly rollup: string;
  readonly head: string | null;
  readonly run_id: string | null;
  readonly stamp: string | null;
  readonly versions: string;
  /** Versions that no link covers yet. */
  readonly waiting: string;
}

const columns = [
  { title: 'HEAD' },
  { title: 'RUN', isNumber: true },
  { title: 'STAMP' },
  { title: 'VERSIONS', isNumber: true },
  { title: 'WAITING', isNumber: true },
  { title: 'ROLLUP' },
];
const entryLine = /^([0-9a-f]{64}|-) +(\d+|-) +(\S+) +(\d+) +(\d+) +(\S+)$/;

export function digestText(entries: readonly DigestEntry[]): string {
  const rows = entries.map(({ head, run_id, stamp, versions, waiting, rollup }) => [
    head ?? '-',
    run_id ?? '-',
    stamp ?? '-',
    versions,
    waiting,
    rollup,
  ]);
  return table(columns, rows).join('\n');
}

/** What `errata digest` printed, as text or with `--json`. @throws Failure, exit code 2, for anything else. */
export function readDigest(path: string, name: string): DigestEntry[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure(`the digest ${name} cannot be read`, {
      detail: (error as Error).message,
      hint: 'name a file that holds what `errata digest` printed',
      exitCode: 2,
    });
  }
  return text.trimStart().startsWith('{') ? readJson(text, name) : readLines(text, name);
}

function readLines(text: string, name: string): DigestEntry[] {
  const lines = text.split('\n').map((line, place) => ({ line: line.trimEnd(), place: place + 1 }));
  const entries = lines
    .filter(({ line }) => line !== '' && !/^HEAD +RUN /.test(line))
    .map(({ line, place }) => {
      const [, head = '', run = '', stamp = '', versions = '', waiting = '', rollup = ''] =
        entryLine.exec(line) ?? [];
      if (rollup === '' || (head === '-') !== (run === '-')) throw noDigest(name, `line ${place}: ${line}`);
      const given = (cell: string) => (cell === '-' ? null : cell);
      return { rollup, head: given(head), run_id: given(run), stamp: given(stamp), versions, waiting };
    });
  if (entries.length === 0) throw noDigest(name, 'it holds no line of a rollup');
  return entries;
}

function readJson(text: string, name: string): DigestEntry[] {
  let read: { rollups?: unknown };
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw noDigest(name, (error as Error).message);
  }
  const { rollups } = read;
  if (!Array.isArray(rollups) || rollups.length === 0) throw noDigest(name, 'it has no list "rollups"');
  // The same form as the text, so that one reading serves both.
  return rollups.flatMap((entry: unknown) => {
    const cells = Object.entries(entry ?? {}).map(([key, cell]) => [
      key,
      cell === null ? null : String(cell),
    ]);
    return readLines(
      digestText([{ versions: '', waiting: '', rollup: '', ...Object.fromEntries(cells) }]),
      name,
    );
  });
}

function noDigest(name: string, detail: string): Failure {
  return new Failure(`${name} is not a digest`, {
    detail,
    hint: 'name a file that holds what `errata digest` printed, whole and unchanged',
    exitCode: 2,
  });
}
