/** The box for a printed number: what stood at it, what it was before and after, and why. What `errata find` says. */
import { html } from 'hono/html';
import { selectRollups } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import type { RollupSettings, Settings } from '../config/settings.ts';
import { query } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import { citationOf } from '../report/find/citation.ts';
import {
  type Day,
  findStanding,
  type Printed,
  type StandingTotal,
  type StandingVersion,
} from '../report/find/find.ts';
import { anyDay, printedOf, type Way, waysOf } from '../report/find/printed.ts';
import { publishedRollup } from '../report/published-rollup.ts';
import { type Content, span } from '../report/statement/markup.ts';
import type { Asked } from './asked.ts';
import {
  change,
  type Html,
  keyCells,
  keyName,
  link,
  moment,
  number,
  who,
  windowLink,
  windowName,
  words,
} from './cells.ts';
import { figureTable } from './figure.ts';
import { documentOf, section } from './layout.ts';
import { type Executed, type Reading, Recorder, zoneOf, zoneOfAll } from './reading.ts';

type VersionRow = Omit<StandingVersion, 'citation'> & { readonly row_hash: string | null };

interface Found {
  readonly rollup: Rollup;
  readonly versions: Executed<VersionRow>;
  /** Undefined: no total was looked for. */
  readonly totals: Executed<StandingTotal> | undefined;
}

/** @param asked `number`, `rollup`, `period` */
export async function findPage(reading: Reading, settings: Settings, asked: Asked): Promise<Html> {
  const [word, name, period] = [asked.text('number'), asked.text('rollup'), asked.text('period')];
  const page = { title: 'Printed number', withoutBox: true } as const;
  const form = formOf(settings, word, name, period);
  if (word === undefined)
    return documentOf({
      ...page,
      lead: 'Which version stood at it, what it was before and after, and why.',
      body: form,
    });
  const printed = printedOf(word);
  const chosen = name === undefined ? settings.rollups : [chosenOf(settings, name)];
  const day = period === undefined ? anyDay : await dayOf(reading, period, zoneOfAll(settings));
  const { rollups, unread } = await readable(reading, settings, chosen, name !== undefined);
  for (const way of waysOf(printed, day)) {
    const found: Found[] = [];
    for (const rollup of rollups) found.push(await look(reading, rollup, printed, way, settings));
    const there = found.filter(
      ({ versions, totals }) => versions.rows.length + (totals?.rows.length ?? 0) > 0,
    );
    if (there.length === 0) continue;
    return documentOf({
      ...page,
      title: `Printed number ${word}`,
      lead: leadOf(way, day, period, zoneOfAll(settings)),
      read: { at: reading.at, zone: 'the time zone of each rollup' },
      body: html`${form}${unreadNote(unread)}${there.map(foundSection)}`,
    });
  }
  return documentOf({
    ...page,
    title: `Printed number ${word}`,
    body: html`${form}${unreadNote(unread)}<p class="fault">Nothing that ${rollups.map(({ settings: { name: one } }) => one).join(', ') || 'no rollup'} published ever stood at ${word}.</p>
<p class="note">Versions of every keyed window were looked at, and the totals of windows and months over keys; what rounds to it, too.</p>`,
  });
}

/** @throws Failure where the only one cannot be read; of several the others are looked at, and the page says so. */
async function readable(
  reading: Reading,
  settings: Settings,
  chosen: readonly RollupSettings[],
  isOnly: boolean,
): Promise<{ readonly rollups: readonly Rollup[]; readonly unread: readonly string[] }> {
  const rollups: Rollup[] = [];
  const unread: string[] = [];
  for (const one of chosen) {
    try {
      rollups.push(await publishedRollup(reading.transaction, settings, one));
    } catch (error) {
      if (isOnly || !(error instanceof Failure)) throw error;
      unread.push(error.message);
    }
  }
  return { rollups, unread };
}

function unreadNote(unread: readonly string[]): Html {
  return html`${unread.map((message) => html`<p class="warn">Not looked at: ${message}.</p>`)}`;
}

function chosenOf(settings: Settings, name: string): RollupSettings {
  const [one] = selectRollups(settings, [name]);
  return one as RollupSettings;
}

function formOf(settings: Settings, word = '', name = '', period = ''): Html {
  return html`<form class="fields" action="/find" method="get" role="search" aria-label="Printed number">
<label>Printed number, or a citation<input name="number" value="${word}" required maxlength="100" autocomplete="off"></label>
<label>Rollup<select name="rollup"><option value="">all</option>${settings.rollups.map(
    (one) =>
      html`<option value="${one.name}"${one.name === name ? html` selected` : ''}>${one.name}</option>`,
  )}</select></label>
<label>Day or month it was printed<input name="period" value="${period}" placeholder="2026-10" maxlength="10" autocomplete="off"></label>
<button>Find</button>
</form>
`;
}

function leadOf(way: Way, day: Day, period: string | undefined, zone: string): string {
  const when =
    period === undefined
      ? ''
      : way.when === day
        ? ` at some time of ${period} (${zone})`
        : `; at no time of ${period} (${zone}), but at others`;
  return `${way.scale === null ? 'It stood' : 'What rounds to it stood'}${when || ' at some time'}.`;
}

