/** The ingestion partitions of bronze, and from when on bronze is complete (R15). */
import { type Executor, execute, prepare, query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { Rollup } from './rollup.ts';

export interface Partition {
  readonly relation_id: string;
  /** Schema and name, quoted where they need it. */
  readonly relation: string;
  readonly kind: string;
  /** As in `FOR VALUES FROM (…) TO (…)`; null for a table without partitions. */
  readonly bounds: string | null;
  /** What every row of it satisfies, as SQL over bronze's columns. */
  readonly constraint_text: string;
  /** No row of another partition satisfies it. */
  readonly is_told: boolean;
  /**
   * Its upper bound of ingested_at lies at or before the frontier: rows of now do not land in it any more.
   * Only then the activity may decide, since the counters arrive seconds late.
   */
  readonly is_past: boolean;
  /** Nor does one lie beyond the bound of the run: its upper bound lies at or before that. */
  readonly is_within_bound: boolean;
  /** All of them do: its lower bound lies beyond it. */
  readonly is_beyond_bound: boolean;
  /** Of ingested_at, as the catalogue writes it; null where the partition has none. */
  readonly lower_bound: string | null;
  readonly upper_bound: string | null;
  /** A transaction that has not ended holds a lock for writing on it. */
  readonly is_being_written: boolean;
  /** Differs, seconds later at the latest, when something was written to it. */
  readonly activity: string;
  /** Differs also when something was deleted from it. */
  readonly content: string;
  readonly is_empty: boolean;
}

/** Both null while a transaction writes to the partition. */
export type Activity = { readonly [member in 'activity' | 'content']: string | null };

interface PartitionRow
  extends Omit<
    Partition,
    | 'constraint_text'
    | 'is_told'
    | 'is_past'
    | 'is_within_bound'
    | 'is_beyond_bound'
    | 'lower_bound'
    | 'upper_bound'
  > {
  readonly constraint_text: string | null;
  readonly has_expression: boolean;
}

const statement = prepare('catalog/partitions.sql', {});

/** In the order of their names; one for a table or a view without partitions. @param run none: nothing is past */
export async function listPartitions(
  transaction: ControlTransaction,
  rollup: Rollup,
  run: { readonly frontier: string | null; readonly bound: string | null } = { frontier: null, bound: null },
): Promise<Partition[]> {
  const { ingestedAt } = rollup.times;
  const { rows } = await execute<PartitionRow>(transaction, statement, { relation_id: rollup.relationId });
  const bounds = rows.map((row) => boundsOf(row.constraint_text ?? '', ingestedAt.name));
  const isInstant = ingestedAt.type.endsWith('with time zone');
  const uppers = bounds.map(({ upper }) => (isInstant ? upper : null));
  const lowers = bounds.map(({ lower }) => (isInstant ? lower : null));
  const past = await areBefore(transaction, uppers, run.frontier);
  const reached = await areBefore(transaction, [...uppers, ...lowers], run.bound);
  return rows.map(({ has_expression: hasExpression, ...row }, place) => ({
    ...row,
    constraint_text: hasExpression ? 'true' : (row.constraint_text ?? 'true'),
    is_told: !hasExpression && row.constraint_text !== null,
    is_past: past[place] ?? false,
    is_within_bound: reached[place] ?? false,
    is_beyond_bound: lowers[place] !== null && reached[rows.length + place] === false,
    lower_bound: bounds[place]?.lower ?? null,
    upper_bound: uppers[place] ?? null,
  }));
}

/** What the activity of each partition is now, by its oid. */
export async function readActivities(
  executor: Executor,
  rollup: Rollup,
): Promise<ReadonlyMap<string, Activity>> {
  const { rows } = await execute<PartitionRow>(executor, statement, { relation_id: rollup.relationId });
  return new Map(
    rows.map(({ relation_id: id, is_being_written: isWritten, activity, content }) => [
      id,
      isWritten ? { activity: null, content: null } : { activity, content },
    ]),
  );
}

async function areBefore(
  transaction: ControlTransaction,
  instants: readonly (string | null)[],
  other: string | null,
): Promise<boolean[]> {
  if (other === null || instants.every((instant) => instant === null)) return [];
  const rows = await query<{ is_before: boolean }>(
    transaction,
    `select coalesce(nullif(u.instant, '')::timestamptz <= $2::timestamptz, false) as is_before
     from unnest($1::text[]) with ordinality as u (instant, place)
     order by u.place`,
    [instants.map((instant) => instant ?? ''), other],
  );
  return rows.map((row) => row.is_before);
}

/**
 * The lower bound of the earliest ingestion partition, as an instant of text; undefined where bronze is not divided by
 * ingested_at alone or the earliest has no lower end. A default partition is none: it takes what fits nowhere else.
 */
export function earliestBound(partitions: readonly Partition[]): string | undefined {
  const divided = partitions.filter(
    ({ bounds, lower_bound: lower }) => lower !== null || bounds !== 'DEFAULT',
  );
  const bounds = divided.flatMap(({ lower_bound: lower }) => lower ?? []);
  return bounds.length === divided.length ? bounds.sort()[0] : undefined;
}

/**
 * What a partition's constraint says of one column by itself:
 *
 *     ((at IS NOT NULL) AND (at >= '2026-10-29 …'::…) AND (at < '2026-10-30 …'::…))   → both
 *     ((k > 1) OR ((k = 1) AND (at >= '2026-10-29 …'::…)))                            → neither
 */
export function boundsOf(constraint: string, column: string): { lower: string | null; upper: string | null } {
  const names = [column, `"${column.replaceAll('"', '""')}"`];
  const literal = (operator: string) => {
    for (const conjunct of conjunctsOf(constraint)) {
      for (const name of names) {
        const start = `(${name} ${operator} '`;
        const found =
          conjunct.startsWith(start) && /^([^']+)'::[a-z ()0-9]+\)$/.exec(conjunct.slice(start.length));
        if (found) return found[1] ?? null;
      }
    }
    return null;
  };
  return { lower: literal('>='), upper: literal('<') };
}

/** The members, in their parentheses, that the whole joins by AND; none where it joins them otherwise. */
function conjunctsOf(constraint: string): string[] {
  const members: string[] = [];
  let between = '';
  let member = '';
  let depth = 0;
  // names and literals whole, whatever stands in them
  for (const [token] of constraint.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[\s\S]/g)) {
    if (token === '(') depth += 1;
    if (depth >= 2) member += token;
    else if (depth === 1 && token !== '(') between += token;
    if (token !== ')') continue;
    depth -= 1;
    if (depth !== 1) continue;
    members.push(member);
    member = '';
  }
  return /^( AND )*\)$/.test(between) ? members : [];
}
