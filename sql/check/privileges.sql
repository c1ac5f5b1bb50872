-- What the connected role may do where Errata makes and writes its relations. Rows out: one.
--
-- $1 gold_schema: where the ledger goes
-- $2 gold_name: the ledger
-- $3 control_schema: where the control tables go
with place as (
  select
    (select n.oid from pg_catalog.pg_namespace as n where n.nspname = $1::text) as gold,
    (select n.oid from pg_catalog.pg_namespace as n where n.nspname = $3::text) as control
),
ledger as (
  select
    c.oid,
    c.relowner,
    -- of the table and of its columns
    array(
      select g.grantee from aclexplode(c.relacl) as g where g.privilege_type = 'INSERT'
      union all
      select g.grantee
      from pg_catalog.pg_attribute as a
      cross join aclexplode(a.attacl) as g
      where a.attrelid = c.oid and g.privilege_type = 'INSERT'
    ) as inserters
  from pg_catalog.pg_class as c
  join place as p on p.gold = c.relnamespace
  where c.relname = $2::text
)
select
  current_user::text as role,
  current_database()::text as database,
  has_database_privilege(current_database(), 'temporary') as may_use_temporary,
  has_database_privilege(current_database(), 'create') as may_create_schema,
  p.gold is not null as has_gold_schema,
  has_schema_privilege(p.gold, 'create') and has_schema_privilege(p.gold, 'usage') as may_create_in_gold,
  p.control is not null as has_control_schema,
  has_schema_privilege(p.control, 'create') and has_schema_privilege(p.control, 'usage') as may_create_in_control,
  exists (select from ledger) as has_ledger,
  (select pg_has_role(l.relowner, 'usage') from ledger as l) as owns_ledger,
  (select l.relowner <> any (l.inserters) from ledger as l) as others_may_insert,
  current_setting('track_counts')::boolean as counts_activity
from place as p
