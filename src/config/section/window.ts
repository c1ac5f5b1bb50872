import type { z } from 'zod';
import type { Faults } from '../faults.ts';
import { readInstant, readLocalTime } from '../instant.ts';
import { calendarWidth, duration, section, span, text, timeZone } from '../leaf.ts';
import type { Path } from '../place.ts';
import type { WindowSettings } from '../settings.ts';

export const windowRemedy =
  'write { tumbling: 5 minutes }, { hopping: 1 hour, every: 5 minutes }, { calendar: 1 day, time_zone: Europe/Berlin } or { session_gap: 30 minutes }';

export const windowShape = section(
  {
    tumbling: span.optional().describe('Windows of this size, one after another.'),
    hopping: span.optional().describe('Windows of this size, one beginning at each step of `every`.'),
    every: span.optional().describe('The step of hopping windows.'),
    calendar: calendarWidth
      .optional()
      .describe('Windows by the calendar, such as 1 day, 1 week or 3 months.'),
    time_zone: timeZone.optional().describe('Whose clock calendar windows follow.'),
    session_gap: span.optional().describe('Sessions of a key, ended by a silence as long as this.'),
    origin: text
      .optional()
      .describe('A window border: an instant, or for calendar windows a local date and time.'),
    offset: duration.optional().describe('Shifts every border forwards.'),
  },
  windowRemedy,
).meta({
  oneOf: ['tumbling', 'hopping', 'calendar', 'session_gap'].map((kind) => ({ required: [kind] })),
  dependencies: { hopping: ['every'], calendar: ['time_zone'] },
});

/** The first member names the kind; the others are those that go with it. */
const kinds = {
  tumbling: ['origin', 'offset'],
  hopping: ['every', 'origin', 'offset'],
  calendar: ['time_zone', 'origin', 'offset'],
  session_gap: [],
} as const;
type Kind = keyof typeof kinds;

/** R1: what the members of a window cannot say one by one. */
export function windowFaults(raw: Readonly<Record<string, unknown>>, path: Path, faults: Faults): void {
  const chosen = (Object.keys(kinds) as Kind[]).filter((kind) => raw[kind] !== undefined);
  const [kind, second] = chosen;
  if (kind === undefined) {
    faults.about(path, `does not say what kind of window; ${windowRemedy}`);
    return;
  }
  if (second !== undefined) {
    faults.aboutKey([...path, second], `is a second kind of window beside ${kind}; write one of them`);
    return;
  }
  for (const member of ['every', 'time_zone', 'origin', 'offset']) {
    if (raw[member] === undefined || (kinds[kind] as readonly string[]).includes(member)) continue;
    const reason =
      member === 'time_zone' ? '; write calendar: 1 day where windows follow a clock' : '; leave it out';
    faults.aboutKey([...path, member], `does not go with ${kind}${reason}`);
  }
  if (kind === 'hopping' && raw.every === undefined) {
    faults.about([...path, 'every'], 'is missing; write the step between hopping windows, such as 5 minutes');
  }
  if (kind === 'calendar' && raw.time_zone === undefined) {
    faults.about(
      [...path, 'time_zone'],
      'is missing; write whose calendar it is, such as Europe/Berlin or UTC',
    );
  }
  if (typeof raw.origin === 'string' && raw.origin.trim() !== '' && kind !== 'session_gap') {
    const reading = kind === 'calendar' ? readLocalTime(raw.origin) : readInstant(raw.origin);
    if ('wrong' in reading) faults.aboutText([...path, 'origin'], raw.origin, reading.wrong);
  }
}

export function windowSettings(window: z.output<typeof windowShape>): WindowSettings {
  const borders = { origin: window.origin, offset: window.offset };
  if (window.session_gap) return { kind: 'session', gap: window.session_gap };
  if (window.tumbling) return { kind: 'tumbling', size: window.tumbling, ...borders };
  if (window.hopping && window.every) {
    return { kind: 'hopping', size: window.hopping, every: window.every, ...borders };
  }
  if (window.calendar && window.time_zone) {
    return { kind: 'calendar', ...window.calendar, timeZone: window.time_zone, ...borders };
  }
  throw new Error('windowFaults lets no other window through');
}
