/** Which rows of bronze are looked at, by `ingested_at`. Without a word: the last 30 days that bronze holds. */
import { bindingsOf } from '../../catalog/bindings.ts';
import type { Rollup } from '../../catalog/rollup.ts';
import { formatTableName } from '../../config/name.ts';
import { quoteName } from '../../db/identifiers.ts';
import { execute, prepare, query } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import { instantText } from '../instant-text.ts';
import { type KnownAt, knownAtText } from '../known-at.ts';

/** Instants as text in UTC; half-open. */
export interface Range {
  readonly from: string;
  readonly to: string;
  /** The last row's ingested_at, where no end of the range was named; `to` is a microsecond later. */
  readonly greatest: string | null;
}

interface Held {
  readonly greatest: string | null;
  readonly from_instant: string | null;
  readonly to_instant: string | null;
}

/** @returns null where bronze is empty. @throws Failure, exit code 2, for a range that ends before it begins. */
export async function readRange(
  transaction: ControlTransaction,
  rollup: Rollup,
  asked: { readonly from: string | undefined; readonly to: string | undefined },
  zone: string,
): Promise<Range | null> {
  // Where both are given, nobody has to look for the greatest.
  const isWhole = asked.from !== undefined && asked.to !== undefined;
  const held = isWhole ? undefined : await readHeld(transaction, rollup);
  if (held && held.greatest === null) return null;
  const to = asked.to ?? (held?.to_instant as string);
  const [range] = await query<Pick<Range, 'from' | 'to'> & { readonly is_empty: boolean }>(
    transaction,
    `select f.at::text as from, t.at::text as to, f.at >= t.at as is_empty
     from (select ${instantOf('$2')} as at) as t
     cross join lateral (select coalesce(${instantOf('$1')}, t.at - interval '30 days') as at) as f`,
    [asked.from ?? (asked.to === undefined ? (held?.from_instant ?? null) : null), to, zone],
  );
  if (!range) throw new Error('a query of one row gave none');
  if (range.is_empty) {
    throw new Failure(
      `the range from ${instantText(range.from)} to ${instantText(range.to)} holds no instant`,
      { detail: 'it is half-open, and must end after it begins', hint: heldHint(held), exitCode: 2 },
    );
  }
  return {
    from: range.from,
    to: range.to,
    greatest: asked.to === undefined ? (held?.greatest ?? null) : null,
  };
}

/** Where the rows end that runs had examined by then. @throws Failure, exit code 2, where no run had. */
export async function examinedThen(
  transaction: ControlTransaction,
  { id, schema, settings: { name } }: Rollup,
  known: KnownAt,
): Promise<string> {
  const [row] = await query<{ to: string | null }>(
    transaction,
    `select (max(r.bound) + interval '1 microsecond')::text as "to" from ${quoteName(schema)}.run as r
     where r.rollup_id = $1 and r.stamp <= $2::timestamptz`,
    [id, known.at],
  );
  if (row?.to) return row.to;
  throw new Failure(`no run of rollup "${name}" had examined anything at ${knownAtText(known)}`, {
    hint: 'ask for a later instant',
    exitCode: 2,
  });
}

/** What to say where rows were asked for and none is there. */
export async function noRowInRange(
  transaction: ControlTransaction,
  rollup: Rollup,
  range: Range,
): Promise<Failure> {
  const bronze = formatTableName(rollup.settings.bronze.table);
  return new Failure(
    `no row of ${bronze} was ingested from ${instantText(range.from)} to ${instantText(range.to)}`,
    { hint: heldHint(await readHeld(transaction, rollup)), exitCode: 2 },
  );
}

async function readHeld(transaction: ControlTransaction, rollup: Rollup): Promise<Held> {
  const [clock] = await query<{ now: string }>(transaction, 'select clock_timestamp()::text as now');
  const statement = prepare('report/lateness_range.sql', bindingsOf(rollup));
  const { rows } = await execute<Held>(transaction, statement, {
    rollup_id: rollup.id,
    at: (clock as { now: string }).now,
  });
  return rows[0] as Held;
}

function heldHint(held: Held | undefined): string {
  if (held === undefined) return 'name a --to that is later than --from';
  if (held.greatest === null) return 'bronze is empty';
  return `the greatest ingested_at is ${instantText(held.greatest)}; name another --from and --to`;
}

/** A date stands for midnight in the zone, which is parameter 3. */
function instantOf(parameter: string): string {
  return `case when length(${parameter}::text) = 10 then ${parameter}::text::timestamp at time zone $3 else ${parameter}::text::timestamptz end`;
}
