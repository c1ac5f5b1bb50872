-- Begin: the row of the run, and where its snapshot stands in the order of transactions (R16).
--
-- $1 rollup_id: integer
-- $2 verb, $3 actor, $4 reason: text
-- $5 bound: bound of this run
--
-- Rows out: one. `transaction` is the 64-bit number to which age() counts back within this transaction; another
-- cluster than the last run saw has other transactions, and another database may have other relations. Not repeatable:
-- each call is a run.
with run as (
  insert into /*:schema*/errata/*.*/.run (
    rollup_id, verb, outcome, started_at, bound, snapshot, publishing_transaction, actor, reason
  )
  values (
    $1::integer, $2::text, 'running', clock_timestamp(), $5::timestamptz, pg_current_snapshot(), pg_current_xact_id(), $3::text, $4::text
  )
  returning run_id
)
select
  -- who changes a state in this transaction
  set_config('errata.run_id', n.run_id::text, true) as run_id,
  s.horizon::text as horizon,
  age(s.horizon::xid) as horizon_age,
  s.horizon < pg_snapshot_xmax(pg_current_snapshot()) as has_ended_later,
  (s.horizon::text::bigint + age(s.horizon::xid))::text as transaction,
  coalesce(r.system_identifier = (select system_identifier from pg_control_system()), true) as same_cluster,
  -- of a run before the database was noted it is not known, and a dump may have been restored since
  case
    when r.database_id is null then r.frontier is null
    else r.database_id = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database())
  end as same_database
from run as n
cross join (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) as s
cross join /*:schema*/errata/*.*/.rollup as r
where r.rollup_id = $1::integer
