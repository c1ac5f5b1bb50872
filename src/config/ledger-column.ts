/** Columns that the relations of a rollup have of their own; a key or measure of the same name would hide one. */
const ledgerColumns: ReadonlySet<string> = new Set(
  `window_start window_end local_date version event_count is_void kind causes reason actor db_role approver run_id
   stamp sealed_at corrected_at posting_period replaces definition_fingerprint known_at is_corrected is_provisional
   is_closed pending_events event_id event_time ingested_at arrived_at watermark landing state`.split(/\s+/),
);

/** PostgreSQL gives every table these, and refuses columns of the same name. */
const systemColumns: ReadonlySet<string> = new Set('tableoid xmin cmin xmax cmax ctid'.split(' '));

/** The views write these before a measure's name, as in `pending_revenue`. */
const measurePrefixes = 'sealed corrections latest pending held waived restated previous delta'.split(' ');

/** Why a key or measure cannot have this name, or undefined where it can. */
export function whyReserved(name: string, measures: readonly string[]): string | undefined {
  if (ledgerColumns.has(name)) return 'is a column that the ledger has itself';
  if (systemColumns.has(name)) return 'is a column that PostgreSQL gives every table';
  if (name.startsWith('errata_')) return 'begins with errata_, which Errata keeps for itself';
  // An object cannot hold it as an ordinary member, so zod drops it without a word.
  if (name === '__proto__') return 'cannot be used as a name';
  const shadowed = measures.find((measure) =>
    measurePrefixes.some((prefix) => name === `${prefix}_${measure}`),
  );
  if (shadowed !== undefined) return `is a column that the views make for the measure ${shadowed}`;
  return undefined;
}
