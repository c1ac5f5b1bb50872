-- The ingestion partitions of bronze as the catalogue has them now, whatever their names say (R16). A table without
-- partitions is its own only one. A partition whose detaching is under way is not read through its parent any more.
-- Rows out: one a leaf.
--
-- $1 relation_id: oid of bronze
with recursive tree as (
  select c.oid, c.relkind, 0 as depth
  from pg_catalog.pg_class as c
  where c.oid = $1::oid
  union all
  select i.inhrelid, c.relkind, t.depth + 1
  from tree as t
  join pg_catalog.pg_inherits as i on i.inhparent = t.oid and not i.inhdetachpending
  join pg_catalog.pg_class as c on c.oid = i.inhrelid
)
select
  t.oid::text as relation_id,
  format('%I.%I', n.nspname, c.relname) as relation,
  t.relkind as kind,
  pg_get_expr(c.relpartbound, c.oid) as bounds,
  -- with the ancestors' bounds
  pg_get_partition_constraintdef(t.oid) as constraint_text,
  -- the constraint then names columns that the rollup may not read
  exists (
    select from tree as p
    join pg_catalog.pg_partitioned_table as k on k.partrelid = p.oid
    where k.partexprs is not null
  ) as has_expression,
  -- A transaction that writes to it now may commit after it was read: then it is read again, whatever the counters say.
  exists (
    select from pg_catalog.pg_locks as l
    where l.relation = t.oid
      and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
      and l.mode = 'RowExclusiveLock'
  ) as is_being_written,
  a.activity,
  concat_ws(' ', a.activity, pg_stat_get_tuples_deleted(t.oid)) as content,
  t.relkind in ('r', 'm') and pg_relation_size(t.oid) = 0 as is_empty
from tree as t
join pg_catalog.pg_class as c on c.oid = t.oid
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
cross join lateral (
  -- Whatever was written since shows in one of these: the counters, the size, a new file, a reset of the counters,
  -- a restart that may have lost some.
  select concat_ws(' ',
    pg_stat_get_tuples_inserted(t.oid),
    pg_stat_get_tuples_updated(t.oid),
    pg_relation_size(t.oid),
    pg_relation_filenode(t.oid),
    (select extract(epoch from d.stats_reset) from pg_catalog.pg_stat_database as d where d.datname = current_database()),
    extract(epoch from pg_postmaster_start_time())
  ) as activity
) as a
where t.relkind not in ('p', 'I')
order by n.nspname, c.relname
