/** Columns that the relations of a rollup have of their own; a key or measure of the same name would hide one. */
const ledgerColumns: ReadonlySet<string> = new Set(
  `window_start window_end local_date version event_count previous_event_count old_event_count is_void kind cause
   causes reason actor db_role approver run_id stamp sealed_at corrected_at posting_period replaces
   definition_fingerprint known_at is_corrected is_provisional is_closed is_open line pending_events corrected_events
   held_events waived_events event_id event_time ingested_at arrived_at lateness_seconds source_partition watermark
   landing state released is_conflict conflicts_with quarantine_reason row_digest first_run_id state_run_id state_actor
   state_reason gone_run_id known_from_run_id until_run_id`.split(/\s+/),
);

/** Words that the statements of a run use for themselves, beside the columns of bronze that they carry along. */
const statementWords: ReadonlySet<string> = new Set(
  `place payload target why verdict has_null_key is_sealed first_digest first_payload old_version since copies
   t`.split(/\s+/),
);

/** What the windows add to each row of bronze. */
const windowColumns: ReadonlySet<string> = new Set('window_start window_end local_date'.split(' '));

/** PostgreSQL gives every table these, and refuses columns of the same name. */
const systemColumns: ReadonlySet<string> = new Set('tableoid xmin cmin xmax cmax ctid'.split(' '));

/** The views write these before a measure's name, as in `pending_revenue`; `old` and `event` the statements of a run. */
const measurePrefixes =
  'sealed corrections latest pending held waived restated previous delta late_firing straggler refused quarantine_release seal_mismatch stream_emission source_change other share_of old event'.split(
    ' ',
  );

/** Why a key or measure cannot have this name, or undefined where it can. A measure is one of `measures` itself. */
export function whyReserved(name: string, measures: readonly string[]): string | undefined {
  if (ledgerColumns.has(name)) return 'is a column that the ledger has itself';
  if (statementWords.has(name)) return 'is a name that the statements of a run use themselves';
  if (systemColumns.has(name)) return 'is a column that PostgreSQL gives every table';
  if (name.startsWith('errata_')) return 'begins with errata_, which Errata keeps for itself';
  if (/^\$\d+$/.test(name)) return 'is a name that PostgreSQL gives the parameters of a function';
  // An object cannot hold it as an ordinary member, so zod drops it without a word.
  if (name === '__proto__') return 'cannot be used as a name';
  const shadowed = measures.find((measure) =>
    measurePrefixes.some((prefix) => name === `${prefix}_${measure}`),
  );
  if (shadowed !== undefined) return `is a column that the views make for the measure ${shadowed}`;
  const second = measures.includes(name)
    ? measurePrefixes.map((prefix) => `${prefix}_${name}`).find((column) => ledgerColumns.has(column))
    : undefined;
  if (second !== undefined) return `would give the views a second column ${second}`;
  return undefined;
}

/** Why a bronze column of this name cannot be one that the rollup uses, or undefined where it can. */
export function whyUnusable(name: string): string | undefined {
  if (statementWords.has(name) || windowColumns.has(name))
    return 'has a name that the statements of a run use themselves';
  if (name.startsWith('errata_')) return 'has a name that begins with errata_, which Errata keeps for itself';
  return undefined;
}
