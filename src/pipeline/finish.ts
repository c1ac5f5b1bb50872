/** Finish: move the frontier and settle what is known, in the commit that publishes (R6, R11). */
import { streamLock } from '../catalog/bindings.ts';
import { quoteName } from '../db/identifiers.ts';
import { query } from '../db/statement.ts';
import type { RunContext, Sealing } from './context.ts';

/** The instant of publication: the database's clock, and later than every stamp before, also when the clock steps back. */
export async function takeStamp(run: RunContext): Promise<string> {
  const [row] = await query<{ stamp: string }>(
    run.transaction,
    `select greatest(clock_timestamp(), r.last_stamp + interval '1 microsecond', r.settled_until + interval '1 microsecond')::text as stamp
     from ${quoteName(run.rollup.schema)}.rollup as r where r.rollup_id = $1`,
    [run.rollup.id],
  );
  return row?.stamp as string;
}

export async function finish(
  run: RunContext,
  sealing: Sealing,
  stamp: string,
  outcome: 'done' | 'attention',
  counts: Readonly<Record<string, number | string>>,
  stageMilliseconds: Readonly<Record<string, number>>,
): Promise<void> {
  const schema = quoteName(run.rollup.schema);
  // A stream's insert holds a lock whose second half is the second in which it began: nothing later is settled yet.
  await query(
    run.transaction,
    `update ${schema}.rollup as r
     set
       frontier = greatest(r.frontier, $2::timestamptz),
       sealed_until = $3::timestamptz,
       last_stamp = $4::timestamptz,
       settled_until = greatest(r.settled_until, least($4::timestamptz, (
         select to_timestamp(min(l.objid::bigint)) - interval '1 microsecond'
         from pg_catalog.pg_locks as l
         where l.locktype = 'advisory' and l.classid = ${streamLock} and l.objsubid = 2
           and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
       ))),
       system_identifier = (select system_identifier from pg_control_system())
     where r.rollup_id = $1`,
    [run.rollup.id, run.bound, sealing.until, stamp],
  );
  await query(
    run.transaction,
    `update ${schema}.run as r
     set outcome = $2, finished_at = clock_timestamp(), stamp = $3::timestamptz, counts = $4::jsonb, stage_milliseconds = $5::jsonb
     where r.run_id = $1`,
    [run.runId, outcome, stamp, JSON.stringify(counts), JSON.stringify(stageMilliseconds)],
  );
}
