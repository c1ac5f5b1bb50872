-- The indexes that could serve the recompute, ingestion partition by ingestion partition. Rows out: one an index and
-- leaf of bronze, with its key columns in order, names unquoted and expressions as SQL; one with NULL for a leaf without any.
--
-- $1 relation_id: oid of bronze
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
select
  t.oid::text as relation_id,
  t.oid::regclass::text as relation,
  (
    select array_agg(coalesce(a.attname::text, pg_get_indexdef(i.indexrelid, k.place::integer, false)) order by k.place)
    from unnest(i.indkey::smallint[]) with ordinality as k (attnum, place)
    left join pg_catalog.pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.attnum
    where k.place <= i.indnkeyatts
  ) as columns
from tree as t
left join (
  pg_catalog.pg_index as i
  join pg_catalog.pg_class as x on x.oid = i.indexrelid
  join pg_catalog.pg_am as m on m.oid = x.relam and m.amname = 'btree'
) on i.indrelid = t.oid and i.indpred is null and i.indisvalid
where t.relkind in ('r', 'm', 'f')