/** A day or a month in the zone of the periods. */
async function dayOf(reading: Reading, word: string, zone: string): Promise<Day> {
  const first = /^\d{4}-\d\d$/.test(word) ? `${word}-01` : word;
  const isDate = /^(?!0000)\d{4}-\d\d-\d\d$/.test(first) && !Number.isNaN(Date.parse(`${first}T00:00Z`));
  if (!isDate || new Date(`${first}T00:00Z`).toISOString().slice(0, 10) !== first)
    throw new Failure(`period ${JSON.stringify(word)} is no day or month`, {
      hint: 'write 2026-10-30 or 2026-10',
    });
  const [row] = await query<{ from: string; to: string }>(
    reading.transaction,
    `select ($1::timestamp at time zone $2)::text as "from", (($1::timestamp + $3::interval) at time zone $2)::text as "to"`,
    [first, zone, word === first ? '1 day' : '1 month'],
  );
  return row as Day;
}

async function look(
  reading: Reading,
  rollup: Rollup,
  printed: Printed,
  way: Way,
  settings: Settings,
): Promise<Found> {
  await reading.setZone(zoneOf(rollup.settings));
  const record = new Recorder(reading.transaction);
  await findStanding(record.transaction, rollup, printed, way.when, way.scale, zoneOfAll(settings));
  const [versions, totals] = record.statements;
  const executed = <Row>(statement: typeof versions): Executed<Row> => ({
    rows: (statement?.rows ?? []) as readonly Row[],
    sql: statement?.sql ?? '',
    whose: 'auditor',
    zone: reading.zone,
  });
  return {
    rollup,
    versions: executed<VersionRow>(versions),
    totals: totals && executed<StandingTotal>(totals),
  };
}

function foundSection({ rollup, versions, totals }: Found): Html {
  const { name } = rollup.settings;
  return section(`in-${name}`, name, [
    versions.rows.length === 0 ? html`` : versionsTable(rollup, versions),
    totals === undefined || totals.rows.length === 0 ? html`` : totalsTable(rollup, totals),
  ]);
}

function versionsTable({ settings, keys }: Rollup, versions: Executed<VersionRow>): Html {
  return figureTable(
    {
      caption: `Versions of ${settings.name} that stood at it${versions.rows.length > 100 ? '; the first 101' : ''}`,
      head: [
        { title: 'Window' },
        ...keys.map(({ name }) => ({ title: name })),
        { title: 'Measure' },
        { title: 'Value', isNumber: true },
        { title: 'Version', isNumber: true },
        { title: 'Stood from' },
        { title: 'Until' },
        { title: 'Before', isNumber: true },
        { title: 'After', isNumber: true },
        { title: 'Difference', isNumber: true },
        { title: 'Changed by' },
        { title: 'Events' },
        { title: 'Citation' },
      ],
      rows: versions.rows.map((row) => {
        const key = keys.map((column) => row.key[column.name] ?? null);
        return [
          windowLink(settings, { ...row, key }),
          ...keyCells(key),
          row.measure === 'event_count' ? 'events' : row.measure,
          row.is_void ? span('zero', 'void') : number(row.value),
          number(String(row.version)),
          moment(row.stamp),
          row.until === null ? 'still' : moment(row.until),
          number(row.previous_value),
          row.next_is_void ? span('zero', 'void') : number(row.next_value),
          change(row.next_delta),
          row.next_version === null
            ? span('zero', 'the latest version')
            : causeText(row.next_causes ?? [], row.next_actor, row.next_reason),
          (row.next_events ?? []).join(', ') || span('zero', 'none'),
          row.row_hash === null ? span('zero', 'not hashed yet') : span('cite', citationOf(row.row_hash)),
        ];
      }),
    },
    versions,
  );
}

function causeText(causes: readonly string[], actor: string | null, reason: string | null): Content {
  const by = who(actor, reason);
  const what = words(causes);
  return typeof by === 'string' ? [what, by].filter(Boolean).join('; ') : what || by;
}

function totalsTable({ settings }: Rollup, totals: Executed<StandingTotal>): Html {
  return figureTable(
    {
      caption: `Totals of ${settings.name} that stood at it${totals.rows.length > 100 ? '; the first 101' : ''}`,
      head: [
        { title: 'Total of' },
        { title: 'Measure' },
        { title: 'Value', isNumber: true },
        { title: 'Stood from' },
        { title: 'Until' },
        { title: 'Before', isNumber: true },
        { title: 'After', isNumber: true },
        { title: 'Difference', isNumber: true },
        { title: 'Changed by run' },
      ],
      rows: totals.rows.map((row) => [
        totalName(settings, row),
        row.measure,
        number(row.value),
        moment(row.stamp),
        row.until === null ? 'still' : moment(row.until),
        number(row.previous_value),
        number(row.next_value),
        change(row.next_delta),
        row.next_run_id === null ? span('zero', '–') : number(row.next_run_id),
      ]),
    },
    totals,
  );
}

function totalName(settings: RollupSettings, row: StandingTotal): Content {
  if (row.window_start === null || row.window_end === null) {
    if (row.key === null) return `${row.period}, all keyed windows`;
    return `${row.period}, all windows of ${keyName(
      settings,
      settings.key.map((name) => row.key?.[name] ?? null),
    )}`;
  }
  const window = { window_start: row.window_start, window_end: row.window_end, local_date: row.local_date };
  const path = `/rollups/${settings.name}/windows/${encodeURIComponent(row.window_start.replace(' ', 'T'))}`;
  return link(path, `${windowName(settings, window)}, all keys together`);
}
