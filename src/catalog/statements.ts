/** All SQL of one rollup, loaded at start-up, so that a file that does not fit is found before anything is sent. */
import { readdirSync } from 'node:fs';
import { quoteName, type Sql, trustedSql } from '../db/identifiers.ts';
import { type Bindings, fill, placeholdersOf, readTemplate } from '../db/sql.ts';
import { prepare, type Statement } from '../db/statement.ts';
import { bindingsOf, exceptFailing } from './bindings.ts';
import { relationsOf } from './relations.ts';
import type { Rollup } from './rollup.ts';

const sessionDefinitions = ['tables', 'write', 'regroup', 'fold'].map(
  (file) => `rollup/sessions/${file}.sql`,
);

/** The definitions of a rollup, in the order in which they can be made. */
export const definitionFiles = (rollup: Rollup): readonly string[] => [
  'control/calendar.sql',
  'control/combine_watermark.sql',
  `rollup/windows/${rollup.settings.window.kind}.sql`,
  'rollup/source.sql',
  'rollup/ledger.sql',
  'rollup/late_event.sql',
  'rollup/past_state.sql',
  'rollup/private.sql',
  'rollup/evidence.sql',
  ...(rollup.settings.window.kind === 'session' ? sessionDefinitions : []),
  ...(rollup.settings.watermark.strategy === 'recorded' && !rollup.settings.watermark.log
    ? ['rollup/watermark_log.sql']
    : []),
  ...(rollup.overrides ? ['rollup/override.sql'] : []),
  ...(rollup.settings.partials ? ['rollup/partial.sql'] : []),
  ...(rollup.settings.bronze.trackChanges ? ['rollup/track_changes.sql'] : []),
  'rollup/guard.sql',
  ...viewFiles(rollup),
];

/** Views and functions that hold no data: they may be dropped and made again. */
export const viewFiles = (rollup: Rollup): readonly string[] => [
  'rollup/sealed.sql',
  'rollup/latest.sql',
  'rollup/history.sql',
  'rollup/journal.sql',
  'rollup/as_of.sql',
  'rollup/as_of_mark.sql',
  'rollup/changes.sql',
  'rollup/side_output.sql',
  'rollup/reconciliation.sql',
  rollup.settings.window.kind === 'session' ? 'rollup/sessions/open.sql' : 'rollup/open_windows.sql',
  'rollup/live.sql',
];

/** The stages in the order of the data, each with the statements of its folder in `sql/pipeline/`. */
const stageFiles = {
  begin: ['hold', 'begin', 'work', 'released'],
  scan: [
    'known_partitions',
    'scan',
    'scan_by_instant',
    'event_ids',
    'returned',
    'gone',
    'remember',
    'remember_ids',
  ],
  refused: [
    'refused',
    'refused_span',
    'refused_rows',
    'refused_judged',
    'refused_seen',
    'refused_seen_before',
    'refused_found',
  ],
  watermark: [
    'watermark_shipped',
    'watermark_adopted',
    'watermark_refused',
    'watermark_recorded',
    'source_partitions',
    'watermark',
    'watermark_combined',
    'log_known',
    'log_read',
    'log_look',
    'sealing',
  ],
  classify: ['classify_refused', 'classify', 'quarantine'],
  copies: [
    'copies_none',
    'copies_sealing',
    'copies_ids',
    'id_spans',
    'copies_everywhere',
    'copies_late',
    'copies',
  ],
  'late-events': ['late_events', 'elsewhere'],
  seal: [
    'adopt',
    'sealing_result',
    'unsealed',
    'agreed',
    'unsealed_again',
    'exclude_from_seal',
    'seal',
    'seal_again',
  ],
  touch: ['touch', 'take', 'take_asked'],
  amend: ['amend', 'amend_ids', 'amend_rows', 'amend_clear', 'amend_copies', 'amend_states'],
  recompute: [
    'ingested_from',
    'exclude_from_recompute',
    'left_out',
    'whole',
    'look_up',
    'recompute',
    'whole_results',
  ],
  failing: ['probe', 'failing_windows', 'set_aside', 'rows', 'failing_rows', 'computed'],
  diff: ['diff', 'decide', 'claim', 'unclaimed'],
  publish: ['publish', 'forget', 'include', 'hold_events', 'propose', 'settle'],
  chain: ['hash_versions', 'link'],
  notify: ['notify'],
  finish: ['stamp', 'tell_stamp', 'finish', 'total'],
  thin: ['thin', 'thin_source_steps', 'thin_steps'],
} as const;

