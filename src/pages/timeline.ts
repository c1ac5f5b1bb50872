/** The timeline of a keyed window: one entry a version, late event, word, proposal and answer, in the order of stamps. */

import { html } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { one } from '../output/amount.ts';
import { change, type Html, moment, number, shown, time, words } from './cells.ts';
import { figureOf } from './figure.ts';
import type { Executed, Reading } from './reading.ts';

interface Entry {
  readonly at: string | null;
  readonly entry: 'version' | 'event' | 'word' | 'proposal' | 'answer' | 'emission';
  readonly version: string | null;
  readonly kind: string | null;
  readonly causes: readonly (string | null)[] | null;
  readonly actor: string | null;
  readonly approver: string | null;
  readonly reason: string | null;
  readonly db_role: string | null;
  readonly run_id: string | null;
  readonly posting_period: string | null;
  readonly is_void: boolean | null;
  /** Before, after and their difference. */
  readonly measures: Readonly<Record<string, readonly [string | null, string | null, string | null]>> | null;
  readonly event_id: string | null;
  readonly event_time: string | null;
  readonly arrived_at: string | null;
  readonly lateness: string | null;
  readonly watermark: string | null;
  readonly landing: string | null;
  readonly state: string | null;
}

export async function readTimeline(
  reading: Reading,
  rollup: Rollup,
  asked: Readonly<Record<'window_start' | 'window_end' | 'key', string>> &
    Readonly<Record<'passed_over' | 'at_most', number>>,
): Promise<Executed<Entry>> {
  return await reading.figures<Entry>('pages/timeline.sql', 'auditor', bindingsOf(rollup), asked);
}

export function timelineFigure(rollup: Rollup, from: Executed<Entry>): Html {
  return figureOf(
    'its life',
    html`<ol class="timeline">
${from.rows.map((entry) => entryOf(rollup, entry))}</ol>`,
    [from],
  );
}

function entryOf(rollup: Rollup, entry: Entry): Html {
  const className = entry.entry === 'version' && entry.version === '1' ? 'shipped' : entry.entry;
  return html`<li class="${className}"><span class="when">${entry.at === null ? 'not dated' : shown(moment(entry.at))}${entry.run_id === null ? '' : `, run ${entry.run_id}`}</span>
<p class="what">${headOf(entry)}</p>
${bodyOf(entry)}${valuesOf(rollup, entry)}</li>
`;
}

function headOf(entry: Entry): Html | string {
  const { version, kind, event_id: event, landing, state } = entry;
  switch (entry.entry) {
    case 'version':
      if (version === '1') return 'Version 1 shipped';
      return `Version ${version}, ${one(kind as string)}${entry.is_void ? ': void, the keyed window holds no events any more' : ''}`;
    case 'event':
      return `Event ${event}: ${landing === null ? 'a copy that differs from the row that counts' : words([landing])}`;
    case 'word':
      return `Event ${event} was ${state === 'waived' ? 'waived' : 'released'} by ${entry.actor}`;
    case 'proposal':
      return `Proposed beside version ${version}${state === 'open' ? ': it awaits a person' : ''}`;
    case 'answer':
      return entry.actor === null
        ? `The proposal is ${state}`
        : `The proposal was ${state} by ${entry.actor}`;
    case 'emission':
      return kind === 'late_seal'
        ? 'The stream sent a version 1 after Errata had published: a late seal, kept beside the ledger'
        : 'The stream sent another value';
  }
}

function bodyOf(entry: Entry): Html {
  const lines: (Html | string)[] = [];
  if (entry.entry === 'version') {
    const causes = words(entry.causes ?? []);
    if (entry.version !== '1') lines.push(causes ? `Causes: ${causes}` : 'No cause was kept');
    const by =
      entry.actor ?? (entry.run_id === null ? 'the stream' : entry.version === '1' ? 'Errata' : 'the policy');
    const approver = entry.approver === entry.actor ? null : entry.approver;
    lines.push(`By ${by}${approver ? `, approved by ${approver}` : ''}; database role ${entry.db_role}`);
    if (entry.posting_period !== null) lines.push(`Posted to ${entry.posting_period}`);
  }
  if (entry.entry === 'event') {
    lines.push(
      html`Happened ${shown(moment(entry.event_time))}, arrived ${shown(moment(entry.arrived_at))}${entry.lateness === null ? '' : html`, ${shown(time(entry.lateness))} later`}`,
    );
    lines.push(
      entry.watermark === null
        ? 'No watermark was kept'
        : html`The watermark stood at ${shown(moment(entry.watermark))} when it arrived`,
    );
    lines.push(stateText(entry));
  }
  if (entry.entry === 'proposal') lines.push(`Causes: ${words(entry.causes ?? [])}`);
  if (entry.reason !== null) lines.push(`${entry.entry === 'proposal' ? 'Why' : 'Reason'}: ${entry.reason}`);
  return html`${lines.map(
    (line) => html`<p>${line}</p>
`,
  )}`;
}

function stateText({ state, version }: Entry): string {
  if (state === 'included') return `Now: included in version ${version}`;
  return state === null ? 'Now: it has no state' : `Now: ${state}`;
}

function valuesOf({ measures }: Rollup, { entry, version, measures: values, is_void: isVoid }: Entry): Html {
  if (values === null) return html``;
  const there = measures.filter(({ name }) => name in values);
  if (there.length === 0) return html``;
  return html`<dl class="values">${there.map(({ name }) => {
    const [before, after, delta] = values[name] ?? [null, null, null];
    const isChange = entry === 'version' && version !== '1';
    return html`<dt>${name}</dt><dd>${
      isChange
        ? html`${shown(number(before))} → ${isVoid ? 'void' : shown(number(after))}${delta === null ? '' : html` (${shown(change(delta))})`}`
        : shown(number(after))
    }</dd>`;
  })}</dl>
`;
}
