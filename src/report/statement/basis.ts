/** What a statement is of: a rollup as it was defined then, a period, and the instant of which it tells (R11, R12). */
import type { Rollup } from '../../catalog/rollup.ts';
import { readInstant } from '../../config/instant.ts';
import type { RollupSettings, Settings } from '../../config/settings.ts';
import { quoteName } from '../../db/identifiers.ts';
import { query } from '../../db/statement.ts';
import type { ControlTransaction } from '../../db/transaction.ts';
import { Failure } from '../../failure.ts';
import type { Link } from '../evidence/evidence.ts';
import { refuseUnkept } from '../known-at.ts';
import { publishedRollup } from '../published-rollup.ts';
import { spanOfPeriod } from '../reconcile/period.ts';

export interface Asked {
  readonly period: string;
  /** An instant or a date. */
  readonly at?: string | undefined;
  readonly mark?: string | undefined;
}

/** Instants are text, as in `2026-10-31T00:00:00.123456Z`. */
export interface Basis {
  /** With the measures that it had then, by name. */
  readonly rollup: Rollup;
  readonly period: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly timeZone: string;
  readonly stamp: string;
  /** The name that it was asked by; null: by an instant. */
  readonly mark: string | null;
  readonly close: Close | null;
  /** The head of the chain then; null: nothing was hashed yet. */
  readonly digest: Link | null;
  readonly sweep: Sweep | null;
}

/** The last close that stood by then. */
export interface Close {
  readonly act: 'soft_close' | 'hard_close';
  readonly actor: string;
  readonly reason: string | null;
  readonly closed_at: string;
  readonly is_forced: boolean;
  readonly posting_role: string | null;
  /** Null: it was not reopened since. */
  readonly reopened_at: string | null;
}

/** What `reconcile` had found by then. */
export interface Sweep {
  readonly reconciliation_id: string;
  readonly swept_at: string;
  readonly stamp: string;
  readonly actor: string | null;
  readonly keyed_windows: string;
  readonly unexplained: string;
  readonly result_hash: string;
}

/** How an instant leaves the database: no session setting changes it. */
export const iso = (expression: string) => `to_json(${expression} at time zone 'UTC') #>> '{}' || 'Z'`;

/** @throws Failure, exit code 2, where there is no such period or mark, or what was known then is not on record. */
export async function readBasis(
  transaction: ControlTransaction,
  settings: Settings,
  chosen: RollupSettings,
  asked: Asked,
): Promise<Basis> {
  const rollup = await publishedRollup(transaction, settings, chosen);
  const schema = quoteName(settings.schema);
  const { stamp, mark } = await readStamp(transaction, settings, rollup, asked);
  await refuseUnsettled(transaction, rollup, stamp);
  await refuseUnkept(transaction, rollup, stamp);
  const [act] = await query<{ from: string; to: string }>(
    transaction,
    `select ${iso('a.period_start')} as "from", ${iso('a.period_end')} as "to"
     from ${schema}.period_act as a
     where a.rollup_id = $1 and a.period = $2 and a.act <> 'reopen' and a.acted_at <= $3::timestamptz
     order by a.act_id desc limit 1`,
    [rollup.id, asked.period, stamp],
  );
  const span = act ?? (await spanOfPeriod(transaction, rollup, asked.period));
  const [bounds] = await query<{ from: string; to: string }>(
    transaction,
    `select ${iso('$1::timestamptz')} as "from", ${iso('$2::timestamptz')} as "to"`,
    [span.from as string, span.to as string],
  );
  const known = await measuresThen(transaction, rollup, stamp);
  return {
    rollup: {
      ...rollup,
      // the order of the settings may change without anybody's notice
      measures: rollup.measures
        .filter(({ name }) => known?.includes(name) ?? true)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    },
    period: asked.period,
    periodStart: bounds?.from as string,
    periodEnd: bounds?.to as string,
    timeZone: settings.periods.timeZone,
    stamp,
    mark,
    close: await readClose(transaction, rollup, stamp, span.from as string),
    digest: await readDigestThen(transaction, rollup, stamp),
    sweep: null,
  };
}

