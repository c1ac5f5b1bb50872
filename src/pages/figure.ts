/** A table or a list of figures, and below it the SQL that gives it, as it was executed. */
import { html, raw } from 'hono/html';
import { quoteText } from '../db/identifiers.ts';
import { type TableParts, table } from '../report/statement/markup.ts';
import type { Html } from './cells.ts';
import type { Executed, Whose } from './reading.ts';

const rights: Readonly<Record<Whose, string>> = {
  reader: 'It reads the public views: whoever has the rights of roles.reader can run it.',
  auditor:
    "It reads the ledger or Errata's own tables: whoever has the rights of roles.auditor or roles.job can run it; a reader cannot.",
  job: 'It reads bronze: whoever has the rights of roles.job can run it; an auditor who may read bronze too.',
};

/** A table whose rows are those of the statement, one each, in its order. */
export function figureTable(parts: TableParts, from: Executed): Html {
  return html`<div class="figure" data-rows="each">${raw(table(parts))}${sqlOf(parts.caption, [from])}</div>`;
}

/** What is laid out otherwise: its figures are among those of the statements. */
export function figureOf(name: string, body: Html, from: readonly Executed[]): Html {
  return html`<div class="figure">${body}${sqlOf(name, from)}</div>`;
}

function sqlOf(name: string, from: readonly Executed[]): Html {
  return html`<details class="sql"><summary>SQL<span class="aside"> of ${name}</span></summary>
${from.map((one, place) => {
  const label = `SQL of ${name}${from.length > 1 ? `, ${place + 1} of ${from.length}` : ''}`;
  return html`<p class="note">${rights[one.whose]}</p>
<pre class="code" data-whose="${one.whose}" role="region" tabindex="0" aria-label="${label}"><code>${textOf(one)}</code></pre>
`;
})}</details>`;
}

/** Runs as it stands in psql. Instants are written in the zone of the session. */
export function textOf({ sql, zone, before, after }: Executed): string {
  return [
    `set timezone to ${quoteText(zone).trim()};`,
    ...(before === undefined ? [] : [before]),
    `${sql.trimEnd()};`,
    ...(after === undefined ? [] : [after]),
  ].join('\n');
}
