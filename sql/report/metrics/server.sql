-- What holds for all rollups: notices that wait, and for how long the oldest transaction that has written has been open; rows
-- behind it are read again by each run. Rows out: one; null where the role may not see other sessions (pg_read_all_stats).
--
-- $1 at: instant; null: the database's clock
--
-- Safe to repeat: it reads.
select
  (select count(*) from /*:schema*/errata/*.*/.outbox as o where o.delivered_at is null)::text as notices_waiting,
  case
    when pg_has_role('pg_read_all_stats', 'usage') then (
      select coalesce(extract(epoch from c.now - min(t.since)), 0)::text
      from (
        select a.xact_start as since
        from pg_catalog.pg_stat_activity as a
        where a.backend_xid is not null and a.pid <> pg_backend_pid()
        union all
        select p.prepared
        from pg_catalog.pg_prepared_xacts as p
      ) as t
    )
  end as open_transaction_seconds
from (select coalesce($1::timestamptz, clock_timestamp()) as now) as c
