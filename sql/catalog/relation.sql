-- One relation of the user's and its columns. Rows out: one a column; none where the relation does not exist.
--
-- $1 schema, $2 name: text
select
  current_user::text as role,
  c.oid::text as relation_id,
  c.relkind as kind,
  has_table_privilege(c.oid, 'select') as is_readable,
  has_schema_privilege(c.relnamespace, 'usage') as is_reachable,
  a.attname as column_name,
  format_type(a.atttypid, a.atttypmod) as column_type,
  a.atttypid::regtype::text as base_type,
  a.atttypid::text as type_id,
  has_column_privilege(c.oid, a.attnum, 'select') as is_column_readable
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where n.nspname = $1::text and c.relname = $2::text
order by a.attnum
