/** One keyed window: its whole life. Where the address means several, they are listed. */
import { html } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { query } from '../db/statement.ts';
import { type Content, span } from '../report/statement/markup.ts';
import { type Asked, instantAsked, rowsOfPage } from './asked.ts';
import { bridgeOfWindow } from './bridge.ts';
import {
  change,
  count,
  type Html,
  keyName,
  markup,
  moment,
  momentText,
  number,
  shown,
  time,
  windowName,
  windowPath,
  words,
} from './cells.ts';
import { NotThere } from './fault.ts';
import { figureTable } from './figure.ts';
import { documentOf, section, steps } from './layout.ts';
import type { Executed, Reading } from './reading.ts';
import { readTimeline, timelineFigure } from './timeline.ts';
import { readWindows, type ShownWindow, windowsTable } from './windows-table.ts';

interface KeptEvent {
  readonly event_id: string;
  readonly event_time: string | null;
  readonly arrived_at: string | null;
  readonly lateness: string | null;
  readonly source_partition: string | null;
  readonly watermark: string | null;
  readonly landing: string | null;
  readonly state: string | null;
  readonly version: string | null;
  readonly is_conflict: boolean;
  readonly measures: Readonly<Record<string, string | null>>;
}

/** @param asked `key`, `end`, `step` */
export async function windowPage(
  reading: Reading,
  rollup: Rollup,
  start: string,
  asked: Asked,
): Promise<Html> {
  const { settings } = rollup;
  const key = asked.key(settings.key);
  const end = asked.text('end');
  const step = asked.step();
  const span = await instantsOf(reading, instantAsked('the start of a window', start), end);
  const windows = await readWindows(reading, rollup, { ...span, key: key ?? null, step: 1 });
  const found = end === undefined ? windows.rows : windows.rows.filter((row) => row.window_end === span.end);
  const [window] = found;
  if (!window)
    throw new NotThere(`rollup "${settings.name}" has no such keyed window`, {
      detail: `nothing was published for a window that starts at ${start}${key && key.length > 0 ? ` and the key ${JSON.stringify(key)}` : ''}, and nothing awaits anyone in it`,
      hint: `a window that is not sealed yet has no version: ${settings.gold.schema}.${settings.gold.name}_live shows it as it fills`,
    });
  if (found.length > 1) return listPage(reading, rollup, windows);
  return await lifePage(reading, rollup, window, step);
}

/** The start, a microsecond later, and the end, in the zone of the page. A date is midnight there. */
async function instantsOf(
  reading: Reading,
  start: string,
  end: string | undefined,
): Promise<{ from: string; to: string; end: string | null }> {
  const instant = start.length === 10 ? '$1::timestamp at time zone $2::text' : '$1::timestamptz';
  const [row] = await query<{ from: string; to: string; end: string | null }>(
    reading.transaction,
    `select s.start::text as "from", (s.start + interval '1 microsecond')::text as "to", $3::timestamptz::text as "end"
     from (select ${instant} as start, $2::text as zone) as s`,
    [start, reading.zone, end === undefined ? null : instantAsked('end', end)],
  );
  return row as { from: string; to: string; end: string | null };
}

function listPage(reading: Reading, rollup: Rollup, windows: Executed<ShownWindow>): Html {
  const { name } = rollup.settings;
  const [first] = windows.rows as [ShownWindow];
  const title = windowName(rollup.settings, first);
  return documentOf({
    title: `${name}, ${title}`,
    rollup: name,
    lead: 'Several keyed windows start here.',
    read: reading,
    body: section(
      'windows',
      'Keyed windows',
      windowsTable(rollup, windows, `Keyed windows that start at ${momentText(first.window_start)}`),
    ),
  });
}

async function lifePage(reading: Reading, rollup: Rollup, window: ShownWindow, step: number): Promise<Html> {
  const { settings } = rollup;
  const passed = { passed_over: (step - 1) * rowsOfPage, at_most: rowsOfPage };
  const where = {
    window_start: window.window_start,
    window_end: window.window_end,
    key: JSON.stringify(window.key),
  };
  const timeline = await readTimeline(reading, rollup, { ...where, ...passed });
  const events = await reading.figures<KeptEvent>('pages/events.sql', 'auditor', bindingsOf(rollup), {
    ...where,
    ...passed,
  });
  const key = keyName(settings, window.key);
  const path = windowPath(settings, window);
  const day = window.window_start.slice(0, 10);
  const stepPath = (to: number) => `${path}${path.includes('?') ? '&' : '?'}step=${to}`;
  const isFull = timeline.rows.length === rowsOfPage || events.rows.length === rowsOfPage;
  return documentOf({
    title: `${settings.name}, ${windowName(settings, window)}${key ? `, ${key}` : ''}`,
    rollup: settings.name,
    lead: html`From ${momentText(window.window_start)} until ${momentText(window.window_end)}, exclusive; in ${reading.zone}`,
    read: reading,
    body: html`${steps('Other windows', [[`Windows of ${day}`, `/rollups/${settings.name}?day=${day}`]])}${section(
      'bridge',
      'From what shipped to what is true',
      await bridgeOfWindow(reading, rollup, window),
    )}${section('life', 'Its life', [
      timeline.rows.length === 0
        ? html`<p>Nothing of it is on record here.</p>`
        : timelineFigure(rollup, timeline),
      steps('Entries', [
        ['Earlier entries', step > 1 ? stepPath(step - 1) : undefined],
        ['Later entries', isFull ? stepPath(step + 1) : undefined],
      ]),
    ])}${section('events', 'Late events', eventsTable(rollup, events))}`,
  });
}

function eventsTable({ settings, measures }: Rollup, events: Executed<KeptEvent>): Html {
  if (events.rows.length === 0) return html`<p>None is kept by name: all its rows landed open.</p>`;
  const additive = measures.filter(({ isAdditive }) => isAdditive);
  const hasSources = settings.bronze.sourcePartition !== undefined;
  return figureTable(
    {
      caption: 'Events kept by name, in the order of arrival, each with the watermark that judged it',
      head: [
        { title: 'Event' },
        { title: 'Happened' },
        { title: 'Arrived' },
        { title: 'Late by', isNumber: true },
        { title: 'Watermark' },
        { title: 'Landing' },
        { title: 'State' },
        ...additive.map(({ name }) => ({ title: name, isNumber: true })),
        ...(hasSources ? [{ title: 'Source partition' }] : []),
      ],
      rows: events.rows.map((event) => [
        event.event_id,
        moment(event.event_time),
        moment(event.arrived_at),
        time(event.lateness),
        moment(event.watermark),
        event.landing === null
          ? 'a copy that differs'
          : words([event.landing, event.is_conflict ? 'conflict' : null]),
        event.state === 'included' ? htmlState(event.version) : (event.state ?? span('zero', 'none')),
        ...additive.map(({ name }) =>
          event.state === 'included' ? number(event.measures[name]) : change(event.measures[name]),
        ),
        ...(hasSources ? [event.source_partition ?? span('zero', '–')] : []),
      ]),
    },
    events,
  );
}

function htmlState(version: string | null): Content {
  return markup(html`<span class="nowrap">in version ${shown(count(version))}</span>`);
}
