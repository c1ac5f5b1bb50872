/** Who publishes what (R10). */
import type { PublishSettings } from '../config/settings.ts';

/** Causes that a policy lets into the counted set: to publish them by itself, or under `review` to propose them. The rest awaits a person. */
export const releasedCauses: Readonly<Record<PublishSettings['policy'], readonly string[]>> = {
  auto: ['late_firing', 'straggler', 'refused'],
  grace: ['late_firing', 'straggler'],
  review: ['late_firing', 'straggler', 'refused'],
};
