/** A window in one word where its bounds leave no doubt, else in full. Instants are text in UTC. */
export interface WindowBounds {
  readonly window_start: string;
  readonly window_end: string;
  readonly local_date: string | null;
}

/**
 * `2026-10-29` for a calendar window of a day or more, by its local date;
 * `2026-10-29 10:00Z to 10:05Z`, or both dates where they differ.
 */
export function windowText({ window_start: start, window_end: end, local_date: date }: WindowBounds): string {
  const hours = (Date.parse(isoText(end)) - Date.parse(isoText(start))) / 3_600_000;
  // A day of 23 hours is one too; only the length is judged by a number, and the bounds stay text.
  if (date !== null && hours >= 22) return date;
  const [from, to] = [shortened(start), shortened(end)];
  return from.slice(0, 10) === to.slice(0, 10) ? `${from} to ${to.slice(11)}` : `${from} to ${to}`;
}

function shortened(instant: string): string {
  return instant.replace(/\+00$/, '').replace(/:00$/, '').concat('Z');
}

function isoText(instant: string): string {
  return instant.replace(' ', 'T').replace(/\+00$/, 'Z');
}
