-- Reconcile: how far runs have read bronze, as ages of transactions that row_age can be compared with (R16).
--
-- $1 rollup_id: integer
--
-- Rows out: into pg_temp.errata_read, one a partition ever read. In another cluster or database than the last run saw,
-- ages mean nothing: there is none. Safe to repeat: writes a work table only.
insert into pg_temp.errata_read (relation_id, horizon_age, seen, bound)
select
  p.relation_id,
  case
    when p.horizon::text::bigint <= t.now
    then least(t.now - p.horizon::text::bigint, 2147483647)::integer
  end,
  p.seen,
  p.bound
from /*:schema*/errata/*.*/.ingestion_partition as p
join /*:schema*/errata/*.*/.rollup as r using (rollup_id)
cross join (select pg_current_xact_id()::text::bigint as now) as t
where p.rollup_id = $1::integer
  and p.gone_at is null
  and coalesce(r.system_identifier = (select system_identifier from pg_control_system()), true)
  and coalesce(r.database_id = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database()), true)
