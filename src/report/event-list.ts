/** Events that are kept by name, one a line. */
import type { Rollup } from '../catalog/rollup.ts';
import { table } from '../output/table.ts';
import { windowText } from '../output/window-text.ts';
import { conflictText, contributionText, landingWord, quarantineText } from './event-text.ts';
import { instantText } from './instant-text.ts';
import { keyText } from './keyed-window.ts';
import type { NamedEvent } from './named-events.ts';

export function eventListText(events: readonly NamedEvent[], rollup: Rollup): string[] {
  const keys = rollup.keys.map(({ name }) => name);
  return table(
    [
      { title: 'event' },
      { title: 'key' },
      { title: 'happened' },
      { title: 'arrived' },
      { title: 'window' },
      { title: 'what' },
      { title: 'state' },
      { title: '' },
    ],
    events.map((event) => [
      event.event_id,
      keyText(event.key, keys),
      instantText(event.event_time),
      instantText(event.arrived_at),
      boundsText(event),
      landingWord(event),
      stateText(event),
      remarkText(event, rollup),
    ]),
  );
}

function boundsText({ window_start: start, window_end: end, local_date: date }: NamedEvent): string {
  if (start === null || end === null) return '–';
  return windowText({ window_start: start, window_end: end, local_date: date });
}

function stateText({ state, version, landing, window_start: start, released }: NamedEvent): string {
  if (state === 'included') return `in version ${version}`;
  if (landing === 'quarantined' && start === null) return released ? 'released' : 'in quarantine';
  return state ?? '–';
}

function remarkText(event: NamedEvent, rollup: Rollup): string {
  if (event.conflicts_with) return conflictText(event.conflicts_with);
  if (event.landing === 'quarantined') return quarantineText(event);
  return contributionText(event.measures, rollup);
}
