/** What a BI tool shows beside each relation and column: a COMMENT on every one (DESIGN.md, section 3). */
import { quoteName, quoteText } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { relationsOf } from './relations.ts';
import type { Rollup } from './rollup.ts';

const relationComments: Readonly<Record<string, string>> = {
  '': 'The ledger: one row a keyed window and version. Version 1 is what shipped; nothing here is ever changed. Read the views: adding up versions counts windows twice.',
  _late_event:
    'One row an event and window that is late, straggling, quarantined, a conflict, or has a state.',
  _sealed: 'What shipped: version 1 of each keyed window.',
  _latest: 'The latest version of each keyed window, one row each: a plain sum is right.',
  _live: 'The latest versions, and the windows still open straight from bronze (is_open).',
  _history:
    'All versions with the value before and the difference; to add up, take the differences (delta_), never the values.',
  _journal: 'Every correction as a reversal and a rebook, and as a delta; use one of the two.',
  _side_output: 'Refused events with their state and their share of the window.',
  _reconciliation:
    'From sealed to latest to restated, a row a keyed window: sealed + corrections = latest, latest + pending + held + waived = restated.',
  _watermark_log: 'The log of watermarks that the stream writes: one row a source partition and entry.',
};

const columnComments: Readonly<Record<string, string>> = {
  window_start: 'Start of the window, inclusive, an instant.',
  window_end: 'End of the window, exclusive, an instant.',
  local_date:
    'Local date of the window start in the calendar of the rollup; NULL unless windows follow a calendar.',
  version:
    'Version of the keyed window: 1 is what shipped, 2 and up are corrections. For a late event: the version that includes it.',
  event_count: 'Events counted; in a late event always 1.',
  previous_event_count: 'Event count of the version before.',
  is_void: 'The keyed window holds no events any more.',
  kind: 'seal, correction, restatement or adjustment.',
  causes: 'Why the version was appended.',
  reason: 'The reason that a person gave.',
  actor: 'The person who published it; NULL for the job.',
  db_role: 'Database role that wrote the version.',
  approver: 'The person who approved it.',
  run_id: 'Run that published the version; NULL where the stream inserted it.',
  stamp: 'Instant of publication; follows commit order.',
  sealed_at: 'When version 1 was published.',
  corrected_at: 'When this correction was published; NULL in version 1.',
  known_at: 'Since when the latest version has been known.',
  posting_period: 'Accounting period that an adjustment is posted to.',
  replaces: 'Sessions that this version replaces.',
  definition_fingerprint: 'Fingerprint of the definition that the value was computed by.',
  is_corrected: 'A correction has been published: what shipped is not what is known now.',
  is_provisional: 'Late events may still change it by themselves: the allowed lateness has not passed.',
  is_closed: 'The period of the window is closed.',
  is_open: 'Not sealed yet: read straight from bronze.',
  pending_events: 'Events that await someone.',
  corrected_events: 'Late events that corrections include.',
  held_events: 'Events that await someone because the period is closed.',
  waived_events: 'Events that a person has set aside.',
  event_id: 'Event id, as text.',
  event_time: 'When it happened.',
  ingested_at: 'When the row landed in bronze.',
  arrived_at: 'When the broker took it; where bronze has no such column, ingested_at.',
  lateness_seconds: 'arrived_at - event_time, in seconds.',
  source_partition: 'Input of the stream that the row came by.',
  watermark: 'The watermark in force when the row arrived: what judged it.',
  landing: 'open, late_firing, side_output or quarantined; NULL for a copy.',
  state: 'pending, included, waived or held.',
  cause: 'late_firing, straggler, refused or quarantine_release.',
  released:
    'Cleared for the counted set, by the policy or by a person; one that is pending and proposed awaits a person still.',
  is_conflict: 'A copy whose key or measured columns differ from the row that counts.',
  conflicts_with: 'Both values of a conflict.',
  quarantine_reason: 'Why the row counts in no window.',
  row_digest: 'MD5 of the mapped columns: tells two rows with one id apart.',
  first_run_id: 'Run that first examined it.',
  state_run_id: 'Run that set its state.',
  state_actor: 'The person who set its state.',
  state_reason: 'The reason that was given for its state.',
  gone_run_id:
    'Run that found the event gone from bronze: deleted, or changed into one of another keyed window; NULL while it is there.',
  known_from_run_id:
    'Run since which the row is as it stands; NULL where it is older than the record of past states.',
  line: 'reversal and rebook, or delta.',
  at: 'When the entry was written, on the clock of ingested_at.',
  dropped:
    'How many rows the stream has dropped as too late so far, a counter; NULL where it does not count.',
  idle: 'The source partition is idle: it holds no watermark back.',
};

