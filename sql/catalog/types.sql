-- Whether values of these types can be told apart with an empty search_path, as keys and measures are.
-- Rows out: one a type.
--
-- $1 types: text[], oids
with recursive inner_type as (
  select t.oid as asked, t.oid, t.typtype, t.typcategory, t.typnamespace, t.typbasetype, t.typelem, false as is_array
  from pg_catalog.pg_type as t
  where t.oid = any ($1::text[]::oid[])
  union all
  select i.asked, t.oid, t.typtype, t.typcategory, t.typnamespace, t.typbasetype, t.typelem, i.is_array or i.typcategory = 'A'
  from inner_type as i
  join pg_catalog.pg_type as t on t.oid = case when i.typtype = 'd' then i.typbasetype when i.typcategory = 'A' then i.typelem end
)
select
  i.asked::text as type_id,
  i.is_array,
  i.typtype = 'c' as is_composite,
  -- its own, one that stands for its kind, or that of a type it is stored as: as varchar is stored as text
  exists (
    select from pg_catalog.pg_opclass as o
    where o.opcmethod = (select m.oid from pg_catalog.pg_am as m where m.amname = 'btree')
      and o.opcdefault
      and o.opcnamespace = 'pg_catalog'::regnamespace
      and (
        o.opcintype = i.oid
        or o.opcintype = case i.typtype when 'e' then 'anyenum' when 'r' then 'anyrange' when 'm' then 'anymultirange' when 'c' then 'record' end::regtype
        or exists (
          select from pg_catalog.pg_cast as c
          where c.castsource = i.oid and c.casttarget = o.opcintype and c.castmethod = 'b' and c.castcontext = 'i'
        )
      )
  ) as is_comparable,
  i.typtype = 'b' and i.typnamespace <> 'pg_catalog'::regnamespace as is_extension
from inner_type as i
where i.typtype <> 'd' and i.typcategory <> 'A'
