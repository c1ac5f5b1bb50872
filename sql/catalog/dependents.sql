-- What stands on a relation or function, in any depth. Rows out: one a thing, what must go first first; `is_ours`: one of the
-- relations and functions that are named. Safe to repeat: it reads.
--
-- A view stands on what its rule names, a function or a column on a type that a relation gives. What PostgreSQL keeps for a
-- relation by itself (its row type, its own rule, indexes) is no thing of anybody's.
--
-- $1 kind: relation or function  $2 schema: of it  $3 name: of it
-- $4 our_schemas: of our relations and functions  $5 our_names: theirs
-- $6 through_ours: text, `true`: also what stands on those of ours that stand on it
with recursive our_place as (
  select o.schema, o.name
  from unnest($4::text[], $5::text[]) as o (schema, name)
),
our_thing as (
  select 'pg_class'::regclass as class, c.oid as id
  from our_place as o
  join pg_namespace as n on n.nspname = o.schema
  join pg_class as c on c.relnamespace = n.oid and c.relname = o.name
  union all
  select 'pg_proc'::regclass, p.oid
  from our_place as o
  join pg_namespace as n on n.nspname = o.schema
  join pg_proc as p on p.pronamespace = n.oid and p.proname = o.name
),
place as (
  select 'pg_class'::regclass as class, c.oid as id
  from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  where $1::text = 'relation' and n.nspname = $2::text and c.relname = $3::text
  union all
  select 'pg_proc'::regclass, p.oid
  from pg_proc as p
  join pg_namespace as n on n.oid = p.pronamespace
  where $1::text = 'function' and n.nspname = $2::text and p.proname = $3::text
),
dependent (class, id, depth) as (
  select s.class, s.id, 0
  from place as s
  union
  select n.class, n.id, p.depth + 1
  from dependent as p
  join pg_depend as d on d.refclassid = p.class and d.refobjid = p.id
  left join pg_rewrite as w on d.classid = 'pg_rewrite'::regclass and w.oid = d.objid
  cross join lateral (
    select
      case when w.rulename = '_RETURN' then 'pg_class'::regclass else d.classid::regclass end as class,
      case when w.rulename = '_RETURN' then w.ev_class else d.objid end as id
  ) as n
  where d.deptype in ('n', 'a', 'i')
    and (n.class, n.id) <> (p.class, p.id)
    and (
      p.depth = 0
      or $6::text = 'true'
      or not exists (select from our_thing as o where o.class = p.class and o.id = p.id)
    )
    -- two views of the user's never stand on each other, and no chain is as long
    and p.depth < 100
),
thing as (
  select d.class, d.id, max(d.depth) as depth
  from dependent as d
  where d.depth > 0
  group by d.class, d.id
)
select
  i.type as kind,
  i.identity,
  coalesce(c.relowner, p.proowner, t.typowner)::regrole::text as owner,
  o.id is not null as is_ours,
  n.nspname as schema,
  coalesce(c.relname, p.proname) as name
from thing as d
cross join lateral pg_identify_object(d.class, d.id, 0) as i
left join pg_class as c on d.class = 'pg_class'::regclass and c.oid = d.id
left join pg_proc as p on d.class = 'pg_proc'::regclass and p.oid = d.id
left join pg_type as t on d.class = 'pg_type'::regclass and t.oid = d.id
left join pg_class as r on r.oid = t.typrelid
left join pg_type as e on e.oid = t.typelem
left join pg_namespace as n on n.oid = coalesce(c.relnamespace, p.pronamespace)
left join our_thing as o on o.class = d.class and o.id = d.id
where (t.oid is null or (coalesce(r.relkind, 'c') = 'c' and t.typcategory <> 'A'))
  and (c.oid is null or c.relkind not in ('i', 'I', 't'))
  and not (d.class = 'pg_trigger'::regclass and (select g.tgisinternal from pg_trigger as g where g.oid = d.id))
order by d.depth desc, i.identity collate "C"
