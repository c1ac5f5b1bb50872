import { z } from 'zod';
import type { Faults } from '../faults.ts';
import { decimal, section, span } from '../leaf.ts';
import type { Path } from '../place.ts';
import type { PublishSettings } from '../settings.ts';

/** R10 in one line a policy. */
export const policyChoices = {
  auto: 'every difference is published by the next run: late, refused and changed rows alike',
  grace:
    'late firings are published; refused rows are pending until a person releases them, changed rows are proposed',
  review: 'every correction is proposed, and published only when a person approves it; not carried out yet',
} as const;

const choices = Object.entries(policyChoices).map(([name, meaning]) => `\n    ${name.padEnd(8)}${meaning}`);
const policyRemedy = `there is no default; write policy: and one of${choices.join('')}`;

export const publishShape = section(
  {
    policy: z
      .enum(['auto', 'grace', 'review'], { error: policyRemedy })
      .meta({ enumDescriptions: Object.values(policyChoices) })
      .describe('What happens with a difference that is found after a window was sealed.'),
    review_beyond: z
      .record(z.string(), decimal, {
        error: 'write a mapping of measures to amounts, such as { revenue: 1000.00 }',
      })
      .optional()
      .describe('By measure: a greater difference is proposed under every policy.'),
    horizon: span
      .optional()
      .describe('A difference in a window older than this is proposed under every policy.'),
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
  for (const name of Object.keys(thresholds)) {
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
  };
}
