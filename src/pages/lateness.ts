/** How late rows arrive: percentiles, a histogram, and what each delay would have cost. The figures of `errata lateness`. */
import { html, raw } from 'hono/html';
import { bindingsOf } from '../catalog/bindings.ts';
import { describedRollup } from '../catalog/open.ts';
import type { Rollup } from '../catalog/rollup.ts';
import { durationOf, readDuration } from '../config/duration.ts';
import type { Duration, RollupSettings, Settings } from '../config/settings.ts';
import { query } from '../db/statement.ts';
import { Failure } from '../failure.ts';
import type { Candidate, Miss } from '../report/lateness/candidates.ts';
import type { Bar } from '../report/lateness/histogram.ts';
import { readLateness } from '../report/lateness/lateness.ts';
import { type Content, span, table } from '../report/statement/markup.ts';
import type { Asked } from './asked.ts';
import { count, type Html, markup, momentText, number, share, shortSpan, time } from './cells.ts';
import { NotReadable } from './fault.ts';
import { figureOf } from './figure.ts';
import { documentOf, section } from './layout.ts';
import { tilesOf } from './overview.ts';
import { type Executed, type Reading, Recorder, readOnly } from './reading.ts';

const delays = ['1m', '10m', '1h', '6h', '1d', '3d', '7d'];
const spans = ['30', '7', '1'];

/** @param asked `days`: of ingestion, to the last row that bronze holds */
export async function latenessPage(
  reading: Reading,
  settings: Settings,
  published: Rollup,
  asked: Asked,
): Promise<Html> {
  const { name, bronze } = published.settings;
  const days = asked.text('days') ?? '30';
  if (!spans.includes(days))
    throw new Failure(`days ${JSON.stringify(days)} is none that can be chosen`, {
      hint: `one of ${spans.join(', ')}`,
    });
  const described = await bronzeOf(reading, settings, published);
  const rollup = { ...described, id: published.id };
  const record = new Recorder(reading.transaction);
  const read = await readLateness(record.transaction, rollup, {
    ...(await rangeOf(reading, rollup, days)),
    groupings: [],
    candidates: candidatesOf(rollup.settings),
  });
  // its temporary table is there now
  await readOnly(reading.transaction);
  const page = {
    title: `${name}: lateness`,
    rollup: name,
    here: 'lateness',
    lead: `Arrival less event time, of the rows of ${bronze.table.schema}.${bronze.table.name}`,
    read: reading,
  } as const;
  const { range, whole } = read;
  if (range === null || whole === null)
    return documentOf({
      ...page,
      body: html`<p>Bronze is empty: there is nothing to tell of lateness yet.</p>`,
    });

  const [made, removed] = [
    record.of('report/lateness_read.sql')[0],
    record.of('report/lateness_copies.sql')[0],
  ];
  const before = ['begin;', `${made?.sql.trimEnd()};`, `${removed?.sql.trimEnd()};`].join('\n');
  const executed = (path: string, place = 0): Executed => {
    const statement = record.of(path)[place];
    return {
      rows: statement?.rows ?? [],
      sql: statement?.sql ?? '',
      before,
      after: 'rollback;',
      whose: 'job',
      zone: reading.zone,
    };
  };
  const spread = executed('report/lateness_spread.sql');
  return documentOf({
    ...page,
    body: html`
<nav class="steps" aria-label="Range"><ul>${spans.map(
      (one) =>
        html`<li><a href="/rollups/${name}/lateness?days=${one}"${one === days ? html` aria-current="page"` : ''}>last ${one} ${one === '1' ? 'day' : 'days'}</a></li>`,
    )}</ul></nav>
<p>Rows ingested from ${momentText(range.from)} until ${momentText(range.to)}, exclusive: the last ${days} ${days === '1' ? 'day' : 'days'} that bronze holds.</p>
${section(
  'percentiles',
  'Percentiles',
  figureOf(
    'the percentiles',
    tilesOf([
      {
        name: 'Rows',
        figure: number(whole.rows),
        more: [count(whole.set_aside), ' set aside, without a lateness'],
      },
      { name: 'Half within', figure: time(whole.p50), more: ['p50'] },
      { name: '90 % within', figure: time(whole.p90), more: ['p90'] },
      { name: '95 % within', figure: time(whole.p95), more: ['p95'] },
      { name: '99 % within', figure: time(whole.p99), more: ['p99'] },
      { name: '99.9 % within', figure: time(whole.p999), more: ['p99.9'] },
      { name: 'The latest', figure: time(whole.max), more: ['max'] },
      { name: 'Before their time', figure: count(whole.negative), more: ['arrived before they happened'] },
    ]),
    [spread],
  ),
)}
${section('histogram', 'Histogram', histogram(read.histogram, executed('report/lateness_histogram.sql', 1)))}
${section('candidates', 'What each delay would cost', [
  html`<p>Rows that would have come after their window had shipped (late), and beyond the allowed lateness of ${read.allowed_lateness} too (refused), judged as fixed_delay does${read.strategy === 'fixed_delay' ? '' : html`; this rollup follows ${read.strategy}`}. A longer delay ships later, and corrects less.</p>`,
  candidatesTable(read.candidates, [
    executed('report/lateness_misses.sql'),
    executed('report/lateness_histogram.sql', 0),
  ]),
])}`,
  });
}