const measurePrefixes: Readonly<Record<string, string>> = {
  previous_: 'Value of the version before.',
  delta_: 'Difference to the version before; absent and void count as 0.',
  pending_: 'Share of pending events: what awaits someone.',
  sealed_: 'What shipped; 0 where nothing did.',
  corrections_: 'Latest less sealed.',
  late_firing_: 'Corrections by events within the allowed lateness.',
  straggler_: 'Corrections by events that landed open and were examined after the seal.',
  refused_: 'Corrections by refused events.',
  quarantine_release_: 'Corrections by events released from quarantine.',
  seal_mismatch_: 'Corrections because version 1 differed from its own rows.',
  stream_emission_: 'Corrections by a later emission of the stream.',
  source_change_: 'Corrections because bronze rows were deleted or amended.',
  other_: 'Corrections by a changed definition or a restatement.',
  latest_: 'Value of the latest version.',
  held_: 'Share of held events: their period is closed.',
  waived_: 'Share of waived events.',
  restated_: 'Value over all valid first copies in bronze.',
  share_of_: "The event's contribution over the window's value with it.",
};

export async function commentOn(transaction: ControlTransaction, rollup: Rollup): Promise<void> {
  const { gold, name } = rollup.settings;
  const columns = await query<{ relation: string; kind: string; column_name: string }>(
    transaction,
    `select c.relname as relation, c.relkind as kind, a.attname as column_name
     from pg_catalog.pg_class as c
     join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
     join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = $1 and c.relkind in ('r', 'v') and c.relname = any ($2::text[])
     order by c.relname, a.attnum`,
    [gold.schema, Object.keys(relationComments).map((suffix) => gold.name + suffix)],
  );
  const parts: string[] = [];
  for (const relation of new Set(columns.map((column) => column.relation))) {
    const kind = columns.find((column) => column.relation === relation)?.kind === 'v' ? 'view' : 'table';
    const suffix = relation.slice(gold.name.length);
    const text = `${relationComments[suffix]} Rollup "${name}".`;
    parts.push(`comment on ${kind} ${quoteName(gold.schema)}.${quoteName(relation)} is ${quoteText(text)}`);
  }
  for (const { relation, column_name: column } of columns) {
    const text = commentFor(rollup, column);
    parts.push(
      `comment on column ${quoteName(gold.schema)}.${quoteName(relation)}.${quoteName(column)} is ${quoteText(text)}`,
    );
  }
  parts.push(
    `comment on function ${relationsOf(rollup).as_of}(timestamptz) is ${quoteText(`The latest versions as they were known at an instant. Rollup "${name}".`)}`,
  );
  parts.push(
    `comment on function ${relationsOf(rollup).as_of_mark}(text) is ${quoteText(`The latest versions as they were known when a mark was made. Rollup "${name}".`)}`,
  );
  parts.push(
    `comment on function ${relationsOf(rollup).changes}(text) is ${quoteText(`Keyed windows that got a correction since a mark, the end of a run or an instant: the value as it was published then (previous_), as it is now, and the difference (delta_). Rollup "${name}".`)}`,
  );
  await query(transaction, parts.join(';\n'));
}

function commentFor(rollup: Rollup, column: string): string {
  const known = columnComments[column];
  if (known) return known;
  if (rollup.keys.some((key) => key.name === column)) return 'Part of the key: what totals are grouped by.';
  const measure = rollup.measures.find(({ name }) => name === column);
  if (measure)
    return `Measure: ${measure.expression}. In a late event: its own contribution, NULL if the measure does not add up.`;
  for (const [prefix, text] of Object.entries(measurePrefixes)) {
    const owner = rollup.measures.find(({ name }) => column === prefix + name);
    if (owner) return `${text} Measure ${owner.name}.`;
  }
  throw new Error(`no comment is written for column "${column}"`);
}
