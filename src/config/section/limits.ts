import type { z } from 'zod';
import { durationOf, readDuration } from '../duration.ts';
import { duration, leaf, section, span } from '../leaf.ts';
import type { Reading } from '../reading.ts';
import type { Duration, LimitSettings } from '../settings.ts';

const day = 86_400_000_000n;

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
    keep: leaf(readKeep, 'write a duration, such as 90 days')
      .optional()
      .describe('How long runs that changed nothing stay in errata.run; at least 1 day; left out: 90 days.'),
  },
  'write { lock_timeout: 5 seconds, statement_timeout: 30 minutes }',
);

/** Who waits for a lock makes those wait that come after: the stream stands behind a run no longer than this. */
const defaultLockTimeout = durationOf(5_000_000n);

export function limitSettings(limits: z.output<typeof limitsShape> | undefined): LimitSettings {
  return {
    lockTimeout: limits?.lock_timeout ?? defaultLockTimeout,
    statementTimeout: limits?.statement_timeout,
    keep: limits?.keep ?? durationOf(90n * day),
  };
}

/** Metrics look at the runs of the last day. */
function readKeep(text: string): Reading<Duration> {
  const reading = readDuration(text);
  if ('wrong' in reading || reading.value.microseconds >= day) return reading;
  return { wrong: 'is shorter than a day; write at least 1 day' };
}
