/** What is said of one event that is kept by name: when it happened, when it came, and what judged it. */
import type { Rollup } from '../catalog/rollup.ts';
import { amount } from '../output/amount.ts';
import { instantText, spanText } from './instant-text.ts';
import type { NamedEvent } from './named-events.ts';

/** When it happened and came, then which watermark met which end (R3): one to three lines. */
export function eventLines(event: NamedEvent, rollup: Rollup): string[] {
  const { event_time: happened, arrived_at: arrived, lateness_seconds: lateness } = event;
  const late = lateness === null ? '' : `, ${spanText(lateness)} later`;
  return [
    `happened ${instantText(happened)}, arrived ${instantText(arrived)}${late}`,
    ...judgementLines(event, rollup),
  ];
}

function judgementLines({ landing, watermark, window_end: end }: NamedEvent, rollup: Rollup): string[] {
  const { allowedLateness: allowed, allowedLatenessColumn, watermark: settings } = rollup.settings;
  const isOwn = allowedLatenessColumn !== undefined || settings.overrides?.allowedLateness !== undefined;
  if (landing === 'open') return ['not late, but examined only after its window was sealed'];
  if (landing !== 'late_firing' && landing !== 'side_output') return [];
  const missed =
    allowed.microseconds === 0n || isOwn
      ? `its window ended ${instantText(end)}`
      : `its window ended ${instantText(end)} and took late events for ${allowed.text}`;
  if (rollup.settings.watermark.strategy !== 'external')
    return [missed, `the watermark stood at ${instantText(watermark)} when it arrived`];
  const at = watermark === null ? '' : `, at watermark ${instantText(watermark)}`;
  return [missed, `the stream wrote that it refused it${at}`];
}

/** What an event is, in a word. */
export function landingWord({ landing, is_conflict: isConflict }: NamedEvent): string {
  if (landing === null) return isConflict ? 'conflict' : 'copy';
  const words = {
    open: 'straggler',
    late_firing: 'late firing',
    side_output: 'refused',
    quarantined: 'quarantined',
  };
  return words[landing];
}

/** `orders 1, revenue 99.50`; measures that do not add up have no contribution and are left out. */
export function contributionText(measures: NamedEvent['measures'], rollup: Rollup): string {
  return rollup.measures
    .filter(({ name }) => measures[name] !== null && measures[name] !== undefined)
    .map(({ name }) => `${name} ${amount(measures[name])}`)
    .join(', ');
}

/** The row text `(APAC,95.53,)` as `APAC, 95.53`. */
export function payloadText(payload: string): string {
  return payload.replace(/^\(/, '').replace(/,?\)$/, '').replaceAll(',', ', ');
}

/** Both values of a conflict. */
export function conflictText(conflict: NonNullable<NamedEvent['conflicts_with']>): string {
  const { this: own, counted, elsewhere, event_time: at } = conflict;
  if (counted !== undefined) return `${payloadText(own)} where ${payloadText(counted)} counts`;
  return `${payloadText(own)} here, and ${payloadText(elsewhere ?? '')} under the same id at ${instantText(at ?? null)}, in another window`;
}

const quarantineReasons: Readonly<Record<string, string>> = {
  event_time_null: 'its event time is NULL',
  event_time_infinite: 'its event time is infinite',
  ingested_at_null: 'its ingestion time is NULL',
  ingested_at_infinite: 'its ingestion time is infinite',
  event_time_ahead_of_arrival: 'its event time lies too far ahead of its arrival',
};

export function quarantineText({ quarantine_reason: reason }: NamedEvent): string {
  return quarantineReasons[reason ?? ''] ?? String(reason);
}
