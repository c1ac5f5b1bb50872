/** The timeline of a keyed window: what happened to its number, in the order of stamps. */
import type { Rollup } from '../../catalog/rollup.ts';
import { amount, difference, one } from '../../output/amount.ts';
import { table } from '../../output/table.ts';
import { windowText } from '../../output/window-text.ts';
import { contributionText } from '../event-text.ts';
import type { NamedEvent } from '../named-events.ts';
import { decisionOf, foundLines } from './events.ts';
import type { Emission, Explanation, Proposal, Version } from './explain.ts';

export interface Entry {
  /** A stamp, or when the stream's row was taken. */
  readonly at: string;
  readonly lines: readonly string[];
}

/** Within one stamp: the seal, what was found, what a person said of it, and then the version that came of it. */
type Ranked = Entry & { readonly rank: number };

/** Beyond so many events each gets one line. */
const eventsInFull = 5;
/** Beyond so many the rest is counted. */
const eventsShown = 40;

export function timelineOf(explanation: Explanation, rollup: Rollup): Entry[] {
  const { versions, events, emissions, proposals } = explanation;
  const inFull = events.length <= eventsInFull;
  const shown = events.slice(0, eventsShown);
  const entries: Ranked[] = [
    ...versions.map((version) => versionEntry(version, events, rollup, explanation.known_at !== null)),
    ...shown.map((event) => ({
      at: event.examined_at ?? '',
      rank: 1,
      lines: foundLines(event, rollup, inFull),
    })),
    ...shown.flatMap((event) => decisionOf(event) ?? []).map((entry) => ({ ...entry, rank: 2 })),
    ...emissions.map((emission) => emissionEntry(emission, rollup)),
    ...proposals.flatMap((proposal) => proposalEntries(proposal, rollup)),
  ];
  const sorted = entries.sort((a, b) => compare(a.at, b.at) || a.rank - b.rank);
  const rest = events.length - shown.length;
  return rest > 0
    ? [...sorted, { at: '', lines: [`and ${rest} events more, in ${rollup.settings.gold.name}_late_event`] }]
    : sorted;
}

function versionEntry(
  version: Version,
  events: readonly NamedEvent[],
  rollup: Rollup,
  isThen: boolean,
): Ranked {
  const { version: number, kind, actor, reason, run_id: run, causes, db_role: role } = version;
  const by = run === null ? 'the stream' : `${actor ? `${actor}, ` : ''}run ${run}`;
  const included = events.filter((event) => event.version === number && event.state === 'included');
  const ids = included.slice(0, 5).map(({ event_id: id }) => id);
  const more = included.length > ids.length ? ` and ${included.length - ids.length} more` : '';
  const lines = [
    kind === 'seal'
      ? `version 1 shipped, by ${by} (database role ${role})`
      : `version ${number}, ${one(kind)} by ${by} (database role ${role}): ${causes.join(', ') || 'no cause was kept'}`,
    ...(reason ? [`reason: ${reason}`] : []),
    ...(version.approver ? [`approved by ${version.approver}`] : []),
    ...(version.posting_period ? [`posted to ${version.posting_period}`] : []),
    ...(ids.length > 0
      ? [`with ${included.length === 1 ? 'event' : 'events'} ${ids.join(', ')}${more}`]
      : []),
    ...(version.replaces ?? []).map((span) => `it has the rows of the session ${spanText(span)}`),
    ...(version.is_void ? [voidText(version, rollup, isThen)] : []),
    ...indented(valueLines(version, rollup)),
  ];
  return { at: version.stamp, rank: kind === 'seal' ? 0 : 3, lines };
}

function voidText({ became }: Version, { settings }: Rollup, isThen: boolean): string {
  // which session had its rows then is not on record
  if (isThen && settings.window.kind === 'session') return 'void';
  return became
    ? `void: its rows are in the session ${spanText(became)}`
    : 'void: the keyed window holds no events any more';
}

const spanText = (span: { readonly window_start: string; readonly window_end: string }) =>
  windowText({ ...span, local_date: null });

function valueLines(version: Version, rollup: Rollup): string[] {
  const isFirst = version.version === 1;
  const rows = rollup.measures.map(({ name }) => {
    const { old = null, new: now = null, delta = null } = version.measures[name] ?? {};
    if (isFirst) return [name, amount(now)];
    return [
      name,
      amount(old),
      '→',
      version.is_void ? 'void' : amount(now),
      delta === null ? '' : difference(delta),
    ];
  });
  const numbers = isFirst ? [false, true] : [false, true, false, true, true];
  // The head line of the table says nothing here.
  return table(
    numbers.map((isNumber) => ({ title: '', isNumber })),
    rows,
  ).slice(1);
}

function emissionEntry({ kind, received_at: at, measures }: Emission, rollup: Rollup): Ranked {
  const what =
    kind === 'late_seal'
      ? 'the stream sent a version 1 after Errata had published: a late seal, kept beside the ledger'
      : 'the stream sent another value for this keyed window';
  return { at, rank: 1, lines: [what, contributionText(measures, rollup)] };
}

function proposalEntries(proposal: Proposal, rollup: Rollup): Ranked[] {
  const { proposed_at: at, decided_at: decidedAt, why, causes, measures, state } = proposal;
  const lines = [
    `proposed after version ${proposal.base_version} (${causes.join(', ')}): ${why}`,
    contributionText(measures, rollup),
    ...(state === 'open' ? ['it awaits a person'] : []),
  ];
  const decided = decidedAt === null ? [] : [{ at: decidedAt, rank: 2, lines: [decisionText(proposal)] }];
  return [{ at, rank: 2, lines }, ...decided];
}

function decisionText({ decided_by: by, decided_reason: reason, state }: Proposal): string {
  const what = by === null ? `the proposal is ${state}` : `${by} ${state} the proposal`;
  return reason ? `${what}: ${reason}` : what;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
