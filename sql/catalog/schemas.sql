-- Where Errata makes its relations. Rows out: one a schema, there or not.
--
-- $1 schemas: text[]
-- $2 role: who is to make them
--
-- Safe to repeat: it reads.
select
  s.schema,
  n.oid is not null as is_there,
  coalesce(
    has_schema_privilege($2::text, n.oid, 'create') and has_schema_privilege($2::text, n.oid, 'usage'),
    false
  ) as may_create
from unnest($1::text[]) with ordinality as s (schema, place)
left join pg_catalog.pg_namespace as n on n.nspname = s.schema
order by s.place
