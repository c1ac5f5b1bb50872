/** The statement as a page for people: one file, read in a browser or printed. Long lists are cut, and say so. */
import { amount, counted, difference } from '../../output/amount.ts';
import { windowText } from '../../output/window-text.ts';
import { shortInstant, spanText } from '../instant-text.ts';
import type { Basis } from './basis.ts';
import { bridgeChart, type Step } from './chart.ts';
import type { Listed, ListName } from './figures.ts';
import { type Content, facts, type Heading, paragraph, span, table } from './markup.ts';
import { style } from './style.ts';

/** So many rows of each list stand on the page; totals are always whole. */
export const pageRows = 1000;

export interface PageParts {
  readonly basis: Basis;
  /** At most `pageRows` of each. */
  readonly lists: Readonly<Record<ListName, Listed>>;
  /** How many there are. */
  readonly counts: Readonly<Record<ListName, number>>;
  readonly fileOf: Readonly<Partial<Record<ListName, string>>>;
}

type Cells = Readonly<Record<string, string | null>>;

const stepNames: Readonly<Record<string, string>> = {
  sealed: 'Sealed',
  late_firing: 'Late firing',
  straggler: 'Stragglers',
  refused: 'Refused',
  quarantine_release: 'Quarantine',
  seal_mismatch: 'Seal mismatch',
  stream_emission: 'Stream',
  source_change: 'Source change',
  other: 'Definition',
  latest: 'Latest',
  pending: 'Pending',
  held: 'Held',
  waived: 'Waived',
  restated: 'Restated',
  unexplained: 'Unexplained',
  true: 'True',
};

