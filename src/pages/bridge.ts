/** Sealed + corrections = latest; latest + pending + held + waived = restated (R14), by measure. */
import { html } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { joinSql, trustedSql } from '../db/identifiers.ts';
import { loadStatement } from '../db/sql.ts';
import { change, type Html, number, type WindowRow } from './cells.ts';
import { figureTable } from './figure.ts';
import type { Executed, Reading } from './reading.ts';

interface BridgeRow {
  readonly measure: string;
  readonly sealed: string;
  readonly corrections: string;
  readonly latest: string;
  readonly pending: string;
  readonly held: string;
  readonly waived: string;
  readonly restated: string;
}

/** Over one keyed window. */
export async function bridgeOfWindow(
  reading: Reading,
  rollup: Rollup,
  { window_start: start, window_end: end, key }: WindowRow,
): Promise<Html> {
  return bridgeTable(
    await reading.figures<BridgeRow>(
      'pages/bridge.sql',
      'reader',
      {
        ...bindingsOf(rollup),
        window_starts: trustedSql(
          '(select o.window_start from (values ($1::timestamptz, $2::timestamptz)) as o (window_start, window_end))',
        ),
      },
      { from_instant: start, to_instant: end, window_end: end, key: JSON.stringify(key) },
    ),
  );
}

/** Over all windows that start in a span, half-open. */
export async function bridgeOfSpan(
  reading: Reading,
  rollup: Rollup,
  from: string,
  to: string,
): Promise<Html> {
  const bindings = bindingsOf(rollup);
  const starts = loadStatement('pages/window_starts.sql', bindings);
  return bridgeTable(
    await reading.figures<BridgeRow>(
      'pages/bridge.sql',
      'auditor',
      { ...bindings, window_starts: joinSql([trustedSql('('), starts, trustedSql(')')], '\n') },
      { from_instant: from, to_instant: to, window_end: null, key: null },
    ),
  );
}

function bridgeTable(found: Executed<BridgeRow>): Html {
  if (found.rows.length === 0)
    return html`<p>No measure of this rollup adds up, so there is nothing to add.</p>`;
  return figureTable(
    {
      caption:
        'Sealed + corrections = latest; latest + pending + held + waived = restated, the value over all valid rows',
      head: [
        { title: 'Measure' },
        ...['Sealed', 'Corrections', 'Latest', 'Pending', 'Held', 'Waived', 'Restated'].map((title) => ({
          title,
          isNumber: true,
        })),
      ],
      rows: found.rows.map((one) => [
        one.measure,
        number(one.sealed),
        change(one.corrections),
        number(one.latest),
        change(one.pending),
        change(one.held),
        change(one.waived),
        number(one.restated),
      ]),
    },
    found,
  );
}