async function readStamp(
  transaction: ControlTransaction,
  settings: Settings,
  { id, settings: { name } }: Rollup,
  { period, at, mark }: Asked,
): Promise<{ stamp: string; mark: string | null }> {
  const schema = quoteName(settings.schema);
  if (at !== undefined) {
    const reading = readInstant(at);
    if ('wrong' in reading) throw new Failure(`--at ${JSON.stringify(at)} ${reading.wrong}`, { exitCode: 2 });
    const [row] = await query<{ stamp: string }>(
      transaction,
      `select ${iso(at.length === 10 ? '($1::timestamp at time zone $2)' : '$1::timestamptz')} as stamp`,
      at.length === 10 ? [at, settings.periods.timeZone] : [at],
    );
    return { stamp: row?.stamp as string, mark: null };
  }
  const [found] = await query<{ name: string; stamp: string }>(
    transaction,
    mark === undefined
      ? `select m.name, ${iso('a.acted_at')} as stamp
         from ${schema}.period_act as a
         join ${schema}.mark as m on m.rollup_id = a.rollup_id and m.stamp = a.acted_at
         where a.rollup_id = $1 and a.period = $2 and a.act <> 'reopen'
         order by a.act_id desc limit 1`
      : `select m.name, ${iso('m.stamp')} as stamp
         from ${schema}.mark as m
         where (m.rollup_id = $1 or m.rollup_id is null) and m.name = $2`,
    [id, mark ?? period],
  );
  if (found) return { stamp: found.stamp, mark: found.name };
  throw mark === undefined
    ? new Failure(`period ${period} of rollup "${name}" was never closed`, {
        detail: 'without a close nothing says which instant the statement is to tell of',
        hint: `close it with \`errata close\`, or make a mark with \`errata mark\` and name it with --mark, or name an instant with --at`,
        exitCode: 2,
      })
    : new Failure(`there is no mark ${JSON.stringify(mark)}`, {
        hint: '`errata mark` lists them, and makes one',
        exitCode: 2,
      });
}

async function refuseUnsettled(
  transaction: ControlTransaction,
  { id, schema, settings: { name } }: Rollup,
  stamp: string,
): Promise<void> {
  const [known] = await query<{
    settled_until: string;
    is_settled: boolean;
  }>(
    transaction,
    `select r.settled_until::text as settled_until, $2::timestamptz <= r.settled_until as is_settled
     from ${quoteName(schema)}.rollup as r where r.rollup_id = $1`,
    [id, stamp],
  );
  if (!known?.is_settled)
    throw new Failure('what was known then is not settled yet', {
      detail: `a publication of rollup "${name}" may still fall before ${stamp}; settled until ${known?.settled_until}`,
      hint: 'ask for an earlier instant, or again after the next run',
      exitCode: 2,
    });
}

/** A measure that came later is in no version of then. Undefined: the definition of then is not on record. */
async function measuresThen(
  transaction: ControlTransaction,
  { id, schema }: Rollup,
  stamp: string,
): Promise<readonly string[] | undefined> {
  const [row] = await query<{ measures: string[] }>(
    transaction,
    `select array(select jsonb_object_keys(d.definition -> 'measures')) as measures
     from ${quoteName(schema)}.applied_definition as a
     join ${quoteName(schema)}.definition as d on d.fingerprint = a.definition_fingerprint
     where a.rollup_id = $1 and a.applied_at <= $2::timestamptz
     order by a.applied_at desc, a.applied_id desc limit 1`,
    [id, stamp],
  );
  return row?.measures;
}

async function readClose(
  transaction: ControlTransaction,
  { id, schema }: Rollup,
  stamp: string,
  start: string,
): Promise<Close | null> {
  const [row] = await query<Close>(
    transaction,
    `select a.act, a.actor, a.reason, ${iso('a.acted_at')} as closed_at, a.is_forced, a.posting_role,
       (select ${iso('min(o.acted_at)')} from ${quoteName(schema)}.period_act as o
        where o.rollup_id = a.rollup_id and o.act = 'reopen' and o.act_id > a.act_id and o.acted_at <= $2::timestamptz
          and o.period_start <= $3::timestamptz and o.period_end > $3::timestamptz) as reopened_at
     from ${quoteName(schema)}.period_act as a
     where a.rollup_id = $1 and a.act <> 'reopen' and a.acted_at <= $2::timestamptz
       and a.period_start <= $3::timestamptz and a.period_end > $3::timestamptz
     order by a.act_id desc limit 1`,
    [id, stamp, start],
  );
  return row ?? null;
}

async function readDigestThen(
  transaction: ControlTransaction,
  { id, schema }: Rollup,
  stamp: string,
): Promise<Link | null> {
  const [row] = await query<Link>(
    transaction,
    `select r.run_id::text as run_id, ${iso('r.stamp')} as stamp, encode(r.hash, 'hex') as head,
       count(*) over (order by r.run_id)::text as links, sum(r.versions_hashed) over (order by r.run_id)::text as versions
     from ${quoteName(schema)}.run as r
     where r.rollup_id = $1 and r.hash is not null and r.stamp <= $2::timestamptz
     order by r.run_id desc limit 1`,
    [id, stamp],
  );
  return row ?? null;
}

/** A sweep that is being stored at this moment may be on record by an instant before: asked outside the snapshot. */
export async function refuseWhileStoring(transaction: ControlTransaction, schema: string): Promise<void> {
  const [row] = await query<{ is_storing: boolean }>(
    transaction,
    `select exists (
       select from pg_catalog.pg_locks as l
       where l.locktype = 'relation' and l.mode = 'RowExclusiveLock' and l.relation = to_regclass($1)
         and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
     ) as is_storing`,
    [`${quoteName(schema)}.reconciliation`],
  );
  if (!row?.is_storing) return;
  throw new Failure('a sweep of `errata reconcile` is being stored at this moment', {
    detail: 'it may belong to the statement',
    hint: 'nothing was done; run the command again',
    exitCode: 4,
  });
}
