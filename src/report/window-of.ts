/** Which window a person means by an instant inside it, by its start, or by a local date. */
import { relationsOf } from '../catalog/relations.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { readInstant } from '../config/instant.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';

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
  const reading = readInstant(text);
  if ('wrong' in reading)
    throw new Failure(`${name} ${JSON.stringify(text)} ${reading.wrong}`, { exitCode: 2 });
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
