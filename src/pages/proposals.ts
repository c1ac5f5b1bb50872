/** What was proposed: versions that await a person, and what became of those before. */
import { html } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { type Content, span } from '../report/statement/markup.ts';
import { type Asked, rowsOfPage } from './asked.ts';
import {
  change,
  type Html,
  keyCells,
  moment,
  number,
  time,
  type WindowRow,
  who,
  windowLink,
  words,
} from './cells.ts';
import { figureTable } from './figure.ts';
import { documentOf, section } from './layout.ts';
import type { Executed, Reading } from './reading.ts';

type Values = Readonly<Record<string, string | null>>;

/** As `errata review` reads it. */
interface Open extends Omit<WindowRow, 'key'> {
  readonly proposal_id: string;
  readonly key: Values;
  readonly old_version: number;
  readonly is_void: boolean;
  readonly measures: Readonly<Record<string, readonly [string | null, string | null]>>;
  readonly deltas: Values;
  readonly causes: readonly string[];
  readonly why: string;
  readonly events: readonly string[] | null;
  readonly all_events: string;
  readonly proposed_at: string;
  readonly age_seconds: string;
}

interface Answered extends WindowRow {
  readonly proposal_id: string;
  readonly state: string;
  readonly measures: Values;
  readonly causes: readonly string[];
  readonly why: string;
  readonly proposed_at: string;
  readonly decided_at: string | null;
  readonly decided_by: string | null;
  readonly decided_reason: string | null;
}

export async function proposalsPage(reading: Reading, rollup: Rollup, _asked: Asked): Promise<Html> {
  const { name } = rollup.settings;
  const open = await reading.figures<Open>('report/review.sql', 'auditor', bindingsOf(rollup), {
    rollup_id: rollup.id,
    at: reading.at,
    at_most: rowsOfPage,
    known_at: null,
  });
  const answered = await reading.figures<Answered>('pages/answered.sql', 'auditor', bindingsOf(rollup), {
    rollup_id: rollup.id,
    at_most: rowsOfPage,
  });
  return documentOf({
    title: `${name}: proposals`,
    rollup: name,
    here: 'proposals',
    lead: html`Versions that a person approves or rejects: <code class="code">errata approve ${name}</code>, <code class="code">errata reject ${name}</code>`,
    read: reading,
    body: html`${section('open', 'Open', openTable(rollup, open))}${section('answered', 'Answered', answeredTable(rollup, answered))}`,
  });
}

function openTable({ settings, keys, measures }: Rollup, open: Executed<Open>): Html {
  if (open.rows.length === 0) return html`<p>No proposal awaits a person.</p>`;
  return figureTable(
    {
      caption: `Proposals that stand open, the earliest first, at most ${rowsOfPage}: the value now, the value proposed, and the difference`,
      head: [
        { title: 'Window' },
        ...keys.map(({ name }) => ({ title: name })),
        ...measures.flatMap(({ name }) => [
          { title: `${name} now`, isNumber: true },
          { title: `${name} proposed`, isNumber: true },
          { title: `${name} difference`, isNumber: true },
        ]),
        { title: 'Causes' },
        { title: 'Why', isWide: true },
        { title: 'Events' },
        { title: 'Has waited' },
        { title: 'Proposed at' },
      ],
      rows: open.rows.map((row) => {
        const key = keys.map(({ name }) => row.key[name] ?? null);
        return [
          windowLink(settings, { ...row, key }),
          ...keyCells(key),
          ...measures.flatMap(({ name }): Content[] => [
            number(row.measures[name]?.[0]),
            row.is_void ? span('zero', 'void') : number(row.measures[name]?.[1]),
            change(row.deltas[name]),
          ]),
          words(row.causes),
          row.why,
          eventsText(row),
          time(row.age_seconds),
          moment(row.proposed_at),
        ];
      }),
    },
    open,
  );
}

function eventsText({ events, all_events: all }: Open): Content {
  if (!events || events.length === 0) return span('zero', 'none');
  return `${events.join(', ')}${String(events.length) === all ? '' : ` of ${all}`}`;
}

function answeredTable({ settings, keys, measures }: Rollup, answered: Executed<Answered>): Html {
  if (answered.rows.length === 0) return html`<p>None was answered yet.</p>`;
  return figureTable(
    {
      caption: `Proposals that were answered, or that later rows made stale; the latest first, at most ${rowsOfPage}`,
      head: [
        { title: 'Window' },
        ...keys.map(({ name }) => ({ title: name })),
        { title: 'Answer' },
        ...measures.map(({ name }) => ({ title: `${name} proposed`, isNumber: true })),
        { title: 'Causes' },
        { title: 'Why', isWide: true },
        { title: 'By', isWide: true },
        { title: 'Answered at' },
      ],
      rows: answered.rows.map((row) => [
        windowLink(settings, row),
        ...keyCells(row.key),
        row.state,
        ...measures.map(({ name }) => number(row.measures[name])),
        words(row.causes),
        row.why,
        row.decided_by === null ? span('zero', '–') : who(row.decided_by, row.decided_reason),
        moment(row.decided_at),
      ]),
    },
    answered,
  );
}
