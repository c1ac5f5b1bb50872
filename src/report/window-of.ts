/** Which window a person means by an instant inside it, by its start, or by a local date. */
import { bindingsOf } from '../catalog/bindings.ts';
import { relationsOf } from '../catalog/relations.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { readInstant } from '../config/instant.ts';
import { execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import type { KeyedWindow } from './keyed-window.ts';

export interface Window {
  readonly window_start: string;
  readonly window_end: string;
  readonly local_date: string | null;
}

/**
 * A date is midnight of the calendar's zone, else of UTC. Instants come back as text in UTC.
 * @param text as in `2026-10-29`, `2026-10-29T18:02:00Z` or `2026-10-29 20:02+02`
 * @param name how messages call it: `--window`
 * @throws Failure, exit code 2, for what is neither, and for an instant in no window.
 */
export async function windowOf(
  transaction: ControlTransaction,
  rollup: Rollup,
  text: string,
  name: string,
): Promise<Window> {
  refuseUnreadable(text, name);
  const { window } = rollup.settings;
  const zone = window.kind === 'calendar' ? window.timeZone : 'UTC';
  const instant = text.length === 10 ? '$1::timestamp at time zone $2' : '$1::timestamptz';
  const windows = await query<Window>(
    transaction,
    `select w.window_start::text as window_start, w.window_end::text as window_end, w.local_date::text as local_date
     from ${relationsOf(rollup).windows}(${instant}) as w
     order by w.window_start desc`,
    text.length === 10 ? [text, zone] : [text],
  );
  const [found] = windows;
  if (found && found.window_start !== null) return found;
  throw new Failure(`${name} ${text} lies in no window of rollup "${rollup.settings.name}"`, { exitCode: 2 });
}

/**
 * Sessions differ from key to key (R6s): all that an instant may mean, the likeliest first.
 * @param text an instant in a session, its start, or both ends as in `2026-11-02T10:00Z/2026-11-02T10:30Z`
 * @param onlyPending leaves out sessions without events that await a person
 * @throws Failure, exit code 2, for what cannot be read, and for an instant in no session.
 */
export async function sessionsOf(
  transaction: ControlTransaction,
  rollup: Rollup,
  text: string,
  name: string,
  key: KeyedWindow['key'],
  onlyPending = false,
): Promise<KeyedWindow[]> {
  const [start = '', end, ...more] = text.split('/');
  if (more.length > 0)
    throw new Failure(`${name} ${JSON.stringify(text)} is more than a start and an end`, { exitCode: 2 });
  for (const instant of end === undefined ? [start] : [start, end]) refuseUnreadable(instant, name);
  const { rows } = await execute<KeyedWindow>(
    transaction,
    prepare('report/session_of.sql', bindingsOf(rollup)),
    {
      instant: asInstant(start),
      window_end: end === undefined ? null : asInstant(end),
      key: JSON.stringify(key),
      only_pending: onlyPending,
    },
  );
  if (rows.length > 0) return rows;
  throw new Failure(`${name} ${text} lies in no session of rollup "${rollup.settings.name}"`, {
    detail: onlyPending ? 'asked of the sessions in which events await a person' : undefined,
    exitCode: 2,
  });
}

function refuseUnreadable(text: string, name: string): void {
  const reading = readInstant(text);
  if ('wrong' in reading)
    throw new Failure(`${name} ${JSON.stringify(text)} ${reading.wrong}`, { exitCode: 2 });
}

/** A date is midnight of UTC: sessions follow no calendar. */
const asInstant = (text: string) => (text.length === 10 ? `${text} 00:00:00+00` : text);
