/** A report as of a mark or an instant: what was published by then, by the stamps of versions (R11). */
import type { Rollup } from '../catalog/rollup.ts';
import { readInstant } from '../config/instant.ts';
import { quoteName } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import { instantText } from './instant-text.ts';

export interface KnownAt {
  readonly mark: string | null;
  readonly at: string;
}

export interface KnownAtFlags {
  readonly mark?: string | undefined;
  readonly at?: string | undefined;
}

export const knownAtOptions = [
  { flags: '--mark <NAME>', description: 'as it was known when this mark was made' },
  { flags: '--at <TIME>', description: 'as it was known at this instant' },
] as const;

/**
 * @returns null where neither is named. @throws Failure, exit code 2, for both, for a mark that there is not or that is of
 * another rollup, and for an instant before which a publication may still fall.
 */
export async function knownAt(
  transaction: ControlTransaction,
  { schema, id, settings: { name } }: Rollup,
  { mark, at }: KnownAtFlags,
): Promise<KnownAt | null> {
  if (mark === undefined && at === undefined) return null;
  if (mark !== undefined && at !== undefined)
    throw wrong('--mark and --at contradict each other', undefined, 'leave one of them out');
  const instant =
    mark === undefined ? readAt(at as string) : await stampOfMark(transaction, schema, mark, id, name);
  const [row] = await query<{ instant: string; settled: string; is_settled: boolean }>(
    transaction,
    `select $2::timestamptz::text as instant, r.settled_until::text as settled, $2::timestamptz <= r.settled_until as is_settled
     from ${quoteName(schema)}.rollup as r where r.rollup_id = $1`,
    [id, instant],
  );
  if (!row?.is_settled)
    throw wrong(
      `what was known then is not settled yet for rollup "${name}"`,
      `a publication may still fall before ${row?.instant}; settled until ${row?.settled}`,
      'ask for an earlier instant, or again after the next run',
    );
  return { mark: mark ?? null, at: row.instant };
}

/** As `knownAt`, for what tells of states too. @throws Failure as `knownAt` and `refuseUnkept` */
export async function statesKnownAt(
  transaction: ControlTransaction,
  rollup: Rollup,
  flags: KnownAtFlags,
): Promise<KnownAt | null> {
  const known = await knownAt(transaction, rollup, flags);
  if (known) await refuseUnkept(transaction, rollup, known.at);
  return known;
}

/** @throws Failure, exit code 2, for an instant from before states of late events and proposals were kept. */
export async function refuseUnkept(
  transaction: ControlTransaction,
  { schema, id, settings: { name } }: Rollup,
  stamp: string,
): Promise<void> {
  const [known] = await query<{ since: string; is_kept: boolean }>(
    transaction,
    `select r.states_since::text as since, $2::timestamptz >= r.states_since as is_kept
     from ${quoteName(schema)}.rollup as r where r.rollup_id = $1`,
    [id, stamp],
  );
  if (!known?.is_kept)
    throw wrong(
      'what was pending then is not on record',
      `past states of rollup "${name}" are kept since ${known?.since}: an earlier version of Errata kept only the present ones`,
      'ask for a later instant',
    );
}

/** As in `2026-11-03 09:00:00Z (2026-10 close)`. */
export const knownAtText = ({ mark, at }: KnownAt) =>
  `${instantText(at)}${mark === null ? '' : ` (${mark})`}`;

function readAt(text: string): string {
  const reading = readInstant(text);
  if ('value' in reading) return reading.value;
  throw wrong(
    `--at ${JSON.stringify(text)} ${reading.wrong}`,
    undefined,
    '`errata mark` lists the marks, which --mark takes',
  );
}

async function stampOfMark(
  transaction: ControlTransaction,
  schema: string,
  name: string,
  rollupId: number,
  rollup: string,
): Promise<string> {
  const [mark] = await query<{ stamp: string; of: string | null; is_ours: boolean }>(
    transaction,
    `select m.stamp::text as stamp, r.name as of, coalesce(m.rollup_id = $2, true) as is_ours
     from ${quoteName(schema)}.mark as m
     left join ${quoteName(schema)}.rollup as r on r.rollup_id = m.rollup_id
     where m.name = $1`,
    [name, rollupId],
  );
  if (mark?.is_ours) return mark.stamp;
  throw mark
    ? wrong(
        `mark ${JSON.stringify(name)} is of rollup "${mark.of}", not of "${rollup}"`,
        undefined,
        'name its rollup, or another mark',
      )
    : wrong(
        `there is no mark ${JSON.stringify(name)}`,
        undefined,
        '`errata mark` lists them, and makes one; --at takes an instant',
      );
}

function wrong(message: string, detail: string | undefined, hint: string): Failure {
  return new Failure(message, { detail, hint, exitCode: 2 });
}