/** What a run does besides where delays or latenesses differ by key or source partition. */
export const overrideFiles = [
  'override_faults',
  'overrides',
  'sealing_by_key',
  'remember_overrides',
] as const;

/** What a run does besides where partials are kept, in `sql/pipeline/partials/`. */
export const partialFiles = [
  'work',
  'ingested',
  'forget',
  'keep',
  'keep_first_copies',
  'remember',
  'mark_changed',
  'parted',
  'find',
  'stretches',
  'look_up',
  'merge',
  'merge_sealing',
  'set_aside',
] as const;

type OverrideFile = (typeof overrideFiles)[number];

export type PipelineFile = (typeof stageFiles)[keyof typeof stageFiles][number];

const pathOf = new Map<string, string>([
  ...Object.entries(stageFiles).flatMap(([stage, files]) =>
    files.map((file): [string, string] => [file, `pipeline/${stage}/${file}.sql`]),
  ),
  ['sessions/rows', 'pipeline/sessions/rows.sql'],
  ['partials/keep', 'pipeline/partials/keep.sql'],
  ['partials/keep_first_copies', 'pipeline/partials/keep_first_copies.sql'],
]);

/** Files whose reading of one ingestion partition says what it is divided by. */
export type ConstrainedFile = PipelineFile | 'sessions/rows' | 'partials/keep' | 'partials/keep_first_copies';
const pipelineFiles = Object.values(stageFiles).flat() as PipelineFile[];

/** What the stages do for sessions, in `sql/pipeline/sessions/`. */
export const sessionFiles = [
  'work',
  'rows',
  'arrivals',
  'twins',
  'fold',
  'record',
  'repeated',
  'joined_copies',
  'growth',
  'copies',
  'refused_copies',
  'moves',
  'due',
  'recorded',
  'values',
  'seal',
  'short',
  'unsealed',
  'regroup_rows',
  'regroup',
  'regroup_record',
  'touched',
  'asked',
  'without_session',
  'linked',
  'standing',
  'asked_together',
  'succession',
  'together',
  'amend',
  'members',
  'recompute',
  'failing',
  'sealed_again',
] as const;

export interface RollupStatements {
  readonly definitions: readonly Statement[];
  readonly pipeline: Readonly<Record<PipelineFile, Statement>>;
  readonly sessions: Readonly<Record<(typeof sessionFiles)[number], Statement>>;
  /** Undefined: none are kept. */
  readonly partials: PartialStatements | undefined;
  /** Undefined: neither delay nor lateness differs by key or source partition. */
  readonly overrides: Readonly<Record<OverrideFile, Statement>> | undefined;
  /** Undefined: no row of a \`fixed_delay\` carries its own. */
  readonly watermarkDelays: Statement | undefined;
  readonly report: Readonly<
    Record<'changes' | 'landings' | 'waiting' | 'contradictions' | 'drops' | 'failing', Statement>
  >;
  readonly failing: FailingStatements;
  /** `recompute` of the keyed windows that are looked up one by one. */
  readonly lookUp: Statement;
  readonly release: Statement;
  readonly releaseQuarantined: Statement;
  readonly amend: Statement;
  readonly queueAsked: Statement;
  readonly askedProposals: Statement;
  readonly reject: Statement;
  readonly waive: Statement;
  readonly periods: Readonly<Record<'postingPeriod' | 'named' | 'close' | 'reopen', Statement>>;
  readonly unanswered: Statement;
  readonly waitingProposals: Statement;
  /** The queue, quoted. */
  readonly touched: Sql;
  /** The tables of sessions, quoted. */
  readonly sessionTables: readonly Sql[];
  /** The statement again, with what one ingestion partition is divided by in place of `true`. */
  withConstraint(file: ConstrainedFile, constraint: string): Statement;
}

