/** What the demo found, as a newcomer reads it. */
import { amount, counted } from '../../output/amount.ts';
import { contributionText, eventLines, payloadText, quarantineText } from '../event-text.ts';
import { instantText, shortInstant } from '../instant-text.ts';
import { keyText } from '../keyed-window.ts';
import type { NamedEvent } from '../named-events.ts';
import { type MeasureCheck, sumCheckLines } from '../sum-check.ts';
import type { DemoPart, DemoReport } from './demo.ts';
import { movedLines } from './moved-windows.ts';

/** @param where the server in a few words */
export function demoText(report: DemoReport, where: string): string {
  return [
    `Two bronze histories in ${where}. Nothing that shipped was changed: corrections stand beside it.`,
    '',
    ...ordersLines(report.orders, report.day),
    '',
    ...gitLines(report.git),
    '',
    `It took ${(report.milliseconds / 1000).toFixed(1)} seconds.`,
  ].join('\n');
}

function ordersLines(part: DemoPart, day: readonly MeasureCheck[]): string[] {
  const bounds = part.runs.map((run) => instantText(run.bound));
  return [
    'ORDERS  a day and region; late orders are published by themselves for 24 hours, then a person is asked (grace)',
    '',
    ...indented([
      `examined    ${amount(part.counts.rows_examined)} rows, in a run up to ${bounds[0]} and one up to ${bounds[1]}`,
      `sealed      ${counted(part.counts.windows_sealed ?? '0', 'keyed window')}: version 1, the number that shipped`,
      `corrected   ${amount(part.counts.windows_corrected)} of them: version 2 beside it`,
      '',
      ...indented(movedLines(part.moved, part.rollup, 'orders')),
      '',
      ...dayLines(day),
      '',
      ...part.refused.flatMap((event) => named('refused', `order ${event.event_id}`, event, part)),
      ...asideLines(part, 'order'),
      '',
      ...indented(sumCheckLines(part.check)),
    ]),
  ];
}

/** The number that shipped, whatever arrived later. */
function dayLines(day: readonly MeasureCheck[]): string[] {
  const orders = day.find(({ measure }) => measure === 'orders');
  if (!orders) return [];
  return [
    `The day 2026-10-29 shipped with ${amount(orders.sealed)} orders over all regions. It stands at ${amount(orders.latest)} until a`,
    `person releases order 8841; then it will be ${amount(orders.restated)}, beside the ${amount(orders.sealed)} that shipped.`,
  ];
}

function gitLines(part: DemoPart): string[] {
  const { counts } = part;
  return [
    'GIT     21 years of commits to git itself, a day and folder; whatever comes late is published by itself (auto)',
    '',
    ...indented([
      `examined    ${amount(counts.rows_examined)} rows, in one run`,
      `sealed      ${counted(counts.windows_sealed ?? '0', 'keyed window')}`,
      `corrected   ${amount(counts.windows_corrected)}: by ${amount(counts.late_firing)} late rows, and by ${amount(counts.side_output)} that the stream refused (side output)`,
      `quarantine  ${amount(counts.quarantined)} rows from clocks that ran ahead`,
      '',
      ...indented(movedLines(part.moved, part.rollup, 'changes')),
      '',
      ...indented(sumCheckLines(part.check)),
    ]),
  ];
}

function named(word: string, name: string, event: NamedEvent, { rollup }: DemoPart): string[] {
  const order = rollup.keys.map((column) => column.name);
  const pending = event.state === 'pending' ? '; pending: it awaits a person' : '';
  return labelled(word, [
    `${name}: ${keyText(event.key, order)}, ${contributionText(event.measures, rollup)}${pending}`,
    ...eventLines(event, rollup),
  ]);
}

function labelled(word: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => (index === 0 ? word : '').padEnd(12) + line);
}

function asideLines(part: DemoPart, noun: string): string[] {
  const quarantined = part.quarantined.flatMap((event) =>
    labelled('quarantine', [
      `${noun} ${event.event_id}: ${quarantineText(event)}`,
      `dated ${shortInstant(event.event_time)}, arrived ${shortInstant(event.arrived_at)}`,
    ]),
  );
  const conflicts = part.conflicts.flatMap((event) => {
    const { counted: first = '', this: other = '' } = event.conflicts_with ?? {};
    return labelled('conflict', [
      `${noun} ${event.event_id} came again with other values`,
      `${payloadText(first)} came first and counts; ${payloadText(other)} does not`,
    ]);
  });
  const copies = part.copies.flatMap((id) =>
    labelled('copy', [`${noun} ${id} came again as it was; it counts once`]),
  );
  return [...quarantined, ...conflicts, ...copies];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' ? '' : `  ${line}`));
}
