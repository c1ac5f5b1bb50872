/** The relations that belong to one rollup, by the placeholder that stands for them. */

import type { TableName } from '../config/settings.ts';
import { quoteName, quoteTable, type Sql } from '../db/identifiers.ts';
import type { Rollup } from './rollup.ts';

/** Public relations: named after the gold table, in its schema. */
const publicSuffixes = {
  ledger: '',
  late_event: '_late_event',
  sealed: '_sealed',
  latest: '_latest',
  live: '_live',
  history: '_history',
  journal: '_journal',
  as_of: '_as_of',
  as_of_mark: '_as_of_mark',
  changes: '_changes',
  side_output: '_side_output',
  reconciliation: '_reconciliation',
  watermark_log: '_watermark_log',
} as const;

/** Private relations and functions: named after the rollup, in the schema of the control tables. */
const privateSuffixes = {
  source: '_source',
  windows: '_windows',
  unsealed_from: '_unsealed_from',
  starting_from: '_starting_from',
  open_windows: '_open_windows',
  touched: '_touched',
  copy: '_copy',
  emission: '_emission',
  source_change: '_source_change',
  evidence: '_evidence',
  partial: '_partial',
  partial_partition: '_partial_partition',
  unchained: '_unchained',
  last_stamp: '_last_stamp',
  past_state: '_past_state',
  date_state: '_date_state',
  keep_state: '_keep_state',
  override: '_override',
  track_changes: '_track_changes',
  refuse_change: '_refuse_change',
  accept_seal: '_accept_seal',
  check_versions: '_check_versions',
  session_key: '_session_key',
  session: '_session',
  session_row: '_session_row',
  session_part: '_session_part',
  regroup_sessions: '_regroup_sessions',
  fold_sessions: '_fold_sessions',
  write_sessions: '_write_sessions',
} as const;

/** Constraints and indexes, whose names PostgreSQL keeps within the schema of their table: here, that of gold. */
const localSuffixes = {
  ledger_version_key: '_version_key',
  ledger_by_run: '_by_run',
  ledger_by_key: '_by_key',
  late_event_once: '_late_event_once',
  late_event_waiting: '_late_event_waiting',
  late_event_by_event: '_late_event_by_event',
  late_event_key: '_late_event_key',
  late_event_released: '_late_event_released',
  // 15 bytes: what follows is cut off where gold has the longest name, and would then be another index's
  late_event_run: '_late_event_run',
  late_event_back: '_late_event_back',
  watermark_log_by_time: '_watermark_log_by_time',
} as const;

/** The same in the schema of the control tables, where gold tables of one name may meet. */
const privateLocalSuffixes = {
  touched_once: '_touched_once',
  copy_once: '_copy_once',
  session_key_once: '_session_key_once',
  session_by_key: '_session_by_key',
  session_due: '_session_due',
  session_replaced: '_session_replaced',
  session_replaced_by_run: '_session_replaced_by_run',
  session_row_by_session: '_session_row_by_session',
  session_part_of: '_session_part_of',
  override_once: '_override_once',
  past_state_by_start: '_past_state_by_start',
  emission_by_key: '_emission_by_key',
  partial_by_key: '_partial_by_key',
  partial_by_partition: '_partial_by_partition',
} as const;

/** What the private relations, functions, constraints and indexes of a rollup are called after its name. */
export const privateNames: readonly string[] = [
  ...Object.values(privateSuffixes),
  ...Object.values(privateLocalSuffixes),
];

type Names = typeof publicSuffixes &
  typeof privateSuffixes &
  typeof localSuffixes &
  typeof privateLocalSuffixes;

/** The relations and functions of a rollup, whether they are there or not, as the catalog holds their names. */
export function namesOf({
  settings,
  schema,
}: Pick<Rollup, 'settings' | 'schema'>): Record<
  keyof typeof publicSuffixes | keyof typeof privateSuffixes,
  TableName
> {
  const entries = [
    ...Object.entries(publicSuffixes).map(([relation, suffix]) => [
      relation,
      { schema: settings.gold.schema, name: settings.gold.name + suffix },
    ]),
    ...Object.entries(privateSuffixes).map(([relation, suffix]) => [
      relation,
      { schema, name: settings.name + suffix },
    ]),
  ];
  return Object.fromEntries(entries);
}

export function relationsOf(rollup: Rollup): Record<keyof Names, Sql> {
  const { gold, name } = rollup.settings;
  const entries = [
    ...Object.entries(namesOf(rollup)).map(([relation, table]) => [relation, quoteTable(table)]),
    ...Object.entries(localSuffixes).map(([relation, suffix]) => [relation, quoteName(gold.name + suffix)]),
    ...Object.entries(privateLocalSuffixes).map(([relation, suffix]) => [relation, quoteName(name + suffix)]),
  ];
  return Object.fromEntries(entries);
}
