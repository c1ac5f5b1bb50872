/**
 * Settings that `errata.yaml` may say and this version does not carry out. They are refused before anything is made:
 * a number published as if they had been heeded would be wrong.
 */
import type { RollupSettings } from '../config/settings.ts';
import type { Fault } from './describe.ts';

/** Faults of the settings alone; empty: all of it is carried out. */
export function notCarriedOut(settings: RollupSettings): Fault[] {
  const { publish, window } = settings;
  const faults: Fault[] = [];
  // A row that is late moves the bounds of sessions at once (R6s), and a proposal could not be about one of them alone.
  if (window.kind !== 'session') return faults;
  const refuse = (path: string, what: string, instead: string) =>
    faults.push(faultOf(settings, path, `${what} not carried out over sessions`, instead));
  if (publish.policy === 'review')
    refuse('publish.policy', 'the policy review is', 'write grace: refused rows then await a person');
  if (Object.keys(publish.reviewBeyond).length > 0)
    refuse('publish.review_beyond', 'thresholds are', 'leave review_beyond out');
  if (publish.horizon !== undefined) refuse('publish.horizon', 'a horizon is', 'leave it out');
  return faults;
}

function faultOf(settings: RollupSettings, path: string, fact: string, hint: string): Fault {
  return { place: `rollups.${settings.name}.${path}`, line: settings.position.line, fact, hint };
}
