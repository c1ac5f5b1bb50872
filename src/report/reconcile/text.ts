/** What a sweep found, for finance: the totals first, then what is unexplained, by window and by event. */
import type { Rollup } from '../../catalog/rollup.ts';
import { amount, counted, difference } from '../../output/amount.ts';
import { table } from '../../output/table.ts';
import { windowText } from '../../output/window-text.ts';
import { instantText, shortInstant } from '../instant-text.ts';
import { type KeyedWindow, keyText } from '../keyed-window.ts';
import { knownAtText } from '../known-at.ts';
import { isNothing } from '../sum-check.ts';
import type { OutsideFigures } from './against.ts';
import type { MovedWindow } from './known.ts';
import type { ReconciledEvent, ReconciledWindow, Reconciliation, Total } from './reconcile.ts';

/** Beyond so many the rest is counted. */
const windowsShown = 20;
const eventsShown = 10;

export function reconciliationText(found: Reconciliation, rollup: Rollup): string {
  const keys = rollup.keys.map(({ name }) => name);
  const { counts, totals } = found;
  return [
    `${found.rollup}${found.period ? `, ${found.period}` : ''}${found.key ? `, ${keyText(found.key)}` : ''}: ${spanText(found)}`,
    `${counted(counts.keyed_windows, 'keyed window')}: ${amount(counts.identical)} identical, ${amount(counts.explained)} explained, ${amount(counts.unexplained)} unexplained`,
    ...reasonLines(found),
    '',
    ...(totals
      ? totalLines(totals)
      : ['Windows overlap, so an event is in several of them: their sums are no totals.']),
    ...knownLines(found, keys),
    ...outsideLines(found, keys),
    ...unexplainedLines(found, keys),
    '',
    verdictOf(found),
  ].join('\n');
}

function spanText({ range_from: from, range_to: to, sealed_until: until, bound }: Reconciliation): string {
  const sealed = until === null ? 'nothing is sealed yet' : `sealed until ${instantText(until)}`;
  return `windows from ${instantText(from)} to ${instantText(to)}, ${sealed}, examined up to ${instantText(bound)}`;
}

function reasonLines({ counts }: Reconciliation): string[] {
  const explained = Object.entries(counts.explained_by).map(
    ([kind, windows]) => `${kind} ${amount(windows)}`,
  );
  const unexplained = Object.entries(counts.unexplained_by).map(
    ([kind, { keyed_windows: windows, events }]) =>
      `${kind} ${amount(windows)}${events === '0' ? '' : ` (${counted(events, 'event')})`}`,
  );
  return [
    ...(explained.length > 0 ? [`  explained by: ${explained.sort().join(', ')}`] : []),
    ...(unexplained.length > 0 ? [`  unexplained: ${unexplained.sort().join(', ')}`] : []),
  ];
}

const corrections = [
  'late_firing',
  'straggler',
  'refused',
  'quarantine_release',
  'seal_mismatch',
  'stream_emission',
  'source_change',
  'other',
] as const;

/** A column a measure, from what shipped to what bronze holds; lines that are 0 for all of them are left out. */
function totalLines(totals: readonly Total[]): string[] {
  const line = (title: string, member: keyof Total, isSum: boolean) =>
    isSum || totals.some((total) => !isNothing(total[member]))
      ? [[title, ...totals.map((total) => (isSum ? amount : difference)(total[member]))]]
      : [];
  const rows = [
    line('sealed', 'sealed', true),
    ...corrections.map((cause) => line(`  ${cause}`, cause, false)),
    line('latest', 'latest', true),
    line('  pending', 'pending', false),
    line('  held', 'held', false),
    line('  waived', 'waived', false),
    line('restated', 'restated', true),
    line('  unexplained', 'unexplained', false),
    line('  blocked', 'blocked', false),
    line('bronze', 'bronze', true),
    line('  not yet examined', 'not_examined', false),
  ].flat();
  return totals.length === 0
    ? []
    : table([{ title: '' }, ...totals.map(({ measure }) => ({ title: measure, isNumber: true }))], rows);
}

/** From what was known then to what bronze holds now, and which keyed windows moved in between. */
function knownLines({ known, totals }: Reconciliation, keys: readonly string[]): string[] {
  if (!known) return [];
  const now = totals ?? [];
  const line = (title: string, member: keyof Total, isSum: boolean) =>
    isSum || now.some((total) => !isNothing(total[member]))
      ? [[title, ...now.map((total) => (isSum ? amount : difference)(total[member]))]]
      : [];
  const sums = known.totals ?? [];
  const rows = [
    ['known then', ...sums.map((total) => amount(total.known))],
    ['  published since', ...sums.map(({ since }) => difference(since))],
    ...line('latest', 'latest', true),
    ...(['pending', 'held', 'waived', 'unexplained', 'blocked'] as const).flatMap((part) =>
      line(`  ${part}`, part, false),
    ),
    ...line('bronze', 'bronze', true),
  ];
  const rest = BigInt(known.moved_windows) - BigInt(Math.min(known.windows.length, windowsShown));
  return [
    '',
    `Known at ${knownAtText(known)}; bronze as it is now:`,
    ...(sums.length === 0
      ? []
      : table([{ title: '' }, ...sums.map(({ measure }) => ({ title: measure, isNumber: true }))], rows)),
    ...(known.windows.length === 0 ? ['Nothing came since.'] : ['Since then:']),
    ...known.windows
      .slice(0, windowsShown)
      .map((window) => `  ${nameOf(window, keys)}: ${movedText(window)}`),
    ...(rest > 0n ? [`  and ${amount(String(rest))} more: --json`] : []),
  ];
}