export interface PartialStatements extends Readonly<Record<(typeof partialFiles)[number], Statement>> {
  /** `recompute` of the stretches that are read, and of those that are looked up. */
  readonly read: Statement;
  readonly lookUp: Statement;
  /** `sealing_result` of what they do not cover. */
  readonly sealingPart: Statement;
}

/** What takes the place of a statement in which a measure could not be computed (R19). */
export type CountedRows = 'seal' | 'recompute' | 'looked_up' | 'stretch' | 'stretch_looked_up' | 'values';

export interface FailingStatements {
  /** The rows that the statement counts, in groups, into `pg_temp.errata_counted`. */
  readonly counted: Readonly<Record<CountedRows, Statement>>;
  /** `probe` for the contributions of single rows. */
  readonly probeRows: Statement;
  /** The statement without what fails. */
  readonly without: Readonly<
    Record<'seal' | 'sealing_result' | 'late_events' | 'amend_states' | 'amend_sessions', Statement>
  >;
}

const recomputeFile = 'pipeline/recompute/recompute.sql';
/** In place of those pieces: a fence, so that the planner keeps to one window after the other. */
const lookingUp = {
  fence: trustedSql('offset 0'),
  looked_up: trustedSql('true'),
  same_key: trustedSql('='),
};

/** What is read of a keyed window besides its partials: its rows of a stretch of ingestion. */
const ofStretches = {
  reading: trustedSql('pg_temp.errata_stretch'),
  measured_into: trustedSql('pg_temp.errata_stretch_result'),
  in_stretch: trustedSql(
    'and s.errata_ingested_at >= t.ingested_from and s.errata_ingested_at < t.ingested_to and (t.is_looked_up or t.ingested_from = $1::timestamptz)',
  ),
  id_in_stretch: trustedSql(
    'and s.errata_ingested_at >= i.ingested_from and s.errata_ingested_at < i.ingested_to and (i.is_looked_up or i.ingested_from = $1::timestamptz)',
  ),
  of_stretch: trustedSql(', t.ingested_from, t.ingested_to, t.is_looked_up'),
};

function failingStatements(rollup: Rollup, bindings: Bindings): FailingStatements {
  const measures = bindings.measure as readonly Readonly<Record<string, Sql>>[];
  const keys = rollup.keys.map(({ name }) => `r.${quoteName(name)}`);
  const window = ['r.errata_window_start', 'r.errata_window_end', ...keys];
  const without = (path: string) => prepare(path, { ...bindings, ...exceptFailing(rollup) });
  const recomputed = (others: Bindings) =>
    countedRows(recomputeFile, { ...bindings, ...others }, ['r.errata_target', ...window]);
  return {
    counted: {
      seal: countedRows('pipeline/seal/seal.sql', bindings, window),
      recompute: recomputed({}),
      looked_up: recomputed(lookingUp),
      stretch: recomputed(ofStretches),
      stretch_looked_up: recomputed({ ...ofStretches, ...lookingUp }),
      values: countedRows('pipeline/sessions/values.sql', bindings, [
        'r.errata_target',
        'r.errata_session_id',
      ]),
    },
    probeRows: prepare('pipeline/failing/probe.sql', {
      ...bindings,
      measure: measures.map((measure) => ({ ...measure, measure_value: measure.contribution as Sql })),
    }),
    without: {
      seal: without('pipeline/seal/seal.sql'),
      sealing_result: prepare('pipeline/seal/sealing_result.sql', {
        ...bindings,
        measure: measures.map((measure) => ({ ...measure, measure_value: trustedSql('null') })),
      }),
      late_events: without('pipeline/late-events/late_events.sql'),
      amend_states: without('pipeline/amend/amend_states.sql'),
      amend_sessions: without('pipeline/sessions/amend.sql'),
    },
  };
}

/** A statement up to where it measures the rows that it has found, which are kept instead. */
function countedRows(path: string, bindings: Bindings, group: readonly string[]): Statement {
  const [rows, measured] = readTemplate(path)
    .replace(/^--.*\n/gm, (line) => (line === '-- measured\n' ? line : ''))
    .split('-- measured\n');
  if (rows === undefined || measured === undefined) throw new Error(`sql/${path} has no line "-- measured"`);
  const sql = fill(
    `create temp table errata_counted on commit drop as
${rows}select dense_rank() over (order by /*:counted_group*/r.region/*.*/) as errata_place, r.* from counted_row as r`,
    { ...bindings, counted_group: trustedSql(group.join(', ')) },
    `sql/${path}`,
  );
  const { parameters } = prepare(path, bindings);
  // those that only the rest of it uses come last
  return { path, sql, parameters: parameters.filter((_, place) => sql.includes(`$${place + 1}::`)) };
}

