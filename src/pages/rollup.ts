/** A rollup by months: a calendar of corrections, and the keyed windows. */
import { html } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { query } from '../db/statement.ts';
import type { Asked } from './asked.ts';
import { rowsOfPage } from './asked.ts';
import type { Html } from './cells.ts';
import { heatMap, readHeatMap } from './heat-map.ts';
import { documentOf, section, steps } from './layout.ts';
import type { Reading } from './reading.ts';
import { readWindows, windowsTable } from './windows-table.ts';

interface Months {
  readonly shown: string | null;
  readonly earlier: string | null;
  readonly later: string | null;
}

/** @param asked `month`, `day`, `step` */
export async function rollupPage(reading: Reading, rollup: Rollup, asked: Asked): Promise<Html> {
  const { settings } = rollup;
  const { name, gold } = settings;
  const day = asked.date('day');
  const month = day ? `${day.slice(0, 8)}01` : (asked.month('month') ?? null);
  const step = asked.step();
  const { rows } = await reading.figures<Months>('pages/months.sql', 'auditor', bindingsOf(rollup), {
    month,
    time_zone: reading.zone,
  });
  const months = rows[0] as Months;
  const page = {
    title: name,
    rollup: name,
    here: 'windows',
    lead: `${gold.schema}.${gold.name}; days and instants in ${reading.zone}`,
    read: reading,
  } as const;
  if (months.shown === null)
    return documentOf({
      ...page,
      body: html`<p>Nothing has been published yet. The first run seals the windows that the watermark has passed.</p>`,
    });
  const span = await spanOf(reading, day ?? months.shown, day ? '1 day' : '1 month');
  const windows = await readWindows(reading, rollup, { ...span, key: null, step });
  const pathOf = (more: Readonly<Record<string, string>>) => `/rollups/${name}?${new URLSearchParams(more)}`;
  const monthPath = (first: string | null) =>
    first === null ? undefined : pathOf({ month: first.slice(0, 7) });
  const where = day ? { day } : { month: months.shown.slice(0, 7) };
  return documentOf({
    ...page,
    body: html`
${section('corrections', `Corrections in ${months.shown.slice(0, 7)}`, [
  steps('Months', [
    [`Earlier: ${months.earlier?.slice(0, 7)}`, monthPath(months.earlier)],
    [`Later: ${months.later?.slice(0, 7)}`, monthPath(months.later)],
  ]),
  heatMap(await readHeatMap(reading, rollup, months.shown), months.shown.slice(0, 7), day, (one) =>
    pathOf({ day: one }),
  ),
])}
${section('windows', day ? `Windows of ${day}` : `Windows of ${months.shown.slice(0, 7)}`, [
  day ? steps('Of the month', [['All of the month', monthPath(months.shown)]]) : html``,
  windowsTable(
    rollup,
    windows,
    `Keyed windows that start ${day ? 'on' : 'in'} ${day ?? months.shown.slice(0, 7)}, the latest first`,
  ),
  steps('Windows', [
    ['Later windows', step > 1 ? pathOf({ ...where, step: String(step - 1) }) : undefined],
    [
      'Earlier windows',
      windows.rows.length === rowsOfPage ? pathOf({ ...where, step: String(step + 1) }) : undefined,
    ],
  ]),
])}`,
  });
}

/** From midnight of a date in the zone of the page. */
async function spanOf(reading: Reading, from: string, length: string): Promise<{ from: string; to: string }> {
  const [span] = await query<{ from: string; to: string }>(
    reading.transaction,
    `select ($1::timestamp at time zone $2)::text as "from", (($1::timestamp + $3::interval) at time zone $2)::text as "to"`,
    [from, reading.zone, length],
  );
  return span as { from: string; to: string };
}
