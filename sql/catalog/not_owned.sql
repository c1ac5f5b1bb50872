-- What Errata made and another role than the job's owns: made before `roles.job` was set, or by hand. Rows out: one a
-- relation or function.
--
-- $1 job: role
-- $2 kinds, $3 schemas, $4 names: text[]; kinds are table and function
--
-- Safe to repeat: it reads.
select
  case when w.kind = 'function' then 'routine' when c.relkind = 'v' then 'view' when c.relkind = 'S' then 'sequence' else 'table' end as kind,
  w.schema,
  w.name
from unnest($2::text[], $3::text[], $4::text[]) as w (kind, schema, name)
join pg_catalog.pg_namespace as n on n.nspname = w.schema
left join pg_catalog.pg_class as c
  on w.kind = 'table' and c.relnamespace = n.oid and c.relname = w.name and c.relkind in ('r', 'v', 'p', 'S')
left join pg_catalog.pg_proc as p on w.kind = 'function' and p.pronamespace = n.oid and p.proname = w.name
where coalesce(c.relowner, p.proowner) <> (select r.oid from pg_catalog.pg_roles as r where r.rolname = $1::text)
order by w.schema, w.name