export function statementsOf(rollup: Rollup): RollupStatements {
  const bindings = bindingsOf(rollup);
  const relations = relationsOf(rollup);
  const load = (path: string) => prepare(path, bindings);
  return {
    definitions: definitionFiles(rollup).map(load),
    pipeline: Object.fromEntries(
      pipelineFiles.map((file) => [file, load(pathOf.get(file) as string)]),
    ) as Record<PipelineFile, Statement>,
    sessions: Object.fromEntries(
      sessionFiles.map((file) => [file, load(`pipeline/sessions/${file}.sql`)]),
    ) as RollupStatements['sessions'],
    overrides: rollup.overrides
      ? (Object.fromEntries(
          overrideFiles.map((file) => [file, load(`pipeline/overrides/${file}.sql`)]),
        ) as Record<OverrideFile, Statement>)
      : undefined,
    partials: rollup.settings.partials
      ? {
          ...(Object.fromEntries(
            partialFiles.map((file) => [file, load(`pipeline/partials/${file}.sql`)]),
          ) as Record<(typeof partialFiles)[number], Statement>),
          read: prepare(recomputeFile, { ...bindings, ...ofStretches }),
          lookUp: prepare(recomputeFile, { ...bindings, ...ofStretches, ...lookingUp }),
          sealingPart: prepare('pipeline/seal/sealing_result.sql', {
            ...bindings,
            sealing_into: trustedSql('pg_temp.errata_sealing_part'),
          }),
        }
      : undefined,
    watermarkDelays: hasRowDelays(rollup) ? load('pipeline/watermark/watermark_delays.sql') : undefined,
    report: {
      changes: load('report/changes.sql'),
      landings: load('report/landings.sql'),
      waiting: load('report/waiting.sql'),
      drops: load('report/drops.sql'),
      contradictions: load('report/contradictions.sql'),
      failing: load('report/failing.sql'),
    },
    failing: failingStatements(rollup, bindings),
    lookUp: prepare(recomputeFile, { ...bindings, ...lookingUp }),
    release: load('publication/release.sql'),
    releaseQuarantined: load('publication/release_quarantined.sql'),
    amend: load('publication/amend.sql'),
    queueAsked: load('publication/queue_asked.sql'),
    askedProposals: load('publication/asked_proposals.sql'),
    reject: load('publication/reject.sql'),
    waive: load('publication/waive.sql'),
    periods: {
      postingPeriod: load('publication/posting_period.sql'),
      named: load('publication/period_named.sql'),
      close: load('publication/close.sql'),
      reopen: load('publication/reopen.sql'),
    },
    unanswered: load('report/unanswered.sql'),
    waitingProposals: load('report/waiting_proposals.sql'),
    touched: relations.touched,
    sessionTables: [relations.session_key, relations.session, relations.session_row, relations.session_part],
    withConstraint: (file, constraint) =>
      prepare(pathOf.get(file) as string, { ...bindings, partition_constraint: constraint as never }),
  };
}

function hasRowDelays({ settings: { watermark } }: Rollup): boolean {
  return watermark.strategy === 'fixed_delay' && watermark.delayColumn !== undefined;
}

/** Names that are bound for a rollup and used by no file; tests want none. */
export function unusedBindings(rollup: Rollup): string[] {
  const used = new Set<string>();
  const root = new URL('../../sql/', import.meta.url);
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (entry.endsWith('.sql')) for (const name of placeholdersOf(readTemplate(entry))) used.add(name);
  }
  const bindings = bindingsOf(rollup);
  const names = Object.entries(bindings).flatMap(([name, value]) =>
    Array.isArray(value) ? [name, ...value.flatMap((item) => Object.keys(item))] : [name],
  );
  return [...new Set(names)].filter((name) => !used.has(name));
}
