/** What `errata find` says of each version and total. */
import { amount, counted, difference, one } from '../../output/amount.ts';
import { windowText } from '../../output/window-text.ts';
import { instantText } from '../instant-text.ts';
import { keyText } from '../keyed-window.ts';
import type { Found, StandingTotal, StandingVersion } from './find.ts';

/** One paragraph a version or total. */
export function foundText({ rollup, versions, totals, hasMore }: Found, keys: readonly string[]): string[] {
  return [
    ...versions.map((version) => versionText(rollup, version, keys)),
    ...totals.map((total) => totalText(rollup, total, keys)),
    ...(hasMore ? [`${rollup}: and more than a hundred of them`] : []),
  ];
}

function versionText(rollup: string, found: StandingVersion, keys: readonly string[]): string {
  const key = keyText(found.key, keys);
  const number =
    found.kind === 'seal' ? 'version 1, what shipped' : `version ${found.version}, ${one(found.kind)}`;
  const cited = found.citation === null ? 'not hashed by a run yet' : `cited as ${found.citation}`;
  return [
    `${rollup}, ${windowText(found)}${key ? `, ${key}` : ''}: ${named(found.measure)} ${valueText(found)}`,
    `  ${number}; ${cited}`,
    `  stood ${spanText(found)}`,
    found.previous_value === null && found.version <= 2
      ? '  before: nothing was published'
      : `  before: ${amount(found.previous_value)}; changed by ${whyText(found.causes, found.reason, found.actor, found.run_id)}`,
    ...eventsLine(found.events),
    found.next_version === null
      ? '  after:  it is the latest version'
      : `  after:  ${found.next_is_void ? 'void' : amount(found.next_value)}${deltaText(found)}, version ${found.next_version}; changed by ${whyText(found.next_causes ?? [], found.next_reason, found.next_actor, found.next_run_id)}`,
    ...eventsLine(found.next_events),
  ].join('\n');
}

function totalText(rollup: string, found: StandingTotal, keys: readonly string[]): string {
  const of =
    found.window_start !== null && found.window_end !== null
      ? `${windowText({ window_start: found.window_start, window_end: found.window_end, local_date: found.local_date })}, all keys together`
      : `${found.period}, ${found.key === null ? 'all keyed windows together' : `all windows of ${keyText(found.key, keys)}`}`;
  return [
    `${rollup}, ${of}: ${named(found.measure)} ${amount(found.value)}`,
    `  stood ${spanText(found)}`,
    found.previous_value === null
      ? '  before: nothing was published'
      : `  before: ${amount(found.previous_value)}`,
    found.until === null
      ? '  after:  it stands still'
      : `  after:  ${amount(found.next_value)}${deltaText(found)}${found.next_run_id === null ? '' : `; changed by run ${found.next_run_id}`}`,
  ].join('\n');
}

const named = (measure: string) => (measure === 'event_count' ? 'events' : measure);

const valueText = ({ value, is_void: isVoid }: StandingVersion) => (isVoid ? 'void' : amount(value));

function spanText({ stamp, until }: { readonly stamp: string; readonly until: string | null }): string {
  return `from ${instantText(stamp)} ${until === null ? 'to this day' : `until ${instantText(until)}`}`;
}

function deltaText({ next_delta: delta }: { readonly next_delta: string | null }): string {
  return delta === null ? '' : ` (${difference(delta)})`;
}

function whyText(
  causes: readonly string[],
  reason: string | null,
  actor: string | null,
  runId: string | null,
): string {
  const by = actor === null ? '' : ` by ${actor}`;
  return `${causes.length === 0 ? 'a person' : causes.join(', ')}${by}${runId === null ? '' : `, run ${runId}`}${reason === null ? '' : `: ${reason}`}`;
}

function eventsLine(events: readonly string[] | null): string[] {
  if (!events || events.length === 0) return [];
  const shown = events.slice(0, 10);
  return [
    `          with ${shown.length === 1 ? 'event' : 'events'} ${shown.join(', ')}${events.length > 10 ? ' and more' : ''}`,
  ];
}

/** `3 keyed windows and 1 total`. */
export function countText(found: readonly Found[]): string {
  const versions = found.reduce((sum, { versions: list }) => sum + list.length, 0);
  const totals = found.reduce((sum, { totals: list }) => sum + list.length, 0);
  return `${counted(versions, 'version')} and ${counted(totals, 'total')}`;
}
