-- Scan: whether every leaf of bronze has an index that begins with the event id, so that a few ids can be looked up
-- without a read of bronze.
--
-- $1 relation_id: oid of bronze
-- $2 column: the event id
--
-- Rows out: one. Reads only.
with recursive tree as (
  select c.oid, c.relkind
  from pg_catalog.pg_class as c
  where c.oid = $1::oid
  union all
  select i.inhrelid, c.relkind
  from tree as t
  join pg_catalog.pg_inherits as i on i.inhparent = t.oid
  join pg_catalog.pg_class as c on c.oid = i.inhrelid
)
select coalesce(bool_and(exists (
  select from pg_catalog.pg_index as x
  join pg_catalog.pg_attribute as a on a.attrelid = x.indrelid and a.attnum = x.indkey[0]
  where x.indrelid = t.oid and x.indisvalid and x.indpred is null and a.attname = $2::text
)), false) as has_index
from tree as t
where t.relkind in ('r', 'm')