function movedText({ known_version: then, version, measures, events, events_since: since }: MovedWindow) {
  const values = Object.entries(measures).map(([name, { known, latest }]) =>
    then === version
      ? `${name} ${amount(latest)}`
      : `${name} ${then === 0 ? 'none' : amount(known)} to ${amount(latest)}`,
  );
  const more = BigInt(since) - BigInt(events.length);
  return [
    then === version
      ? `version ${version} as then`
      : then === 0
        ? `version ${version}, none then`
        : `version ${then} then, ${version} now`,
    ...values,
    ...(since === '0'
      ? []
      : [`${counted(since, 'event')} since: ${events.join(' ')}${more > 0n ? ` and ${more} more` : ''}`]),
  ].join('; ');
}

function outsideLines({ against, windows }: Reconciliation, keys: readonly string[]): string[] {
  if (!against) return [];
  const { counts } = against;
  const parts = [
    [counts.latest, 'the latest version'],
    [counts.sealed, 'what was sealed'],
    [counts.older_version, 'an older version'],
    [counts.bronze, 'bronze, and no version'],
    [counts.nothing_of_ours, 'nothing that was published or is in bronze'],
  ] as const;
  const lacking = [
    [counts.missing_outside, 'not in the table'],
    [counts.only_outside, 'only in the table'],
  ] as const;
  const shown = windows.flatMap((window) => (window.outside ? [{ ...window, outside: window.outside }] : []));
  return [
    '',
    `${against.table} has: ${
      parts
        .filter(([count]) => count !== '0')
        .map(([count, what]) => `${what} of ${counted(count, 'keyed window')}`)
        .join('; ') || 'none of these windows'
    }${lacking
      .filter(([count]) => count !== '0')
      .map(([count, what]) => `; ${counted(count, 'keyed window')} ${what}`)
      .join('')}`,
    ...shown
      .slice(0, windowsShown)
      .map((window) => `  ${nameOf(window, keys)}: ${outsideText(window.outside)}`),
    ...(shown.length > windowsShown ? [`  and ${amount(String(shown.length - windowsShown))} more`] : []),
  ];
}

function outsideText({ side, equals, versions, measures }: OutsideFigures): string {
  const values = Object.entries(measures)
    .map(([name, { outside, latest }]) =>
      side === 'ours'
        ? `${name} ${amount(latest)}`
        : side === 'outside'
          ? `${name} ${amount(outside)}`
          : `${name} ${amount(outside)}, latest ${amount(latest)}`,
    )
    .join('; ');
  if (side === 'ours') return `it lacks it; ${values}`;
  if (side === 'outside') return `only it has it; ${values}`;
  const version = versions.at(-1);
  const what = version
    ? `version ${version.version}, which stood from ${shortInstant(version.from)}${version.until ? ` to ${shortInstant(version.until)}` : ''}`
    : equals.includes('bronze')
      ? 'what is in bronze'
      : 'none of its versions';
  return `${what}; ${values}`;
}

function unexplainedLines({ windows, events, counts }: Reconciliation, keys: readonly string[]): string[] {
  const wrong = windows.filter(({ status }) => status === 'unexplained');
  if (wrong.length === 0) return [];
  const rest = BigInt(counts.unexplained) - BigInt(Math.min(wrong.length, windowsShown));
  return [
    '',
    'Unexplained:',
    ...wrong
      .slice(0, windowsShown)
      .flatMap((window) => [
        `  ${nameOf(window, keys)}: ${window.unexplained.join(', ')}${figuresText(window)}`,
        ...(window.why ? [`    ${window.why}`] : []),
        ...eventsOf(window, events),
      ]),
    ...(rest > 0n ? [`  and ${amount(String(rest))} more: --json, or errata.reconciled_window`] : []),
  ];
}

/** Of the measures that differ: what is accounted for, and what bronze holds. */
function figuresText({ measures, unexplained_events: events }: ReconciledWindow): string {
  const differing = Object.entries(measures ?? {}).filter(
    ([, { unexplained }]) => !isNothing(unexplained ?? null),
  );
  const parts = differing.map(
    ([name, { restated, bronze, unexplained }]) =>
      `${name} ${amount(restated)} accounted for, ${amount(bronze ?? '0')} in bronze (${difference(unexplained)})`,
  );
  if (parts.length === 0 && events !== null && events !== '0') parts.push(`events ${difference(events)}`);
  return parts.length > 0 ? `; ${parts.join('; ')}` : '';
}

function eventsOf(window: ReconciledWindow, events: readonly ReconciledEvent[]): string[] {
  const mine = events.filter(
    ({ window_start: start, window_end: end, key }) =>
      start === window.window_start &&
      end === window.window_end &&
      Object.entries(key).every(([name, value]) => window.key[name] === value),
  );
  return [
    ...mine.slice(0, eventsShown).map(({ kind, event_id: id }) => `    ${kind}: event ${id}`),
    ...(mine.length > eventsShown ? [`    and ${mine.length - eventsShown} events more`] : []),
  ];
}

function nameOf(window: KeyedWindow, keys: readonly string[]): string {
  const start =
    window.window_end === null ? (window.local_date ?? instantText(window.window_start)) : windowText(window);
  return keys.length > 0 ? `${start}, ${keyText(window.key, keys)}` : start;
}

function verdictOf({ counts, reconciliation_id: id }: Reconciliation): string {
  const kept = `Kept as reconciliation ${id}.`;
  return counts.unexplained === '0'
    ? `Everything adds up. ${kept}`
    : `${counted(counts.unexplained, 'keyed window')} ${counts.unexplained === '1' ? 'is' : 'are'} UNEXPLAINED. ${kept}`;
}
