-- Where one rollup stands. Rows out: one.
--
-- $1 rollup_id: integer
-- $2 at: instant from which lags are reckoned
--
-- Safe to repeat: it reads.
select
  r.frontier::text as frontier,
  extract(epoch from $2::timestamptz - r.frontier)::text as frontier_lag_seconds,
  r.sealed_until::text as sealed_until,
  case when isfinite(r.sealed_until) then extract(epoch from $2::timestamptz - r.sealed_until)::text end as watermark_lag_seconds,
  r.settled_until::text as settled_until,
  r.complete_from::text as complete_from,
  r.complete_from_source,
  (
    select coalesce(array_agg(p.relation order by p.relation), '{}')
    from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = r.rollup_id and p.gone_at is not null
  ) as gone,
  (
    select count(*)
    from /*:schema*/errata/*.*/.proposal as o
    where o.rollup_id = r.rollup_id and o.state = 'open'
  )::text as open_proposals,
  (select count(*) from /*:emission*/errata.daily_orders_emission/*.*/ as m where m.kind = 'late_seal')::text as late_seals,
  (
    select count(*)
    from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.landing = 'quarantined' and e.state is null and not e.released
  )::text as quarantined,
  (
    select count(*)
    from /*:schema*/errata/*.*/.refused_entry as w
    where w.rollup_id = r.rollup_id and w.found_run_id is null
  )::text as refused_waiting,
  (
    select min(coalesce(w.refused_at, u.bound))
    from /*:schema*/errata/*.*/.refused_entry as w
    join /*:schema*/errata/*.*/.run as u on u.run_id = w.first_run_id
    where w.rollup_id = r.rollup_id and w.found_run_id is null
  )::text as refused_waiting_since,
  (
    select count(*)
    from /*:schema*/errata/*.*/.refused_entry as w
    where w.rollup_id = r.rollup_id and w.landing in ('open', 'late_firing')
  )::text as refused_judged_otherwise
from /*:schema*/errata/*.*/.rollup as r
where r.rollup_id = $1::integer
