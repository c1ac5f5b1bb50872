-- Which of these roles are there, and what makes one more than its grants say. Rows out: one a role that is there.
--
-- $1 roles: text[]
-- $2 job: the role that owns what Errata makes; null where the settings name none
--
-- Safe to repeat: it reads.
select
  r.rolname as role,
  r.rolsuper as is_superuser,
  r.rolsuper or r.rolbypassrls as passes_row_security,
  coalesce(pg_has_role(r.oid, (select j.oid from pg_catalog.pg_roles as j where j.rolname = $2::text), 'member'), false)
    and r.rolname is distinct from $2::text as is_member_of_job,
  pg_has_role(r.oid, 'member') as is_ours,
  r.rolname = current_user as is_current
from pg_catalog.pg_roles as r
where r.rolname = any ($1::text[])
