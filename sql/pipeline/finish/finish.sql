-- Finish: move the frontier, settle what is known and close the row of the run, in the commit that publishes (R6, R11).
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 bound: bound of this run
-- $4 sealed_until: the watermark that seals
-- $5 stamp: instant of publication
-- $6 outcome: text
-- $7 counts, $8 stage_milliseconds: jsonb
--
-- A stream's insert holds a lock whose second half is the second in which it began: nothing later is settled yet. One that
-- begins from here on stamps after this run (tell_stamp.sql).
-- Rows out: none. Safe to repeat.
with settled as (
  update /*:schema*/errata/*.*/.rollup as r
  set
    frontier = greatest(r.frontier, $3::timestamptz),
    sealed_until = $4::timestamptz,
    last_stamp = $5::timestamptz,
    settled_until = greatest(r.settled_until, least($5::timestamptz, (
      select to_timestamp(min(l.objid::bigint)) - interval '1 microsecond'
      from pg_catalog.pg_locks as l
      where l.locktype = 'advisory'
        and l.classid = /*:stream_lock*/7431/*.*/
        and l.objsubid = 2
        and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
    ))),
    system_identifier = (select system_identifier from pg_control_system()),
    database_id = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
  where r.rollup_id = $1::integer
),
-- whoever started it, the schedule need wait no longer
recovered as (
  delete from /*:schema*/errata/*.*/.back_off as b
  where b.rollup_id = $1::integer
    and exists (select from /*:schema*/errata/*.*/.run as u where u.run_id = $2::bigint and u.verb = 'run')
)
update /*:schema*/errata/*.*/.run as r
set
  outcome = $6::text,
  finished_at = clock_timestamp(),
  stamp = $5::timestamptz,
  counts = $7::jsonb,
  stage_milliseconds = $8::jsonb
where r.run_id = $2::bigint