export function statementPage(parts: PageParts): string {
  const { basis } = parts;
  const { name } = basis.rollup.settings;
  const title = `${name}, ${basis.period}`;
  const sections = sectionsOf(parts);
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${span('', `Statement: ${title}`).html.replaceAll(/<\/?span[^>]*>/g, '')}</title>`,
    `<style>\n${style}\n</style>`,
    '</head>',
    '<body>',
    '<header>',
    `<h1>${span('', title).html}</h1>`,
    paragraph(`Statement of what was known until ${seconds(basis.stamp)}`, 'lead'),
    ...heading(basis),
    `<nav aria-label="Sections"><ul>${sections.map(({ id, title: name }) => `<li><a href="#${id}">${name}</a></li>`).join('')}</ul></nav>`,
    '</header>',
    '<main>',
    ...sections.map(
      ({ id, title: name, body }) =>
        `<section id="${id}" aria-labelledby="${id}-title">\n<h2 id="${id}-title">${name}</h2>\n${body.join('\n')}\n</section>`,
    ),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function heading({ close, mark, period, periodStart, periodEnd, timeZone, rollup }: Basis): string[] {
  const { gold } = rollup.settings;
  const state =
    close === null
      ? 'not closed by then'
      : `${close.act === 'hard_close' ? 'closed' : `closed softly, for ${close.posting_role}`} on ${seconds(close.closed_at)} by ${close.actor}${close.reason ? `: ${close.reason}` : ''}`;
  return [
    facts([
      [
        'Period',
        `${period}: windows that start from ${seconds(periodStart)} until ${seconds(periodEnd)}, exclusive`,
      ],
      ['State', state],
      ...(mark === null ? [] : ([['Mark', mark]] as const)),
      ['Table', `${gold.schema}.${gold.name}`],
      ['Days', `of ${timeZone} where windows follow no calendar`],
    ]),
    ...(close?.is_forced
      ? [
          paragraph(
            'It was closed before all of its windows were sealed: what was sealed later is not in it.',
            'warn',
          ),
        ]
      : []),
    ...(close?.reopened_at ? [paragraph(`It was reopened on ${seconds(close.reopened_at)}.`, 'warn')] : []),
  ];
}

interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: readonly string[];
}

function sectionsOf(parts: PageParts): Section[] {
  const { basis } = parts;
  const scales = scalesOf(parts);
  return [
    { id: 'totals', title: 'Totals', body: totalsBody(parts, scales) },
    { id: 'bridge', title: 'From sealed to true', body: bridgeBody(parts, scales) },
    { id: 'days', title: 'By day', body: daysBody(parts, scales) },
    { id: 'corrections', title: 'Corrections', body: correctionsBody(parts, scales) },
    { id: 'refused', title: 'Refused rows', body: refusedBody(parts, scales) },
    { id: 'proposals', title: 'Proposals', body: proposalsBody(parts, scales) },
    { id: 'adjustments', title: 'Adjustments', body: adjustmentsBody(parts, scales) },
    { id: 'unexplained', title: 'Unexplained', body: unexplainedBody(parts, scales) },
    { id: 'acts', title: 'Who decided', body: actsBody(parts) },
    { id: 'settings', title: 'Settings in force', body: settingsBody(parts) },
    { id: 'evidence', title: 'Evidence', body: evidenceBody(basis) },
  ];
}

/** Decimals of each measure, so that its figures stand one below the other. */
type Scales = Readonly<Record<string, number>>;

function scalesOf({ basis, lists }: PageParts): Scales {
  const decimals = (text: string | null | undefined) => /^-?\d+\.(\d+)$/.exec(text ?? '')?.[1]?.length ?? 0;
  const totals = new Map(rowsOf(lists.totals).map((row) => [row.measure, row]));
  return Object.fromEntries(
    basis.rollup.measures.map(({ name }) => [
      name,
      Math.max(0, ...Object.values(totals.get(name) ?? {}).map(decimals)),
    ]),
  );
}

function totalsBody({ basis, lists, counts }: PageParts, scales: Scales): string[] {
  const columns = [
    'sealed',
    'corrections',
    'latest',
    'pending',
    'held',
    'waived',
    'restated',
    'unexplained',
    'true',
  ];
  const rows = rowsOf(lists.totals);
  if (rows.length === 0) return [paragraph('No measure of this rollup adds up: windows.csv has the values.')];
  return [
    ...(overlaps(basis)
      ? [
          paragraph(
            'Windows overlap: an event in several windows is in several sums, and no figure here is a total of events.',
            'warn',
          ),
        ]
      : []),
    table({
      caption: `Over ${counted(counts.windows, 'keyed window')}: sealed + corrections = latest; latest + pending + held + waived = restated; restated + unexplained = true`,
      head: [{ title: 'Measure' }, ...columns.map((name) => ({ title: capital(name), isNumber: true }))],
      rows: rows.map((row) => [
        row.measure ?? '',
        ...columns.map((name) => {
          const scale = scales[row.measure ?? ''] ?? 0;
          if (['sealed', 'latest', 'restated', 'true'].includes(name))
            return strong(padded(row[name], scale));
          return change(row[name], scale);
        }),
      ]),
    }),
    basis.sweep === null
      ? paragraph(
          'No sweep of errata reconcile was on record by then: true is reckoned from the stored states, and was not counted anew.',
          'note',
        )
      : paragraph(
          `Counted anew from bronze on ${seconds(basis.sweep.swept_at)}: ${counted(basis.sweep.keyed_windows, 'keyed window')}, ${amount(basis.sweep.unexplained)} unexplained.`,
          'note',
        ),
  ];
}

function bridgeBody({ lists }: PageParts, scales: Scales): string[] {
  const rows = rowsOf(lists.bridge);
  const measures = [...new Set(rows.map(({ measure }) => measure ?? ''))];
  return measures.flatMap((measure) => {
    const scale = scales[measure] ?? 0;
    const steps = rows.filter(
      (row) => row.measure === measure && (row.is_level === 'true' || !isZero(row.amount)),
    );
    let last = 0;
    const drawn = steps.map((row): Step => {
      const [isLevel, to] = [row.is_level === 'true', Number(row.level)];
      const from = isLevel ? 0 : last;
      last = to;
      const text = isLevel ? amount(padded(row.amount, scale)) : difference(padded(row.amount, scale));
      return { label: stepNames[row.step ?? ''] ?? '', isLevel, text, from, to };
    });
    const { svg, start } = bridgeChart(drawn);
    return [
      `<h3>${span('', measure).html}</h3>`,
      `<figure>\n${svg}\n<figcaption>${span('', `The axis begins at ${start}. The same in figures:`).html}</figcaption>\n</figure>`,
      table({
        caption: `${measure}, from sealed to true`,
        isNarrow: true,
        head: [
          { title: 'Step' },
          { title: 'Change', isNumber: true },
          { title: 'Arrives at', isNumber: true },
        ],
        rows: steps.map((row) => [
          stepNames[row.step ?? ''] ?? '',
          row.is_level === 'true' ? '' : change(row.amount, scale),
          row.is_level === 'true' ? strong(padded(row.level, scale)) : amount(padded(row.level, scale)),
        ]),
      }),
    ];
  });
}

function daysBody(parts: PageParts, scales: Scales): string[] {
  const { lists } = parts;
  const rows = rowsOf(lists.days);
  const totals = new Map(rowsOf(lists.totals).map((row) => [row.measure, row]));
  const columns = ['sealed', 'corrections', 'latest', 'pending', 'held', 'waived', 'restated', 'unexplained'];
  const figure = (name: string, text: string | null | undefined, scale: number): Content =>
    ['sealed', 'latest', 'restated'].includes(name) ? amount(padded(text, scale)) : change(text, scale);
  return [...totals.keys()].flatMap((measure) => {
    if (measure === null || measure === undefined) return [];
    const scale = scales[measure] ?? 0;
    const attribute = (name: string) => `${name === 'unexplained' ? 'errata_' : ''}${name}_${measure}`;
    return [
      table({
        caption: `${measure}, by the day on which windows start`,
        head: [
          { title: 'Day' },
          { title: 'Keyed windows', isNumber: true },
          { title: 'Corrected', isNumber: true },
          ...columns.map((name) => ({ title: capital(name), isNumber: true })),
        ],
        rows: rows.map((row) => [
          row.day ?? '',
          amount(row.keyed_windows),
          quiet(row.corrected_windows),
          ...columns.map((name) => figure(name, row[attribute(name)], scale)),
        ]),
        foot: ['All', '', '', ...columns.map((name) => figure(name, totals.get(measure)?.[name], scale))],
      }),
      cut(parts, 'days'),
    ];
  });
}

function correctionsBody(parts: PageParts, scales: Scales): string[] {
  const rows = rowsOf(parts.lists.corrections);
  if (rows.length === 0) return [paragraph('Nothing was published beside version 1.')];
  const { measures } = parts.basis.rollup;
  return [
    table({
      caption: `${counted(parts.counts.corrections, 'version')} beside version 1, each with its difference to the version before; errata find resolves a citation`,
      head: [
        ...windowHead(parts),
        { title: 'Version', isNumber: true },
        ...measures.map(({ name }) => ({ title: name, isNumber: true })),
        { title: 'Causes' },
        { title: 'Published' },
        { title: 'Decided by', isWide: true },
        { title: 'Citation' },
      ],
      rows: rows.map((row) => [
        ...windowCells(parts, row),
        row.version ?? '',
        ...measures.map(({ name, isNumeric }) =>
          isNumeric ? change(row[`delta_${name}`], scales[name] ?? 0) : (row[name] ?? '–'),
        ),
        words(row.is_void === 'true' ? [row.causes, 'void'] : [row.causes]),
        moment(row.stamp),
        who(row),
        span('cite', row.errata_citation ?? ''),
      ]),
    }),
    cut(parts, 'corrections'),
  ];
}

function refusedBody(parts: PageParts, scales: Scales): string[] {
  const rows = rowsOf(parts.lists.refused);
  if (rows.length === 0) return [paragraph('No row was refused.')];
  const measures = parts.basis.rollup.measures.filter(({ isAdditive }) => isAdditive);
  return [
    table({
      caption: `${counted(parts.counts.refused, 'refused row')} by name, with the state that each had then`,
      head: [
        { title: 'Event' },
        ...windowHead(parts),
        { title: 'Happened' },
        { title: 'Late by' },
        { title: 'State' },
        ...measures.map(({ name }) => ({ title: name, isNumber: true })),
        { title: 'Decided by', isWide: true },
      ],
      rows: rows.map((row) => [
        row.event_id ?? '',
        ...windowCells(parts, row),
        moment(row.event_time),
        row.lateness_seconds === null ? '–' : spanText(row.lateness_seconds ?? ''),
        row.state === 'included' ? `in version ${row.version}` : (row.state ?? '–'),
        ...measures.map(({ name }) => amount(padded(row[name], scales[name] ?? 0))),
        row.actor || row.state === 'included' ? who(row) : span('zero', 'nobody yet'),
      ]),
    }),
    cut(parts, 'refused'),
    paragraph(
      `${parts.fileOf.events} names ${counted(parts.counts.events, 'late event')}: these, and those that fired late, straggled or are in quarantine.`,
      'note',
    ),
  ];
}

function proposalsBody(parts: PageParts, scales: Scales): string[] {
  const rows = rowsOf(parts.lists.proposals);
  if (rows.length === 0) return [paragraph('No proposal awaited a person.')];
  const { measures } = parts.basis.rollup;
  return [
    table({
      caption: `${counted(parts.counts.proposals, 'proposal')}: the values that were proposed; open, held by the close, or rejected and set aside`,
      head: [
        ...windowHead(parts),
        { title: 'State' },
        ...measures.map(({ name }) => ({ title: name, isNumber: true })),
        { title: 'Version now', isNumber: true },
        { title: 'Causes' },
        { title: 'Why', isWide: true },
        { title: 'Proposed' },
      ],
      rows: rows.map((row) => [
        ...windowCells(parts, row),
        row.errata_decided_by
          ? `${row.state} by ${row.errata_decided_by}: ${row.errata_decided_reason}`
          : (row.state ?? ''),
        ...measures.map(({ name }) => amount(padded(row[name], scales[name] ?? 0))),
        row.errata_base_version ?? '',
        words([row.causes]),
        row.why ?? '',
        moment(row.errata_proposed_at),
      ]),
    }),
    cut(parts, 'proposals'),
  ];
}

function adjustmentsBody(parts: PageParts, scales: Scales): string[] {
  const rows = rowsOf(parts.lists.adjustments);
  const { measures } = parts.basis.rollup;
  if (rows.length === 0)
    return [
      paragraph(
        parts.basis.close === null
          ? 'There is none: adjustments come after a close.'
          : 'Nothing was posted since the close, and nothing to this period for windows of another.',
      ),
    ];
  return [
    table({
      caption: `${counted(parts.counts.adjustments, 'version')} posted since the close, or to this period for windows of another`,
      head: [
        { title: 'What' },
        ...windowHead(parts),
        { title: 'Version', isNumber: true },
        ...measures.map(({ name }) => ({ title: name, isNumber: true })),
        { title: 'Causes' },
        { title: 'Posted to' },
        { title: 'Published' },
        { title: 'Decided by', isWide: true },
        { title: 'Citation' },
      ],
      rows: rows.map((row) => [
        row.errata_how ?? '',
        ...windowCells(parts, row),
        row.version ?? '',
        ...measures.map(({ name, isNumeric }) =>
          isNumeric ? change(row[`delta_${name}`], scales[name] ?? 0) : (row[name] ?? '–'),
        ),
        words([row.causes]),
        row.posting_period ?? 'its own period',
        moment(row.stamp),
        who(row),
        span('cite', row.errata_citation ?? ''),
      ]),
    }),
    cut(parts, 'adjustments'),
  ];
}

function unexplainedBody(parts: PageParts, scales: Scales): string[] {
  const { sweep } = parts.basis;
  if (sweep === null)
    return [paragraph('Nothing was counted anew by then: run errata reconcile before the mark is made.')];
  const rows = rowsOf(parts.lists.unexplained);
  if (rows.length === 0)
    return [paragraph(`Nothing: the sweep of ${seconds(sweep.swept_at)} could explain every keyed window.`)];
  const measures = parts.basis.rollup.measures.filter(({ isAdditive }) => isAdditive);
  return [
    table({
      caption: `${counted(parts.counts.unexplained, 'keyed window')} that the sweep of ${seconds(sweep.swept_at)} could not explain, and by how much bronze differs from what is restated`,
      head: [
        ...windowHead(parts),
        { title: 'Found' },
        ...measures.map(({ name }) => ({ title: name, isNumber: true })),
        { title: 'Events' },
        { title: 'It stands' },
      ],
      rows: rows.map((row) => [
        ...windowCells(parts, row),
        [row.errata_found, row.why].filter(Boolean).join(': '),
        ...measures.map(({ name }) => change(row[`errata_unexplained_${name}`], scales[name] ?? 0)),
        row.errata_events ?? '–',
        row.errata_stands === 'true' ? 'yes' : 'no: a version came',
      ]),
    }),
    cut(parts, 'unexplained'),
  ];
}

function actsBody(parts: PageParts): string[] {
  const rows = rowsOf(parts.lists.acts);
  if (rows.length === 0)
    return [paragraph('Nobody decided anything about this period: what was published followed the policy.')];
  return [
    table({
      caption: `${counted(parts.counts.acts, 'act')} of people, with what each changed in this period`,
      head: [
        { title: 'When' },
        { title: 'Act' },
        { title: 'Who' },
        { title: 'Reason', isWide: true },
        { title: 'Versions', isNumber: true },
        { title: 'Events', isNumber: true },
        { title: 'Proposals', isNumber: true },
        { title: 'Run', isNumber: true },
      ],
      rows: rows.map((row) => [
        moment(row.stamp),
        actText(row),
        `${row.actor}, as ${row.db_role}`,
        row.reason ?? '–',
        quiet(row.versions),
        quiet(row.events),
        quiet(row.proposals),
        row.run_id ?? '',
      ]),
    }),
    cut(parts, 'acts'),
  ];
}

function actText({ act, period, posting_role: role, is_forced: forced, expires_at: until }: Cells): string {
  if (act === 'hard_close') return `close of ${period}${forced === 'true' ? ', forced' : ''}`;
  if (act === 'soft_close')
    return `soft close of ${period}, for ${role}${forced === 'true' ? ', forced' : ''}`;
  if (act === 'reopen') return `reopening of ${period} until ${seconds(until ?? '')}`;
  return act ?? '';
}

function settingsBody({ lists }: PageParts): string[] {
  const rows = rowsOf(lists.settings);
  return [...new Set(rows.map(({ fingerprint }) => fingerprint ?? ''))].flatMap((fingerprint) => {
    const own = rows.filter((row) => row.fingerprint === fingerprint);
    const [first] = own;
    const use = `${first?.in_force === 'true' ? 'in force then' : 'in force before'}; ${counted(first?.versions ?? '0', 'version')} of this period`;
    return [
      table({
        caption: `Definition ${fingerprint}, ${use}`,
        head: [{ title: 'Section' }, { title: 'Setting' }, { title: 'Value' }],
        rows: own
          // types are for machines: the file has them
          .filter(({ section, value }) => section !== 'types' && value !== null && value !== '')
          .map((row) => [row.section ?? '', row.name ?? '', settingText(row)]),
      }),
    ];
  });
}

/** A span of time is kept in microseconds. */
function settingText({ section, name, value }: Cells): Content {
  const microseconds = /^(\d+)( us)?$/.exec(value ?? '');
  const isSpan =
    microseconds?.[2] !== undefined ||
    (section === 'policies' && ['allowed_lateness', 'seal_after', 'horizon'].includes(name ?? ''));
  return microseconds && isSpan
    ? `${spanText(String(BigInt(microseconds[1] as string) / 1_000_000n))} (${amount(microseconds[1])} µs)`
    : code(value);
}

function evidenceBody({ digest, sweep, rollup, period, stamp }: Basis): string[] {
  return [
    facts([
      ...(digest === null
        ? ([['Digest head', 'nothing was hashed by then']] as const)
        : ([
            ['Digest head', code(digest.head)],
            [
              'It covers',
              `${counted(digest.versions, 'version')} in ${counted(digest.links, 'link')}, up to run ${digest.run_id}, ${seconds(digest.stamp)}`,
            ],
          ] as const)),
      ...(sweep === null
        ? []
        : ([['Sweep', code(`${sweep.reconciliation_id}: ${sweep.result_hash}`)]] as const)),
      ['Parameters', code(`${rollup.settings.name}, ${period}, known until ${stamp}`)],
    ]),
    paragraph(
      'manifest.json holds the SHA-256 of every file of this statement, this page among them, and SHA256SUMS the same for sha256sum --check. errata statement --verify compares all of it with the database; errata verify proves the versions themselves against the digest head.',
    ),
  ];
}

function rowsOf({ columns, rows }: Listed): Cells[] {
  return rows.map((cells) =>
    Object.fromEntries(columns.map(({ attribute }, place) => [attribute, cells[place] ?? null])),
  );
}

function windowHead({ basis }: PageParts): Heading[] {
  return [{ title: 'Window' }, ...basis.rollup.keys.map(({ name }) => ({ title: name }))];
}

function windowCells({ basis }: PageParts, row: Cells): Content[] {
  const keys = basis.rollup.keys.map(({ name }): Content => {
    const value = row[name];
    if (value === null || value === undefined) return span('zero', 'NULL');
    return value === '' ? span('zero', 'empty') : value;
  });
  if (!row.window_start || !row.window_end) return ['no window', ...keys];
  const window = windowText({
    window_start: plain(row.window_start),
    window_end: plain(row.window_end),
    local_date: row.local_date ?? null,
  });
  return [span('nowrap', window), ...keys];
}

/** Who decided, and why; where nobody did, the policy. */
function who({ actor, approver, reason }: Cells): Content {
  const names = [...new Set([actor, approver].filter(Boolean))].join(', approved by ');
  return person(names === '' ? null : names, reason);
}

function person(name: string | null | undefined, reason: string | null | undefined): Content {
  if (!name) return span('zero', 'policy');
  return reason ? `${name}: ${reason}` : name;
}

/** That a list was cut, and where the rest is. */
function cut({ counts, lists, fileOf }: PageParts, name: ListName): string {
  const rest = counts[name] - lists[name].rows.length;
  const whole = { corrections: 'versions', refused: 'events' }[name as string] ?? name;
  return rest <= 0
    ? ''
    : paragraph(
        `${amount(String(rest))} more: ${fileOf[whole as ListName]} has all ${amount(String(counts[name]))}.`,
        'note',
      );
}

function words(parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(', ').replaceAll('; ', ', ').replaceAll('_', ' ');
}

const isZero = (text: string | null | undefined) => /^-?0*(\.0*)?$/.test(text ?? '0');

/** Zeros at the end, so that decimals stand one below the other; the value is not rounded. */
function padded(text: string | null | undefined, scale: number): string | null {
  const match = /^(-?\d+)(?:\.(\d+))?$/.exec(text ?? '');
  if (!match || scale === 0) return text ?? null;
  return `${match[1]}.${(match[2] ?? '').padEnd(scale, '0')}`;
}

function change(text: string | null | undefined, scale: number): Content {
  if (text === null || text === undefined) return span('zero', '–');
  return isZero(text) ? span('zero', '0') : difference(padded(text, scale));
}

function quiet(count: string | null | undefined): Content {
  return isZero(count) ? span('zero', '0') : amount(count);
}

function strong(text: string | null): Content {
  return span('strong', amount(text));
}

function code(text: string | null | undefined): Content {
  return span('code', text ?? '–');
}

function moment(instant: string | null | undefined): Content {
  return instant ? span('nowrap', seconds(instant)) : '–';
}

/** To the second: the files have all digits. */
function seconds(instant: string): string {
  return shortInstant(plain(instant));
}

/** As the database writes it elsewhere. */
function plain(instant: string): string {
  return instant.replace('T', ' ').replace(/Z$/, '+00');
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function overlaps({ rollup }: Basis): boolean {
  const { window } = rollup.settings;
  return window.kind === 'hopping' && window.size.microseconds > window.every.microseconds;
}
