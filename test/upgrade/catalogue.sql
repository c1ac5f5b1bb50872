-- What stands in these schemas, one line a thing, whatever the order of columns and in which order it was made.
-- $1 schemas: text[]
with relation as (
  select c.*, n.nspname || '.' || c.relname as name
  from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = any ($1)
),
function as (
  select p.*, n.nspname || '.' || p.proname as name
  from pg_proc as p
  join pg_namespace as n on n.oid = p.pronamespace
  where n.nspname = any ($1)
),
line (of, what) as (
  select r.name, format('%s kept %s, options %s', r.relkind, r.relpersistence, r.reloptions)
  from relation as r
  where r.relkind <> 'i'
  union all
  select r.name, format(
    'column %s %s%s default %s identity %s collation %s storage %s',
    a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end,
    pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attcollation::regcollation, a.attstorage
  )
  from relation as r
  join pg_attribute as a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where r.relkind in ('r', 'v')
  union all
  -- version 18 counts not null among the constraints
  select r.name, format('constraint %s %s valid %s', c.conname, pg_get_constraintdef(c.oid), c.convalidated)
  from relation as r
  join pg_constraint as c on c.conrelid = r.oid
  where c.contype <> 'n'
  union all
  select r.name, format('index %s valid %s', pg_get_indexdef(i.indexrelid), i.indisvalid)
  from relation as r
  join pg_index as i on i.indrelid = r.oid
  union all
  select r.name, format('trigger %s enabled %s', pg_get_triggerdef(t.oid), t.tgenabled)
  from relation as r
  join pg_trigger as t on t.tgrelid = r.oid
  where not t.tgisinternal
  union all
  select r.name, 'view ' || pg_get_viewdef(r.oid)
  from relation as r
  where r.relkind = 'v'
  union all
  select r.name, format('comment on %s: %s', coalesce(a.attname, 'it'), d.description)
  from relation as r
  join pg_description as d on d.classoid = 'pg_class'::regclass and d.objoid = r.oid
  left join pg_attribute as a on a.attrelid = r.oid and a.attnum = d.objsubid and d.objsubid > 0
  union all
  select r.name, format('grant %s to %s', g.privilege_type, case g.grantee when 0 then 'public' else g.grantee::regrole::text end)
  from relation as r
  cross join lateral aclexplode(r.relacl) as g
  where g.grantee <> r.relowner
  union all
  select f.name, pg_get_functiondef(f.oid)
  from function as f
  where f.prokind = 'f'
  union all
  select f.name, 'comment: ' || d.description
  from function as f
  join pg_description as d on d.classoid = 'pg_proc'::regclass and d.objoid = f.oid
  union all
  select f.name, format('grant %s to %s', g.privilege_type, case g.grantee when 0 then 'public' else g.grantee::regrole::text end)
  from function as f
  cross join lateral aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) as g
  where g.grantee <> f.proowner
)
select l.of || ': ' || l.what as line
from line as l
order by (l.of || ': ' || l.what) collate "C";
