/** What the timeline says of an event that is kept by name: that it was found, and what a person decided about it. */
import type { Rollup } from '../../catalog/rollup.ts';
import { conflictText, contributionText, eventLines, landingWord, payloadText } from '../event-text.ts';
import { instantText, shortInstant } from '../instant-text.ts';
import type { NamedEvent } from '../named-events.ts';

/** @param inFull with its lateness, the end it missed and the watermark in a line each; else one line */
export function foundLines(event: NamedEvent, rollup: Rollup, inFull: boolean): string[] {
  const { event_id: id, first_run_id: run } = event;
  const state = stateText(event);
  if (event.conflicts_with && event.landing === null) {
    const { counted: first = '', this: other } = event.conflicts_with;
    return [
      `event ${id} came again with other values (run ${run}), ingested ${instantText(event.ingested_at)}`,
      `${payloadText(first)} came first and counts; ${payloadText(other)} does not`,
    ];
  }
  const word = landingWord(event);
  if (!inFull) {
    return [
      `event ${id}, ${word}: happened ${shortInstant(event.event_time)}, arrived ${shortInstant(event.arrived_at)}${judgedBy(event)}; ${state}`,
    ];
  }
  const contribution = contributionText(event.measures, rollup);
  return [
    `event ${id}, ${word}, examined by run ${run}`,
    ...eventLines(event, rollup),
    `${contribution ? `${contribution}; ` : ''}${state}`,
    ...(event.conflicts_with ? [conflictText(event.conflicts_with)] : []),
  ];
}

/** A stream may have written no watermark beside a row that it refused. */
function judgedBy({ watermark }: NamedEvent): string {
  return watermark === null ? '' : `, watermark ${shortInstant(watermark)}`;
}

function stateText({ state, version, released, is_proposed: isProposed }: NamedEvent): string {
  if (state === 'included') return `included in version ${version}`;
  if (state === 'pending' && isProposed) return 'pending: in a proposal that awaits a person';
  if (state === 'pending')
    return released ? 'released, and waiting for a run' : 'pending: it awaits a person';
  if (state === 'held') return 'held: its period is closed';
  if (state === 'waived') return 'waived: set aside by a person';
  return 'it has no state';
}

/** Undefined where no person has decided. */
export function decisionOf(event: NamedEvent): { at: string; lines: string[] } | undefined {
  const { state_actor: actor, state_reason: reason, state_at: at, event_id: id, state } = event;
  if (actor === null || at === null) return undefined;
  const did = state === 'waived' ? `waived event ${id}` : `released event ${id}`;
  return { at, lines: [`${actor} ${did}${reason ? `: ${reason}` : ''}`] };
}
