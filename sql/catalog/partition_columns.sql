-- The columns that bronze and its partitions are divided by. Rows out: one a column; is_expression where a key is none.
--
-- $1 relation_id: oid of bronze
with recursive tree as (
  select $1::oid as oid
  union all
  select i.inhrelid
  from tree as t
  join pg_catalog.pg_inherits as i on i.inhparent = t.oid
)
select distinct a.attname as column_name, k.attnum = 0 as is_expression
from tree as t
join pg_catalog.pg_partitioned_table as p on p.partrelid = t.oid
cross join lateral unnest(p.partattrs::smallint[]) as k (attnum)
left join pg_catalog.pg_attribute as a on a.attrelid = t.oid and a.attnum = k.attnum
