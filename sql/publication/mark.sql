-- Mark: a named instant up to which everything of every rollup is settled (R11). Called with the locks of all their runs held,
-- so no run is in flight; stamps to come are later.
--
-- $1 rollups: integer[]
-- $2 name: text
-- $3 actor: text
-- $4 stamp: told to the streams already (sql/pipeline/finish/tell_stamp.sql)
--
-- What a stream began to insert before is not settled: then there is no row, and nothing is done. Rows out: one, the mark.
-- Not repeatable: a name is taken once.
with settled as (
  update /*:schema*/errata/*.*/.rollup as r
  set settled_until = $4::timestamptz, last_stamp = $4::timestamptz
  where r.rollup_id = any ($1::integer[])
    and not exists (
      select from pg_catalog.pg_locks as l
      where l.locktype = 'advisory'
        and l.classid = /*:stream_lock*/7431/*.*/
        and l.objsubid = 2
        and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
    )
  returning r.rollup_id
)
insert into /*:schema*/errata/*.*/.mark (name, stamp, actor, made_at)
select $2::text, $4::timestamptz, $3::text, clock_timestamp()
where exists (select from settled)
returning stamp::text as stamp
