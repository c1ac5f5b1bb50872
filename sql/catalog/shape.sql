-- The columns of a relation in their order. Rows out: one a column; `collation_name`: where it is not that of its type.
-- Safe to repeat: it reads.
--
-- $1 relation: as it is written in SQL
select
  a.attname as name,
  format_type(a.atttypid, a.atttypmod) as type,
  case when a.attcollation <> t.typcollation then c.collname end as collation_name,
  n.nspname as collation_schema
from pg_attribute as a
join pg_type as t on t.oid = a.atttypid
left join pg_collation as c on c.oid = a.attcollation
left join pg_namespace as n on n.oid = c.collnamespace
where a.attrelid = to_regclass($1::text) and a.attnum > 0 and not a.attisdropped
order by a.attnum
