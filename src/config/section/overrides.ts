import { z } from 'zod';
import type { Faults } from '../faults.ts';
import { column, columns, section, table } from '../leaf.ts';
import type { Path } from '../place.ts';
import type { OverrideSettings } from '../settings.ts';

const remedy = 'write { table: ops.delays, by: [device_id], delay: delay }';
const byRemedy =
  'write the key columns as [device_id], or { device_id: COLUMN } where the table names them otherwise';

export const overridesShape = section(
  {
    table: table.describe('One row a key or source partition whose delay or lateness is another.'),
    by: z
      .union([columns, z.record(z.string(), column)], { error: byRemedy })
      .describe(
        'Key columns of the rollup, or source_partition; a mapping where the table names them otherwise.',
      ),
    delay: column.optional().describe('Its column of type interval with the delay.'),
    allowed_lateness: column.optional().describe('Its column of type interval with the allowed lateness.'),
  },
  remedy,
).transform(
  ({ table, by, delay, allowed_lateness: allowedLateness }): OverrideSettings => ({
    table,
    by: Array.isArray(by)
      ? by.map((name) => ({ name, column: name }))
      : Object.entries(by).map(([name, column]) => ({ name, column })),
    delay,
    allowedLateness,
  }),
);

/** R2: who has recorded which watermark was in force, or which rows were refused, has decided with the delay. */
export function noDelay(strategy: 'recorded' | 'external'): string {
  const decides = strategy === 'recorded' ? "the stream's log decides" : "the stream's refused rows decide";
  return `cannot differ under strategy: ${strategy}, where ${decides}; leave it out`;
}

type Raw = Readonly<Record<string, unknown>>;

/** R2, R3: what a row of the table goes by, and that nothing else says the same of a row. */
export function overrideFaults(raw: Raw, rollup: Raw, path: Path, faults: Faults): void {
  const { delay, allowed_lateness: lateness } = raw;
  const watermark = rollup.watermark as Raw;
  const { strategy } = watermark;
  if (delay === undefined && lateness === undefined)
    faults.about(path, 'names no column; write delay, allowed_lateness or both');
  if (delay !== undefined && (strategy === 'recorded' || strategy === 'external'))
    faults.aboutKey([...path, 'delay'], noDelay(strategy));
  for (const [member, other, said] of [
    ['delay', watermark.delay, 'delay'],
    ['allowed_lateness', rollup.allowed_lateness, 'allowed_lateness'],
  ] as const) {
    if (raw[member] === undefined || typeof other !== 'object' || other === null) continue;
    faults.aboutKey([...path, member], `is a second one beside the column of ${said}; keep one of them`);
  }
  byFaults(raw.by, rollup, [...path, 'by'], faults);
}

function byFaults(by: unknown, rollup: Raw, path: Path, faults: Faults): void {
  const names =
    typeof by === 'string'
      ? [by]
      : Array.isArray(by)
        ? by
        : typeof by === 'object' && by !== null
          ? Object.keys(by)
          : undefined;
  if (names === undefined) return;
  const key = Array.isArray(rollup.key) ? rollup.key : [rollup.key];
  const known = key.filter((name) => typeof name === 'string');
  if (names.length === 0) faults.about(path, `names nothing; ${byRemedy}`);
  names.forEach((name, at) => {
    if (typeof name !== 'string') return;
    const place = Array.isArray(by) ? [...path, at] : typeof by === 'string' ? path : [...path, name];
    if (names.indexOf(name) !== at) faults.about(place, 'stands twice; write it once');
    else if (name === 'source_partition') {
      const bronze = rollup.bronze as Raw | undefined;
      if (names.length > 1) faults.about(place, 'stands alone; write [source_partition] or key columns');
      else if (typeof bronze === 'object' && bronze !== null && bronze.source_partition === undefined)
        faults.about(
          place,
          'needs the column that says where a row came from; write source_partition under bronze',
        );
    } else if (!known.includes(name)) {
      const choices = [...known, 'source_partition'].join(', ');
      faults.about(place, `${JSON.stringify(name)} is no key column of this rollup; write one of ${choices}`);
    }
  });
}
