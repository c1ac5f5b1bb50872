-- Which of the rights that Errata's roles need are there. Rows out: one a right, in the order in which they were named.
--
-- $1 places: integer[], the right that a line belongs to: one of several columns is several lines
-- $2 roles, $3 kinds, $4 schemas, $5 names, $6 columns, $7 privileges: text[]; kinds are schema, table and function
--
-- Safe to repeat: it reads.
select
  f.place,
  bool_and(f.is_there) as is_there,
  coalesce(bool_and(f.is_held), false) as is_held,
  coalesce(bool_and(f.may_be_granted), false) as may_be_granted
from (
  select
    w.place,
    r.oid is not null and case w.kind
      when 'schema' then n.oid is not null
      when 'table' then c.oid is not null and (w.column_name = '' or a.attnum is not null)
      else p.oid is not null
    end as is_there,
    case w.kind
      when 'schema' then has_schema_privilege(r.oid, n.oid, w.privilege)
      when 'function' then has_function_privilege(r.oid, p.oid, w.privilege)
      else case
        when w.column_name = '' then has_table_privilege(r.oid, c.oid, w.privilege)
        else has_column_privilege(r.oid, c.oid, a.attnum, w.privilege)
      end
    end as is_held,
    case w.kind
      when 'schema' then pg_has_role(n.nspowner, 'usage') or has_schema_privilege(n.oid, w.privilege || ' with grant option')
      when 'function' then pg_has_role(p.proowner, 'usage')
      else pg_has_role(c.relowner, 'usage')
    end as may_be_granted
  from unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    as w (place, role, kind, schema, name, column_name, privilege)
  left join pg_catalog.pg_roles as r on r.rolname = w.role
  left join pg_catalog.pg_namespace as n on n.nspname = w.schema
  left join pg_catalog.pg_class as c
    on w.kind = 'table' and c.relnamespace = n.oid and c.relname = w.name and c.relkind in ('r', 'v', 'p')
  left join pg_catalog.pg_attribute as a
    on a.attrelid = c.oid and a.attname = w.column_name and a.attnum > 0 and not a.attisdropped
  left join pg_catalog.pg_proc as p on w.kind = 'function' and p.pronamespace = n.oid and p.proname = w.name
) as f
group by f.place
order by f.place
