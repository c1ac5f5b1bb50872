import { z } from 'zod';
import { readDecimal, readPercentage } from '../decimal.ts';
import type { Faults } from '../faults.ts';
import { choice, decimal, leaf, percentage, section, span } from '../leaf.ts';
import type { Path } from '../place.ts';
import type { Reading } from '../reading.ts';
import type { PublishSettings, Threshold } from '../settings.ts';

/** R10 in one line a policy. */
export const policyChoices = {
  auto: 'every difference is published by the next run: late, refused and changed rows alike',
  grace:
    'late firings are published; refused rows are pending until a person releases them, changed rows are proposed',
  review: 'every correction is proposed, and published only when a person approves it',
} as const;

const choices = Object.entries(policyChoices).map(([name, meaning]) => `\n    ${name.padEnd(8)}${meaning}`);
const policyRemedy = `there is no default; write policy: and one of${choices.join('')}`;

const thresholdRemedy =
  'write an amount, a percentage or both, such as 1000.00, 5% or { absolute: 1000.00, relative: 5% }';

const threshold = z
  .union(
    [
      leaf(readThreshold, thresholdRemedy, true),
      section(
        {
          absolute: decimal.optional().describe('A difference greater than this amount is proposed.'),
          relative: percentage
            .optional()
            .describe('So is one greater than this share of the value that it is measured from.'),
        },
        thresholdRemedy,
      ),
    ],
    { error: thresholdRemedy },
  )
  .transform((value): Threshold => value);

/** `1000.00` is an amount, `5%` a share of the value that the difference is measured from. */
function readThreshold(text: string): Reading<Threshold> {
  const isRelative = text.trimEnd().endsWith('%');
  const reading = isRelative ? readPercentage(text) : readDecimal(text);
  if ('wrong' in reading) return reading;
  return { value: isRelative ? { relative: reading.value } : { absolute: reading.value } };
}

export const publishShape = section(
  {
    policy: z
      .enum(['auto', 'grace', 'review'], { error: policyRemedy })
      .meta({ enumDescriptions: Object.values(policyChoices) })
      .describe('What happens with a difference that is found after a window was sealed.'),
    review_beyond: z
      .record(z.string(), threshold, {
        error: 'write a mapping of measures to thresholds, such as { revenue: 1000.00 }',
      })
      .optional()
      .describe(
        'By measure: a greater difference from the value that was last sealed or approved by a person is proposed under every policy.',
      ),
    horizon: span
      .optional()
      .describe('A difference in a window older than this is proposed under every policy.'),
    restate: choice(['allowed', 'forbidden'])
      .optional()
      .describe(
        'Whether `errata restate` may recompute windows of this rollup on demand; left out: allowed.',
      ),
  },
  policyRemedy,
);

/** R10: thresholds are for measures that exist. */
export function publishFaults(
  raw: Readonly<Record<string, unknown>>,
  path: Path,
  measures: readonly string[],
  faults: Faults,
): void {
  const thresholds = raw.review_beyond;
  if (typeof thresholds !== 'object' || thresholds === null) return;
  for (const [name, threshold] of Object.entries(thresholds)) {
    if (typeof threshold === 'object' && threshold !== null && Object.keys(threshold).length === 0)
      faults.about([...path, 'review_beyond', name], `says nothing; ${thresholdRemedy}`);
    if (measures.includes(name)) continue;
    faults.aboutKey(
      [...path, 'review_beyond', name],
      `is not a measure of this rollup; write one of ${measures.join(', ')}`,
    );
  }
}

export function publishSettings(publish: z.output<typeof publishShape>): PublishSettings {
  return {
    policy: publish.policy,
    // Without a prototype, so that a measure called "constructor" has a threshold only if the file gives it one.
    reviewBeyond: Object.assign(Object.create(null), publish.review_beyond),
    horizon: publish.horizon,
    ...(publish.restate === 'forbidden' ? { restate: publish.restate } : {}),
  };
}
