/** The life of a number as a person reads it: what stands, the timeline, what awaits, and the sum check. */
import type { Rollup } from '../../catalog/rollup.ts';
import { counted } from '../../output/amount.ts';
import { windowText } from '../../output/window-text.ts';
import { instantText, shortInstant } from '../instant-text.ts';
import { keyText } from '../keyed-window.ts';
import { knownAtText } from '../known-at.ts';
import { holds, sumCheckLines } from '../sum-check.ts';
import type { Explanation } from './explain.ts';
import { sentencesOf } from './sentences.ts';
import { timelineOf } from './timeline.ts';

export function explainText(explanation: Explanation, rollup: Rollup): string {
  // Nobody has named a key where the window holds nothing at all.
  const keys = rollup.keys.map(({ name }) => name).filter((name) => name in explanation.key);
  const key = keys.length > 0 ? `, ${keyText(explanation.key, keys)}` : '';
  const entries = timelineOf(explanation, rollup);
  const margin = Math.max(0, ...entries.map(({ at }) => instantText(at || 'x').length)) + 2;
  return [
    `${explanation.rollup}${dateOf(explanation)}${key}: from ${instantText(explanation.window_start)} to ${instantText(explanation.window_end)}`,
    ...(explanation.known_at ? [`As known at ${knownAtText(explanation.known_at)}.`] : []),
    ...sentencesOf(explanation, rollup.settings),
    ...(entries.length > 0 ? [''] : []),
    ...entries.flatMap(({ at, lines }) =>
      lines.map((line, index) => (index === 0 && at ? instantText(at) : '').padEnd(margin) + line),
    ),
    ...below('', copyLines(explanation)),
    ...below('', waitingLines(explanation)),
    ...below('', checkLines(explanation)),
  ].join('\n');
}

/** Of a calendar window its local date; of the others the bounds say all. */
function dateOf(explanation: Explanation): string {
  return explanation.local_date === null ? '' : `, ${windowText(explanation)}`;
}

function copyLines({ copies }: Explanation): string[] {
  const equal = copies.filter(({ is_conflict: isConflict }) => !isConflict);
  return equal
    .slice(0, 10)
    .map(
      ({ event_id: id, ingested_at: at, copies: count }) =>
        `event ${id} came again as it was, ${counted(count, 'row')} ingested ${shortInstant(at)}; it counts once`,
    )
    .concat(equal.length > 10 ? [`and ${equal.length - 10} copies more`] : []);
}

function waitingLines(explanation: Explanation): string[] {
  const { events, queue, proposals } = explanation;
  // what awaited someone then may be decided by now
  const isThen = explanation.known_at !== null;
  const pending = events.filter(({ state, released }) => state === 'pending' && !released);
  const held = events.filter(({ state }) => state === 'held');
  return [
    ...(pending.length > 0
      ? [
          `${counted(pending.length, 'event')} pending${isThen ? '' : `: a person may release ${pending.length === 1 ? 'it' : 'them'} with \`errata publish\``}`,
        ]
      : []),
    ...(held.length > 0 ? [`${counted(held.length, 'event')} held: the period is closed`] : []),
    ...(proposals.some(({ state }) => state === 'open') ? ['a proposed version awaits a person'] : []),
    ...queue.map(({ cause, since, blocked_reason: reason, error, tries }) =>
      reason
        ? `blocked since ${instantText(since)} (${cause}): ${reason}`
        : error
          ? `failing since ${instantText(since)} (${cause}), tried by ${counted(String(tries), 'run')}: ${error}; the next run tries it again`
          : `in the queue since ${instantText(since)} (${cause}): ${explanation.is_open ? 'it waits until its window is sealed' : 'the next run takes it'}`,
    ),
  ];
}

/** Of nothing at all there is nothing to add up. */
function checkLines(explanation: Explanation): string[] {
  const { known_at: known, check, versions, events, bronze_error: error } = explanation;
  if (known) return ['The sum check, copies and the queue are of now, and are left out here.'];
  const isNothingAtAll = versions.length === 0 && events.length === 0 && holds(check);
  return [
    ...(isNothingAtAll ? [] : sumCheckLines(check)),
    ...(error ? [`Bronze could not be counted anew: ${error}`] : []),
  ];
}

function below(line: string, lines: readonly string[]): string[] {
  return lines.length > 0 ? [line, ...lines] : [];
}
