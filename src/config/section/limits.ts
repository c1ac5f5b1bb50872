import type { z } from 'zod';
import { durationOf } from '../duration.ts';
import { duration, section, span } from '../leaf.ts';
import type { LimitSettings } from '../settings.ts';

export const limitsShape = section(
  {
    lock_timeout: duration
      .optional()
      .describe(
        'How long a run or `migrate` waits for a lock that others hold; 0: for ever; left out: 5 seconds.',
      ),
    statement_timeout: span
      .optional()
      .describe('How long one statement may take; left out: as the database or the role says.'),
  },
  'write { lock_timeout: 5 seconds, statement_timeout: 30 minutes }',
);

/** Who waits for a lock makes those wait that come after: the stream stands behind a run no longer than this. */
const defaultLockTimeout = durationOf(5_000_000n);

export function limitSettings(limits: z.output<typeof limitsShape> | undefined): LimitSettings {
  return {
    lockTimeout: limits?.lock_timeout ?? defaultLockTimeout,
    statementTimeout: limits?.statement_timeout,
  };
}
