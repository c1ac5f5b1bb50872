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

/** One text for one table, however it is quoted in the file; undefined where it is no table. */
function canonical(raw: unknown): string | undefined {
  if (typeof raw !== 'string') return undefined;
  const reading = readTableName(raw);
  return 'wrong' in reading
    ? undefined
    : JSON.stringify([reading.value.schema, reading.value.name]).slice(0, -1);
}
