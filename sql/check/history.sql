-- How large bronze is and over which event times, from what the database keeps of it; bronze itself is not read.
-- Rows out: one. The bounds are those of the statistics (the outermost of about 100 values that ANALYZE saw), text, NULL
-- where there are none.
--
-- $1 relation_id: oid of bronze
-- $2 column: its event time
with recursive tree as (
  select $1::oid as oid
  union all
  select i.inhrelid
  from tree as t
  join pg_catalog.pg_inherits as i on i.inhparent = t.oid
),
histogram as (
  select s.histogram_bounds::text::text[] as bounds
  from pg_catalog.pg_stats as s
  join pg_catalog.pg_class as c on c.relname = s.tablename
  join pg_catalog.pg_namespace as n on n.oid = c.relnamespace and n.nspname = s.schemaname
  where c.oid in (select t.oid from tree as t)
    and s.attname = $2::text
    and s.histogram_bounds is not null
)
select
  (select sum(pg_relation_size(t.oid)) from tree as t)::text as bytes,
  (select count(*) from tree as t join pg_catalog.pg_class as c on c.oid = t.oid where c.relkind <> 'p')::integer as partitions,
  (select min(h.bounds[1]) from histogram as h) as first,
  (select max(h.bounds[cardinality(h.bounds)]) from histogram as h) as last
