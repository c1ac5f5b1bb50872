/** The windows of a RunReport as people read them: old, new and delta of each measure, causes, and the events behind. */
import type { Verdict } from '../pipeline/diff.ts';
import type { Change, RunReport, SessionSpan } from '../pipeline/report.ts';
import { amount, difference } from './amount.ts';
import { table } from './table.ts';
import { windowText } from './window-text.ts';

/** What becomes of a window, by verdict; `plan` says it of what would happen, `run` of what did. */
const verdictWords: Readonly<Record<Verdict, string>> = {
  change: 'correct',
  emission: 'correct',
  propose: 'propose',
  rejected: 'set aside',
  held: 'hold',
  wait: 'wait',
  missing: 'blocked',
  unexamined: 'blocked',
  included: 'include',
  same: 'same',
};

/** The order of the settings; a JSON object of the database has forgotten it. */
export interface Order {
  readonly keys: readonly string[];
  readonly measures: readonly string[];
}

/** Aligned lines: a head, then one a window and measure. Empty where nothing changes. Without `order`: the database's. */
export function changeLines(report: Pick<RunReport, 'changes'>, order?: Order): string[] {
  const [first] = report.changes;
  if (first === undefined) return [];
  const known = order ?? { keys: Object.keys(first.key), measures: Object.keys(first.measures) };
  const { keys } = known;
  const columns = [
    { title: 'window' },
    ...keys.map((title) => ({ title })),
    { title: 'what' },
    { title: 'measure' },
    ...['old', 'new', 'delta'].map((title) => ({ title, isNumber: true })),
    { title: 'causes' },
    { title: 'events' },
  ];
  return table(
    columns,
    report.changes.flatMap((change) => rowsOf(change, known)),
  );
}

function rowsOf(change: Change, { keys, measures }: Order): string[][] {
  const head = [windowText(change), ...keys.map((key) => change.key[key] ?? 'NULL'), wordOf(change)];
  const tail = [
    change.causes.join(', '),
    [eventsText(change), sessionsText(change), change.why].filter(Boolean).join('; '),
  ];
  const blank = (cells: readonly string[]) => cells.map(() => '');
  return measures.map((measure, index) => [
    ...(index === 0 ? head : blank(head)),
    measure,
    change.old_version === 0 ? '–' : amount(change.measures[measure]?.[0]),
    change.is_void ? 'void' : amount(change.measures[measure]?.[1]),
    difference(change.deltas[measure]),
    ...(index === 0 ? tail : blank(tail)),
  ]);
}

function wordOf({ verdict, is_void: isVoid }: Change): string {
  return verdict === 'change' && isVoid ? 'void' : verdictWords[verdict];
}

function sessionsText({ replaces, replaced_by: successor }: Change): string {
  const text = (span: SessionSpan) => windowText({ ...span, local_date: null });
  if (successor) return `its rows are in ${text(successor)}`;
  return replaces && replaces.length > 0 ? `replaces ${replaces.map(text).join(', ')}` : '';
}

/** At most five are named. */
function eventsText({ events }: Change): string {
  if (!events || events.length === 0) return '';
  return events.length < 5 ? events.join(' ') : `${events.join(' ')} …`;
}
