import type { Reading } from './reading.ts';

/**
 * Named zones only. An offset has no changes of clock, and an abbreviation means different things in different places
 * (and `CET` in PostgreSQL is an offset or a zone, depending on the server's settings).
 */
export function readTimeZone(text: string): Reading<string> {
  if (text === 'UTC') return { value: text };
  if (/^[-+\d]/.test(text) || /^(UTC|GMT)[-+]/i.test(text)) {
    return { wrong: 'is an offset, not a time zone; write a named one, such as Europe/Berlin or UTC' };
  }
  if (/^[A-Z0-9]+$/.test(text)) {
    return { wrong: 'is an abbreviation, not a time zone; write a named one, such as Europe/Berlin or UTC' };
  }
  if (!isKnown(text)) return { wrong: 'is not a time zone; write a named one, such as Europe/Berlin or UTC' };
  return { value: text };
}

function isKnown(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
}
