-- What the job's role lacks of what is not Errata's: temporary tables, and rights on tables of the user's. Rows out: one a
-- right; all of them where the role is not there yet.
--
-- $1 job: role
-- $2 schemas, $3 names, $4 privileges: text[], a line each table and privilege
--
-- Safe to repeat: it reads.
with job as (
  select (select r.oid from pg_catalog.pg_roles as r where r.rolname = $1::text) as oid
),
needed as (
  select distinct n.oid as schema_id, c.oid as relation_id, w.schema, w.name, w.privilege
  from unnest($2::text[], $3::text[], $4::text[]) as w (schema, name, privilege)
  join pg_catalog.pg_namespace as n on n.nspname = w.schema
  join pg_catalog.pg_class as c on c.relnamespace = n.oid and c.relname = w.name
)
select 'database' as kind, '' as schema, '' as name, current_database()::text as database, 'temporary' as privilege
from job as j
where not coalesce(has_database_privilege(j.oid, current_database(), 'temporary'), false)
union all
select distinct 'schema', s.schema, '', '', 'usage'
from needed as s
cross join job as j
where not coalesce(has_schema_privilege(j.oid, s.schema_id, 'usage'), false)
union all
select 'table', s.schema, s.name, '', s.privilege
from needed as s
cross join job as j
where not coalesce(has_table_privilege(j.oid, s.relation_id, s.privilege), false)
order by kind, schema, name, privilege
