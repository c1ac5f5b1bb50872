import type { z } from 'zod';
import { durationOf } from '../duration.ts';
import type { Faults } from '../faults.ts';
import { choice, duration, section, table } from '../leaf.ts';
import type { Path } from '../place.ts';
import type { SealSettings } from '../settings.ts';

export const sealRemedy =
  'write { by: errata }, { by: stream, after: 15 minutes } or { from: schema.table, after: 15 minutes }';

export const sealShape = section(
  {
    by: choice(['errata', 'stream']).optional().describe('Who writes version 1.'),
    from: table.optional().describe("The stream's own result table, from which version 1 is adopted."),
    after: duration.optional().describe('How much longer to wait for the stream to write it; left out: 0.'),
  },
  sealRemedy,
).meta({ oneOf: [{ required: ['by'] }, { required: ['from'] }] });

/** R8: version 1 has one writer; R6: under `external` that is not Errata. */
export function sealFaults(
  raw: Readonly<Record<string, unknown>>,
  path: Path,
  strategy: unknown,
  faults: Faults,
): void {
  if (raw.by === undefined && raw.from === undefined) {
    faults.about(path, `does not say who writes version 1; ${sealRemedy}`);
    return;
  }
  if (raw.by !== undefined && raw.from !== undefined) {
    faults.aboutKey([...path, 'from'], 'is a second writer of version 1 beside by; keep one of them');
    return;
  }
  if (raw.by !== 'errata') return;
  if (raw.after !== undefined) {
    faults.aboutKey(
      [...path, 'after'],
      'waits for a stream, and by: errata has none to wait for; leave it out',
    );
  }
  if (strategy === 'external') {
    faults.about(
      [...path, 'by'],
      'cannot be errata under strategy: external, whose watermark Errata does not know; write by: stream or from: schema.table',
    );
  }
}

export function sealSettings(seal: z.output<typeof sealShape>): SealSettings {
  const after = seal.after ?? durationOf(0n);
  return seal.from ? { by: 'table', table: seal.from, after } : { by: seal.by ?? 'errata', after };
}
