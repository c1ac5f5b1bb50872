/** The periods that were closed, what each came to, and what has become of one of them since. */
import { html } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { type Content, span } from '../report/statement/markup.ts';
import { type Asked, rowsOfPage } from './asked.ts';
import { bridgeOfSpan } from './bridge.ts';
import {
  change,
  type Html,
  keyCells,
  link,
  markup,
  moment,
  number,
  type WindowRow,
  who,
  windowLink,
  words,
} from './cells.ts';
import { NotThere } from './fault.ts';
import { figureTable } from './figure.ts';
import { documentOf, section } from './layout.ts';
import type { Executed, Reading } from './reading.ts';

type Values = Readonly<Record<string, string | null>>;

interface Close {
  readonly act_id: string;
  readonly period: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly act: 'soft_close' | 'hard_close';
  readonly posting_role: string | null;
  readonly is_forced: boolean;
  readonly actor: string;
  readonly reason: string | null;
  readonly closed_at: string;
  readonly reopened_at: string | null;
  readonly reopened_by: string | null;
  readonly open_until: string | null;
  readonly is_open: boolean;
  readonly keyed_windows: string;
  readonly measures: Values;
  readonly restated: Values;
}

interface Posted extends WindowRow {
  readonly version: string;
  readonly kind: string;
  readonly causes: readonly string[];
  readonly posting_period: string | null;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly stamp: string;
  readonly deltas: Values;
}

const closesShown = 100;

/** @param asked `close`: the number of one */
export async function periodsPage(reading: Reading, rollup: Rollup, asked: Asked): Promise<Html> {
  const { name } = rollup.settings;
  const wanted = asked.id('close');
  const closes = await reading.figures<Close>('pages/closes.sql', 'auditor', bindingsOf(rollup), {
    rollup_id: rollup.id,
    at_most: closesShown,
    at: reading.at,
  });
  const chosen = wanted === undefined ? closes.rows[0] : closes.rows.find(({ act_id: id }) => id === wanted);
  if (wanted !== undefined && !chosen)
    throw new NotThere(`rollup "${name}" has no close ${wanted} among its last ${closesShown}`, {
      hint: 'leave close out: the page lists them',
    });
  return documentOf({
    title: `${name}: periods`,
    rollup: name,
    here: 'periods',
    lead: 'After its close the job publishes nothing into a period; a person does, as adjustments.',
    read: reading,
    body: html`${section('closes', 'Closes', closesTable(rollup, closes, chosen))}${chosen ? await sinceOf(reading, rollup, chosen) : ''}`,
  });
}

function closesTable(
  { settings, measures }: Rollup,
  closes: Executed<Close>,
  chosen: Close | undefined,
): Html {
  if (closes.rows.length === 0)
    return html`<p>No period was ever closed. <code class="code">errata close ${settings.name} 2026-10 --hard --actor NAME --reason TEXT</code> closes one, or <code class="code">--soft ROLE</code> in place of <code class="code">--hard</code>.</p>`;
  const additive = measures.filter(({ isAdditive }) => isAdditive);
  return figureTable(
    {
      caption: `The last closes, and what each period came to: what was published, and what all valid rows gave then`,
      head: [
        { title: 'Period' },
        { title: 'How' },
        { title: 'Closed' },
        { title: 'By', isWide: true },
        { title: 'Keyed windows', isNumber: true },
        ...additive.flatMap(({ name }) => [
          { title: `${name} at the close`, isNumber: true },
          { title: `${name} restated then`, isNumber: true },
        ]),
        { title: 'Reopened' },
      ],
      rows: closes.rows.map((close) => [
        close.act_id === chosen?.act_id
          ? markup(html`<strong>${close.period}</strong>`)
          : link(`/rollups/${settings.name}/periods?close=${close.act_id}`, close.period),
        `${close.act === 'hard_close' ? 'hard' : `soft, for ${close.posting_role}`}${close.is_forced ? ', though not all was sealed' : ''}`,
        moment(close.closed_at),
        who(close.actor, close.reason),
        number(close.keyed_windows),
        ...additive.flatMap(({ name }) => [number(close.measures[name]), number(close.restated[name])]),
        reopenedText(close),
      ]),
    },
    closes,
  );
}

function reopenedText({
  reopened_at: at,
  reopened_by: by,
  open_until: until,
  is_open: isOpen,
}: Close): Content {
  if (at === null) return span('zero', 'never');
  const [from, to] = [moment(at), moment(until)] as { html: string }[];
  return {
    html: `${from?.html} by ${markup(html`${by}`).html}, ${isOpen ? 'open' : 'and was open'} until ${to?.html}`,
  };
}

async function sinceOf(reading: Reading, rollup: Rollup, close: Close): Promise<Html> {
  const { settings, measures } = rollup;
  const posted = await reading.figures<Posted>('pages/posted.sql', 'reader', bindingsOf(rollup), {
    period_start: close.period_start,
    period_end: close.period_end,
    closed_at: close.closed_at,
    at_most: rowsOfPage,
  });
  const bridge = await bridgeOfSpan(reading, rollup, close.period_start, close.period_end);
  const table =
    posted.rows.length === 0
      ? html`<p>Nothing was published into it since.</p>`
      : figureTable(
          {
            caption: `Versions published into ${close.period} since it was closed, the latest first, at most ${rowsOfPage}`,
            head: [
              { title: 'Window' },
              ...rollup.keys.map(({ name }) => ({ title: name })),
              { title: 'Version', isNumber: true },
              { title: 'Kind' },
              ...measures.map(({ name }) => ({ title: name, isNumber: true })),
              { title: 'Causes' },
              { title: 'Posted to' },
              { title: 'Published' },
              { title: 'By', isWide: true },
            ],
            rows: posted.rows.map((row) => [
              windowLink(settings, row),
              ...keyCells(row.key),
              number(row.version),
              row.kind,
              ...measures.map(({ name }) => change(row.deltas[name])),
              words(row.causes),
              row.posting_period ?? span('zero', '–'),
              moment(row.stamp),
              who(row.actor, row.reason),
            ]),
          },
          posted,
        );
  return html`${section('now', `${close.period} now`, bridge)}${section('posted', `Published into ${close.period} since`, table)}`;
}
