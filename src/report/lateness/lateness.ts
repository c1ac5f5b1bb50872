/**
 * How late the rows of a range of bronze arrived, as data. Lateness is arrival less event time. All figures come out of
 * the database: lateness in seconds, shares of one (to ten digits) and amounts are exact decimal text.
 */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { formatTableName } from '../../config/name.ts';
import type { Duration } from '../../config/settings.ts';
import { trustedSql } from '../../db/identifiers.ts';
import type { Bindings } from '../../db/sql.ts';
import { execute, prepare } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { type Candidate, readCandidates } from './candidates.ts';
import { type Bar, readHistogram } from './histogram.ts';
import { noRowInRange, type Range, readRange } from './range.ts';
import { type Grouping, readSpread, type Spreads } from './spread.ts';
import { type Suggestion, suggest } from './suggestion.ts';

export type { Grouping };

export interface LatenessOptions {
  /** Dates or instants with an offset; dates are midnight in the zone of the calendar, else in UTC. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly groupings: readonly Grouping[];
  /** In any order, also with doubles. */
  readonly candidates: readonly Duration[];
}

/** A source partition's day whose median jumped, or most of whose rows are quarantined (`sql/report/lateness_jumps.sql`). */
export interface Jump {
  readonly day: string;
  readonly source_partition: string | null;
  readonly mark: 'p50' | 'quarantine';
  /** Of the mark `quarantine`: the quarantined ones. */
  readonly rows: string;
  readonly p50_before: string | null;
  readonly p50: string | null;
  /** All that there are; at most 1,000 are read. */
  readonly jumps: string;
}

export interface Lateness {
  readonly rollup: string;
  readonly bronze: string;
  /** Of ingested_at, half-open; null where bronze is empty. */
  readonly range: Range | null;
  /** Whose days are reported. */
  readonly time_zone: string;
  /** Taken out: further rows with an event id already seen in the window (R5). */
  readonly copies: string;
  /** Rows without a lateness, by reason (R4). */
  readonly set_aside: readonly { readonly reason: string; readonly rows: string }[];
  readonly whole: Spreads['whole'] | null;
  /** Null: not asked for. Greatest p99 first, at most 1,000. */
  readonly by_source: Spreads['groups'] | null;
  readonly by_key: Spreads['groups'] | null;
  readonly histogram: readonly Bar[];
  /** How `late` and `refused` are judged, whatever the strategy of the rollup is. */
  readonly reading: 'fixed_delay';
  readonly strategy: string;
  readonly allowed_lateness: string;
  /** Additive measures that are numbers. */
  readonly measures: readonly string[];
  readonly candidates: readonly Candidate[];
  readonly suggestion: Suggestion | null;
  /** By day of arrival, in order. */
  readonly days: Spreads['groups'];
  readonly jumps: readonly Jump[];
}

/** Most groups, days and jumps that are read. */
const atMost = 1000;

/** Reads bronze once, into a temporary table that ends with the transaction. @throws Failure, exit code 2, if the range holds no row. */
export async function readLateness(
  transaction: ControlTransaction,
  rollup: Rollup,
  options: LatenessOptions,
): Promise<Lateness> {
  const { settings } = rollup;
  const zone = settings.window.kind === 'calendar' ? settings.window.timeZone : 'UTC';
  const measures = rollup.measures.filter(({ isAdditive, isNumeric }) => isAdditive && isNumeric);
  const bindings = latenessBindings({ ...rollup, measures });
  const read = async <Row>(file: string, values: Parameters<typeof execute>[2] = {}): Promise<Row[]> =>
    (await execute<Row>(transaction, prepare(`report/${file}.sql`, bindings), values)).rows;

  const range = await readRange(transaction, rollup, options, zone);
  const base = {
    rollup: settings.name,
    bronze: formatTableName(settings.bronze.table),
    range,
    time_zone: zone,
    reading: 'fixed_delay',
    strategy: settings.watermark.strategy,
    allowed_lateness: settings.allowedLateness.text,
    measures: measures.map(({ name }) => name),
  } as const;
  if (range === null) return { ...base, ...nothing };
  await read('lateness_read', { from_instant: range.from, to_instant: range.to, zone });
  const [removed] = await read<{ copies: string }>('lateness_copies');
  const spread = (grouping: Parameters<typeof readSpread>[3]) =>
    readSpread(transaction, rollup, bindings, grouping, atMost);
  const [whole] = await spread('none');
  if (!whole || (whole.rows === '0' && whole.set_aside === '0'))
    throw await noRowInRange(transaction, rollup, range);
  const candidates = await readCandidates(
    transaction,
    { settings, measures },
    bindings,
    options.candidates,
    range,
    zone,
  );
  return {
    ...base,
    copies: removed?.copies ?? '0',
    set_aside: await read('lateness_set_aside'),
    whole,
    by_source: options.groupings.includes('source') ? await spread('source') : null,
    by_key: options.groupings.includes('key') ? await spread('key') : null,
    histogram: await readHistogram(transaction, bindings),
    candidates: candidates.configured,
    suggestion: suggest(candidates),
    days: await spread('day'),
    jumps: await read<Jump>('lateness_jumps', { at_most: atMost }),
  };
}

const nothing = {
  copies: '0',
  set_aside: [],
  whole: null,
  by_source: null,
  by_key: null,
  histogram: [],
  candidates: [],
  suggestion: null,
  days: [],
  jumps: [],
};

/** Of bronze's columns only what groups and measures need; rows that are unique have no twins to look for. */
function latenessBindings(rollup: Rollup): Bindings {
  const needed = [...rollup.keys, ...rollup.measured].map(({ name }) => name);
  const isUnique = rollup.settings.bronze.identity === 'unique_rows';
  return {
    ...bindingsOf({ ...rollup, columns: rollup.columns.filter(({ name }) => needed.includes(name)) }),
    twins: trustedSql(isUnique ? '1' : 'count(*) over (partition by r.errata_event_id collate "C")'),
  };
}
