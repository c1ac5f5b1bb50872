/** The sections of the page of a statement, one list of figures each. */
import { amount, counted, difference } from '../../output/amount.ts';
import { spanText } from '../instant-text.ts';
import type { Basis } from './basis.ts';
import {
  type Cells,
  capital,
  change,
  code,
  cut,
  isZero,
  moment,
  type PageParts,
  padded,
  quiet,
  rowsOf,
  seconds,
  strong,
  who,
  windowCells,
  windowHead,
  words,
} from './cells.ts';
import { bridgeChart, type Step } from './chart.ts';
import { type Content, facts, paragraph, span, table } from './markup.ts';

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

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: readonly string[];
}

/** In the order of the page. */
export function sectionsOf(parts: PageParts): Section[] {
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

function overlaps({ rollup }: Basis): boolean {
  const { window } = rollup.settings;
  return window.kind === 'hopping' && window.size.microseconds > window.every.microseconds;
}
