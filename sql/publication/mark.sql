-- Mark: a named instant up to which everything of every rollup is settled (R11). Called with the locks of all their runs held,
-- so no run is in flight; stamps to come are later.
--
-- $1 rollups: integer[]
-- $2 name: text
-- $3 actor: text
--
-- What a stream began to insert before is not settled: then there is no row, and nothing is done. Rows out: one, the mark.
-- Not repeatable: a name is taken once.
with chosen as materialized (
  select
    greatest(clock_timestamp(), max(r.last_stamp), max(r.settled_until)) as stamp,
    -- an insert that is under way may get any stamp from the second on in which it began
    (
      select to_timestamp(min(l.objid::bigint))
      from pg_catalog.pg_locks as l
      where l.locktype = 'advisory'
        and l.classid = /*:stream_lock*/7431/*.*/
        and l.objsubid = 2
        and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
    ) as inserting_since
  from /*:schema*/errata/*.*/.rollup as r
  where r.rollup_id = any ($1::integer[])
),
settled as (
  update /*:schema*/errata/*.*/.rollup as r
  set settled_until = c.stamp, last_stamp = c.stamp
  from chosen as c
  where r.rollup_id = any ($1::integer[]) and c.inserting_since is null
)
insert into /*:schema*/errata/*.*/.mark (name, stamp, actor, made_at)
select $2::text, c.stamp, $3::text, clock_timestamp()
from chosen as c
where c.inserting_since is null
returning stamp::text as stamp
