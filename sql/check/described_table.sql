-- One table or view of the user's as `errata init` fills a file from it. Rows out: one; none where there is no such table.
--
-- $1 schema, $2 name: text
with chosen as (
  select c.oid, n.nspname, c.relname
  from pg_catalog.pg_class as c
  join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = $1::text
    and c.relname = $2::text
    and c.relkind in ('r', 'p', 'v', 'm', 'f')
),
plain_index as (
  select
    i.indexrelid,
    i.indisprimary,
    i.indisunique,
    array(
      select a.attname::text
      from unnest(i.indkey::smallint[]) with ordinality as k (attnum, place)
      join pg_catalog.pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where k.place <= i.indnkeyatts
      order by k.place
    ) as columns
  from chosen as c
  join pg_catalog.pg_index as i on i.indrelid = c.oid
  where i.indexprs is null
    and i.indpred is null
    and i.indisvalid
)
select
  c.nspname as schema,
  c.relname as name,
  (
    select coalesce(jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum), '[]')
    from pg_catalog.pg_attribute as a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  ) as columns,
  coalesce((select to_jsonb(p.columns) from plain_index as p where p.indisprimary), '[]') as primary_key,
  (
    select coalesce(jsonb_agg(jsonb_build_object('columns', p.columns, 'unique', p.indisunique)), '[]')
    from plain_index as p
    where not p.indisprimary
  ) as indexes,
  coalesce(
    (
      select jsonb_agg(a.attname order by k.place)
      from pg_catalog.pg_partitioned_table as t
      cross join lateral unnest(t.partattrs::smallint[]) with ordinality as k (attnum, place)
      join pg_catalog.pg_attribute as a on a.attrelid = t.partrelid and a.attnum = k.attnum
      where t.partrelid = c.oid
    ),
    '[]'
  ) as partition_key
from chosen as c
