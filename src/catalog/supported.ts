/**
 * Settings that `errata.yaml` may say and this version does not carry out. They are refused before anything is made:
 * a number published as if they had been heeded would be wrong.
 */
import type { RollupSettings } from '../config/settings.ts';
import type { Fault } from './describe.ts';

/** Faults of the settings alone; empty: all of it is carried out. */
export function notCarriedOut(settings: RollupSettings): Fault[] {
  const { window, watermark, publish } = settings;
  const faults: Fault[] = [];
  const refuse = (path: string, what: string, instead: string) =>
    faults.push(faultOf(settings, path, `${what} not carried out yet`, instead));
  if (window.kind === 'session') {
    const { strategy, delayColumn, overrides } = watermark;
    const isByKey = overrides?.by.some(({ name }) => name !== 'source_partition');
    if (overrides?.allowedLateness !== undefined || settings.allowedLatenessColumn !== undefined)
      refuse(
        'allowed_lateness',
        'for sessions an allowed lateness that differs is',
        'write one allowed lateness',
      );
    if (overrides?.delay !== undefined && (isByKey || strategy === 'fixed_delay'))
      refuse(
        'watermark.overrides.delay',
        'for sessions a delay by key, or one that differs under fixed_delay, is',
        'write one delay',
      );
    if (delayColumn !== undefined && strategy === 'fixed_delay')
      refuse('watermark.delay', 'for sessions a delay that differs under fixed_delay is', 'write one delay');
  }
  if (watermark.refused && window.kind === 'session')
    refuse(
      'watermark.refused',
      'refused rows of the stream under session windows are',
      'write tumbling, hopping or calendar windows',
    );
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
