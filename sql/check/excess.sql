-- What a role may do with a relation of Errata's beyond its rights: by a grant of its own, to PUBLIC, or to a role that it is
-- a member of. Rows out: one a role and relation.
--
-- $1 roles, $2 schemas, $3 names: text[], a line each role and relation
-- $4 rights: text[], what the role has there by the settings, as in `select`; '' for nothing
-- $5 job: whose members are said to be so, and not again for each relation; null where the settings name none
--
-- A right to insert some columns is left to the check of missing rights: the ledger refuses whatever is no version 1.
-- Safe to repeat: it reads.
select
  w.role,
  w.schema,
  w.name,
  array_agg(v.privilege order by v.place) as privileges
from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as w (role, schema, name, rights)
join pg_catalog.pg_roles as r on r.rolname = w.role and not r.rolsuper
join pg_catalog.pg_namespace as n on n.nspname = w.schema
join pg_catalog.pg_class as c on c.relnamespace = n.oid and c.relname = w.name and c.relkind in ('r', 'v', 'p')
cross join (
  values (1, 'select'), (2, 'insert'), (3, 'update'), (4, 'delete'), (5, 'truncate'), (6, 'references'), (7, 'trigger')
) as v (place, privilege)
where v.privilege <> w.rights
  and not coalesce(pg_has_role(r.oid, (select j.oid from pg_catalog.pg_roles as j where j.rolname = $5::text), 'member'), false)
  and (
    has_table_privilege(r.oid, c.oid, v.privilege)
    or (v.privilege in ('select', 'update', 'references') and has_any_column_privilege(r.oid, c.oid, v.privilege))
  )
group by w.role, w.schema, w.name
order by w.role, w.schema, w.name