/** @throws NotReadable with every fault. */
async function bronzeOf(reading: Reading, settings: Settings, published: Rollup): Promise<Rollup> {
  try {
    return await describedRollup(reading.transaction, settings, published.settings);
  } catch (error) {
    if (error instanceof Failure) throw new NotReadable(error.message, error);
    throw error;
  }
}

/** The last rows that bronze holds, as `errata lateness` takes them by default for 30 days. */
async function rangeOf(
  reading: Reading,
  rollup: Rollup,
  days: string,
): Promise<{ readonly from: string | undefined; readonly to: string | undefined }> {
  if (days === '30') return { from: undefined, to: undefined };
  const held = await reading.figures<{
    readonly from_instant: string | null;
    readonly to_instant: string | null;
  }>('report/lateness_range.sql', 'job', bindingsOf(rollup), { rollup_id: rollup.id, at: reading.at });
  const to = held.rows[0]?.to_instant ?? null;
  if (to === null) return { from: undefined, to: undefined };
  const [row] = await query<{ from: string }>(
    reading.transaction,
    `select ($1::timestamptz - $2::interval)::text as "from"`,
    [to, `${days} days`],
  );
  return { from: row?.from, to };
}

function candidatesOf({ watermark }: RollupSettings): Duration[] {
  const fixed = delays.map((text) => {
    const reading = readDuration(text);
    if ('wrong' in reading) throw new Error(`${text} ${reading.wrong}`);
    return durationOf(reading.value.microseconds);
  });
  return watermark.delay ? [watermark.delay, ...fixed] : fixed;
}

function histogram(bars: readonly Bar[], from: Executed): Html {
  const most = Math.max(1, ...bars.map(({ rows }) => Number(rows)));
  return figureOf(
    'the histogram',
    html`${raw(
      table({
        caption: 'Rows by lateness',
        isNarrow: true,
        head: [
          { title: 'Lateness' },
          { title: 'Rows', isNumber: true },
          { title: 'Share', isNumber: true },
          { title: 'Bar' },
        ],
        rows: bars.map((bar) => [
          barName(bar),
          number(bar.rows),
          share(bar.share),
          barOf(Number(bar.rows) / most),
        ]),
      }),
    )}`,
    [from],
  );
}

function barName({ above, up_to: upTo }: Bar): string {
  if (above === null) return upTo === null ? 'any' : 'before its time';
  if (above.startsWith('-')) return 'none';
  return upTo === null ? `over ${shortSpan(above)}` : `${shortSpan(above)} to ${shortSpan(upTo)}`;
}

/** For the eye alone: the figure stands beside it. */
function barOf(part: number): Content {
  const width = Math.round(part * 1600) / 10;
  return markup(
    html`<svg class="bar" width="160" height="12" aria-hidden="true"><rect width="${part > 0 ? Math.max(1, width) : 0}" height="12" rx="1.5"></rect></svg>`,
  );
}

/** One row a delay and figure: rows, and each measure that adds up. */
function candidatesTable(candidates: readonly Candidate[], from: readonly Executed[]): Html {
  const rows = candidates.flatMap((candidate) =>
    candidate.late.map((late, place): Content[] => {
      const refused = candidate.refused[place] as Miss;
      return [
        place === 0
          ? candidate.is_configured
            ? markup(html`${candidate.delay} <span class="state">in force</span>`)
            : candidate.delay
          : span('zero', candidate.delay),
        late.measure ?? 'rows',
        number(late.amount),
        share(late.share),
        number(refused.amount),
        share(refused.share),
        late.worst_day_share === null ? span('zero', '–') : share(late.worst_day_share),
        late.worst_day ?? span('zero', '–'),
      ];
    }),
  );
  return figureOf(
    'the delays',
    html`${raw(
      table({
        caption: 'By delay; amounts are exact',
        head: [
          { title: 'Delay' },
          { title: 'Of' },
          { title: 'Late', isNumber: true },
          { title: 'Share', isNumber: true },
          { title: 'Refused', isNumber: true },
          { title: 'Share', isNumber: true },
          { title: 'Worst day, late', isNumber: true },
          { title: 'Worst day' },
        ],
        rows,
      }),
    )}`,
    from,
  );
}
