-- A table that the stream writes for Errata to read: its log, its result table, or its refused rows. Rows out: one;
-- is_there is false and the columns are empty where there is none. Types as format_type writes them, without lengths.
--
-- $1 schema, $2 name: text
select
  c.oid is not null as is_there,
  coalesce(has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, 'select'), false) as is_readable,
  array(
    select a.attname::text
    from pg_catalog.pg_attribute as a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    order by a.attnum
  ) as columns,
  array(
    select format_type(a.atttypid, null)
    from pg_catalog.pg_attribute as a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    order by a.attnum
  ) as types
from (select 1) as one
left join (
  pg_catalog.pg_class as c
  join pg_catalog.pg_namespace as n on n.oid = c.relnamespace and n.nspname = $1::text
) on c.relname = $2::text and c.relkind in ('r', 'p', 'v', 'm', 'f')
