-- The columns of a rollup's ledger and of its reconciliation, as the catalogue has them. Rows out: one a column.
--
-- $1 gold_schema, $2 gold_name: text
--
-- Safe to repeat: it reads.
select
  case when c.relname = $2::text then 'ledger' else 'reconciliation' end as relation,
  a.attname as column_name,
  pg_catalog.format_type(a.atttypid, a.atttypmod) as column_type
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where n.nspname = $1::text
  and c.relname in ($2::text, $2::text || '_reconciliation')
order by c.relname, a.attnum
