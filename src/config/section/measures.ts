import { z } from 'zod';
import type { Faults } from '../faults.ts';
import { decimal, expression, flag, section } from '../leaf.ts';
import { whyReserved } from '../ledger-column.ts';
import { measureNameBytes, plainName } from '../name.ts';
import type { Path, Places } from '../place.ts';
import type { MeasureSettings } from '../settings.ts';

const remedy = 'write an SQL expression, such as sum(amount), or { value: sum(amount), tolerance: 0.01 }';

const measureShape = z.union(
  [
    expression,
    section(
      {
        value: expression.describe('The SQL aggregate.'),
        tolerance: decimal.optional().describe('A smaller difference makes no new version.'),
        additive: flag.optional().describe('Whether sealed + corrections = latest holds by plain addition.'),
      },
      remedy,
    ),
  ],
  { error: remedy },
);

export const measuresShape = z
  .record(z.string(), measureShape, { error: 'write a mapping of names to SQL expressions' })
  .meta({ propertyNames: { pattern: plainName.source, maxLength: measureNameBytes } });

/** Measures become columns of gold, and of the views with something before or after the name. */
export function measureFaults(names: readonly string[], path: Path, faults: Faults): void {
  if (names.length === 0) faults.about(path, 'holds no measure; write one, such as orders: count(*)');
  for (const name of names) {
    const at = [...path, name];
    if (!plainName.test(name)) {
      faults.aboutKey(
        at,
        'is not a name for a measure; write lower-case letters, digits and _, such as net_revenue',
      );
    } else if (Buffer.byteLength(name) > measureNameBytes) {
      faults.aboutKey(
        at,
        `is longer than ${measureNameBytes} bytes, and pending_ and the like are put before it while PostgreSQL cuts names at 63; write a shorter name`,
      );
    }
    const reason = whyReserved(name, names);
    if (reason !== undefined) faults.aboutKey(at, `${reason}; write another name`);
  }
}

/** Key columns keep their bronze names in gold. */
export function keyFaults(key: unknown, measures: readonly string[], path: Path, faults: Faults): void {
  const columns = Array.isArray(key) ? key : [key];
  columns.forEach((name, index) => {
    if (typeof name !== 'string') return;
    const at = Array.isArray(key) ? [...path, index] : path;
    if (columns.indexOf(name) !== index) faults.aboutText(at, name, 'stands twice in the key; write it once');
    else if (measures.includes(name))
      faults.aboutText(at, name, 'is the name of a measure too; rename the measure');
    const reason = whyReserved(name, measures);
    if (reason !== undefined)
      faults.aboutText(at, name, `${reason}; give bronze a view that names it otherwise`);
  });
}

export function measureSettings(
  measures: z.output<typeof measuresShape>,
  path: Path,
  places: Places,
): readonly MeasureSettings[] {
  return Object.entries(measures).map(([name, measure]) => {
    const position = { line: places.key([...path, name]).line };
    if (typeof measure === 'string') return { name, expression: measure, position };
    return {
      name,
      expression: measure.value,
      tolerance: measure.tolerance,
      additive: measure.additive,
      position,
    };
  });
}
