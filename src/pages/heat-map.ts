/** The corrections of a month as a calendar: a table of weeks, whose figures stand in it; colour only repeats them. */
import { html } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { Html } from './cells.ts';
import { figureOf } from './figure.ts';
import type { Executed, Reading } from './reading.ts';

export interface HeatDay {
  readonly day: string;
  readonly keyed_windows: string;
  readonly corrected: string;
  readonly corrections: string;
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** @param month its first day */
export async function readHeatMap(
  reading: Reading,
  rollup: Rollup,
  month: string,
): Promise<Executed<HeatDay>> {
  return await reading.figures<HeatDay>('pages/heat_map.sql', 'reader', bindingsOf(rollup), {
    month,
    time_zone: reading.zone,
  });
}

export function heatMap(
  from: Executed<HeatDay>,
  month: string,
  chosen: string | undefined,
  pathOf: (day: string) => string,
): Html {
  const most = Math.max(1, ...from.rows.map(({ corrected }) => Number(corrected)));
  const cell = ({ day, keyed_windows: all, corrected, corrections }: HeatDay) => {
    const date = html`<span class="date">${Number(day.slice(8))}</span>`;
    if (all === '0')
      return html`<td><span class="day">${date}<span class="aside"><data value="${all}">no</data> keyed windows</span></span></td>`;
    const level = Math.ceil((Number(corrected) / most) * 4);
    return html`<td class="h${level}${day === chosen ? ' chosen' : ''}"><a class="day" href="${pathOf(day)}">${date}<span class="got"><data value="${corrected}">${corrected}</data> <span class="of">of <data value="${all}">${all}</data></span></span><span class="aside"> keyed windows corrected, by <data value="${corrections}">${corrections}</data> ${corrections === '1' ? 'version' : 'versions'}, on ${day}</span></a></td>`;
  };
  return figureOf(
    `the calendar of ${month}`,
    html`<div class="scroll" role="region" tabindex="0" aria-label="Calendar of ${month}">
<table class="heat">
<caption>Corrected keyed windows of all that start on each day; the stronger the colour, the more</caption>
<thead><tr><th scope="col"><span class="aside">Week from</span></th>${weekdays.map((name) => html`<th scope="col"><abbr title="${name}">${name.slice(0, 2)}</abbr></th>`)}</tr></thead>
<tbody>
${weeksOf(from.rows).map(
  ({ monday, days }) =>
    html`<tr><th scope="row">${monday.slice(5)}</th>${days.map((day) => (day ? cell(day) : html`<td></td>`))}</tr>
`,
)}</tbody>
</table>
</div>`,
    [from],
  );
}

interface Week {
  /** Its first day, which may be of the month before. */
  readonly monday: string;
  readonly days: readonly (HeatDay | undefined)[];
}

/** Dates have no zone here: they are taken as days of UTC only to be counted. */
function weeksOf(days: readonly HeatDay[]): Week[] {
  const [first] = days;
  if (!first) return [];
  const before = (new Date(`${first.day}T00:00:00Z`).getUTCDay() + 6) % 7;
  const places: (HeatDay | undefined)[] = [...Array<undefined>(before).fill(undefined), ...days];
  const weeks: Week[] = [];
  for (let place = 0; place < places.length; place += 7) {
    const week = places.slice(place, place + 7);
    const monday = new Date(Date.parse(`${first.day}T00:00:00Z`) + (place - before) * 86_400_000);
    weeks.push({
      monday: monday.toISOString().slice(0, 10),
      days: [...week, ...Array<undefined>(7 - week.length).fill(undefined)],
    });
  }
  return weeks;
}
