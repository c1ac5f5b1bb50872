import type { Faults } from '../faults.ts';
import { readTableName } from '../name.ts';
import { mappingAt } from './rollup.ts';

/** What the relations of a rollup put behind the name of its gold table (DESIGN.md section 3). */
const endings = [
  '_late_event',
  '_sealed',
  '_latest',
  '_live',
  '_history',
  '_journal',
  '_as_of',
  '_as_of_mark',
  '_changes',
  '_side_output',
  '_reconciliation',
];

/** Every rollup has a gold table of its own, which is nobody's bronze and no relation made for another. */
export function tableFaults(rollups: Readonly<Record<string, unknown>>, faults: Faults): void {
  const owners = new Map<string, string>();
  const golds: { rollup: string; gold: string; text: string }[] = [];
  for (const rollup of Object.keys(rollups)) {
    const raw = mappingAt(rollups, rollup);
    const gold = raw && canonical(raw.gold);
    if (raw === undefined || gold === undefined) continue;
    const path = ['rollups', rollup, 'gold'];
    const text = raw.gold as string;
    if (canonical(mappingAt(raw, 'bronze')?.table) === gold) {
      faults.aboutText(path, text, 'is the bronze table too; write another table');
    }
    if (canonical(mappingAt(raw, 'seal')?.from) === gold) {
      faults.aboutText(path, text, "is the stream's result table too; write another table");
    }
    refusedFaults(raw, path, text, gold, faults);
    const owner = owners.get(gold);
    if (owner !== undefined) {
      faults.aboutText(path, text, `is the gold table of ${owner} too; write another table`);
    } else {
      owners.set(gold, rollup);
    }
    golds.push({ rollup, gold, text });
  }
  for (const { rollup, gold, text } of golds) {
    const owner = endings
      .filter((ending) => gold.endsWith(`${ending}"`))
      .map((ending) => owners.get(`${gold.slice(0, -ending.length - 1)}"`))
      .find((name) => name !== undefined);
    if (owner === undefined) continue;
    faults.aboutText(
      ['rollups', rollup, 'gold'],
      text,
      `is a relation that is made for ${owner}; write another name`,
    );
  }
}

/** R2: the rows that the stream refused stand in a table of its own, which nothing here writes. */
function refusedFaults(
  raw: Readonly<Record<string, unknown>>,
  path: readonly string[],
  text: string,
  gold: string,
  faults: Faults,
): void {
  const named = mappingAt(raw, 'watermark')?.refused;
  const written = typeof named === 'string' ? named : (named as { table?: unknown } | undefined)?.table;
  const refused = canonical(written);
  if (refused === undefined) return;
  if (refused === gold) {
    faults.aboutText(path, text, "is the stream's table of refused rows too; write another table");
    return;
  }
  const [, rollup = ''] = path;
  const place = ['rollups', rollup, 'watermark', 'refused', ...(typeof named === 'string' ? [] : ['table'])];
  if (refused === canonical(mappingAt(raw, 'bronze')?.table))
    faults.aboutText(place, written as string, 'is the bronze table too; write another table');
  if (endings.some((ending) => refused === `${gold.slice(0, -1)}${ending}"`))
    faults.aboutText(
      place,
      written as string,
      'is a relation that Errata makes for this rollup; write the table that the stream writes',
    );
}

/** One text for one table, however it is quoted in the file; undefined where it is no table. */
function canonical(raw: unknown): string | undefined {
  if (typeof raw !== 'string') return undefined;
  const reading = readTableName(raw);
  return 'wrong' in reading
    ? undefined
    : JSON.stringify([reading.value.schema, reading.value.name]).slice(0, -1);
}
