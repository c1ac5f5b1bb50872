-- Reconcile: where the sweep is cut, and what it sees. Rows out: one.
--
-- $1 rollup_id: integer
-- $2 asked_from, $3 asked_to: windows that start here, half-open; null: from the first window on, to the last sealed one
--
-- `swept_from` and `swept_to` are those of sealed windows. `known_from` and `known_to` hold all that is known by any run: what
-- lies beyond them is read at once, however long it is. Safe to repeat: it reads.
with reach as (
  select
    r.frontier,
    r.complete_from,
    r.sealed_until,
    r.last_stamp,
    r.system_identifier,
    r.database_id,
    /*:furthest_sealed*/r.sealed_until/*.*/ as furthest
  from /*:schema*/errata/*.*/.rollup as r
  where r.rollup_id = $1::integer
),
known as (
  select min(k.known_from) as known_from, max(k.known_to) as known_to
  from (
    select min(g.window_start) as known_from, max(g.window_start) as known_to
    from /*:ledger*/gold.daily_orders/*.*/ as g
    union all
    select min(e.window_start), max(e.window_start)
    from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    union all
    select min(p.event_time_from), max(p.event_time_to)
    from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = $1::integer
  ) as k
  where isfinite(k.known_from) and isfinite(k.known_to)
)
select
  coalesce($2::timestamptz, k.known_from, r.furthest)::text as range_from,
  coalesce($3::timestamptz, u.unsealed_from)::text as range_to,
  coalesce($2::timestamptz, k.known_from, r.furthest)::text as swept_from,
  least($3::timestamptz, u.unsealed_from)::text as swept_to,
  k.known_from::text as known_from,
  k.known_to::text as known_to,
  r.frontier::text as bound,
  r.sealed_until::text as sealed_until,
  r.complete_from::text as complete_from,
  r.last_stamp::text as stamp,
  (select max(n.run_id) from /*:schema*/errata/*.*/.run as n where n.rollup_id = $1::integer)::text as run_id,
  pg_current_snapshot()::text as snapshot,
  clock_timestamp()::text as swept_at,
  coalesce(r.system_identifier = (select system_identifier from pg_control_system()), true)
    and coalesce(r.database_id = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database()), true) as knows_ages
from reach as r
cross join known as k
left join lateral (
  select /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (r.furthest) as unsealed_from
) as u on r.furthest is not null
