-- Who was given what on a relation, its columns or a function, beside its owner. Rows out: one a right; `role_name`: null for
-- everybody. Safe to repeat: it reads.
--
-- $1 kind: relation or function  $2 schema: of it  $3 name: of it
select g.grantee_name as role_name, g.privilege_type as privilege, g.is_grantable, g.column_name
from (
  select r.rolname as grantee_name, a.grantee, c.relowner as owner, a.privilege_type, a.is_grantable, null::name as column_name
  from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  cross join lateral aclexplode(c.relacl) as a
  left join pg_roles as r on r.oid = a.grantee
  where $1::text = 'relation' and n.nspname = $2::text and c.relname = $3::text
  union all
  select r.rolname, a.grantee, c.relowner, a.privilege_type, a.is_grantable, t.attname
  from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  join pg_attribute as t on t.attrelid = c.oid
  cross join lateral aclexplode(t.attacl) as a
  left join pg_roles as r on r.oid = a.grantee
  where $1::text = 'relation' and n.nspname = $2::text and c.relname = $3::text
  union all
  -- a function is everybody's until its definition takes that back
  select r.rolname, a.grantee, p.proowner, a.privilege_type, a.is_grantable, null
  from pg_proc as p
  join pg_namespace as n on n.oid = p.pronamespace
  cross join lateral aclexplode(p.proacl) as a
  join pg_roles as r on r.oid = a.grantee
  where $1::text = 'function' and n.nspname = $2::text and p.proname = $3::text
) as g
where g.grantee <> g.owner
