-- Amend: the event ids of amended windows that have copies or a state, had them, or bear rows that no scan has read.
--
-- $1 bound: bound of this run
-- $2 ingested_from: no row of these windows was ingested earlier; null where that cannot be known
-- $3 transaction: see scan.sql
-- $4 relations_read: text[], oids of the ingestion partitions that this run has read
--
-- Inputs: pg_temp.errata_amended, analysed; bronze. Rows out: one a window and id, into pg_temp.errata_amended_id.
-- Safe to repeat: writes work tables only.
with amended_window as (
  select distinct a.window_start, a.window_end
  from pg_temp.errata_amended as a
),
found as (
  select a.window_start, a.window_end, r.errata_event_id as event_id, bool_or(n.is_unread) as has_unread
  from amended_window as a
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_time >= a.window_start
    and r.errata_event_time < a.window_end
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  left join pg_temp.errata_partition as p
    on p.relation_id = r.errata_relation
    and p.relation_id <> all ($4::text[]::oid[])
  cross join lateral (
    select coalesce(
      (r.errata_row_age <= p.horizon_age and not (p.seen @> ($3::bigint - r.errata_row_age)))
        or r.errata_ingested_at > p.bound_before,
      false
    ) as is_unread
  ) as n
  where w.window_start = a.window_start
    and (r.errata_ingested_at >= $2::timestamptz or $2::timestamptz is null)
    and r.errata_ingested_at <= $1::timestamptz
    and r.errata_is_valid
  group by a.window_start, a.window_end, r.errata_event_id
  having count(*) > 1 or bool_or(n.is_unread)
  union all
  select c.window_start, c.window_end, c.event_id, false
  from amended_window as a
  join /*:copy*/errata.daily_orders_copy/*.*/ as c
    on c.window_start = a.window_start
    and c.window_end = a.window_end
  union all
  select e.window_start, e.window_end, e.event_id, false
  from amended_window as a
  join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = a.window_start
    and e.window_end = a.window_end
)
insert into pg_temp.errata_amended_id (window_start, window_end, event_id, has_unread)
select f.window_start, f.window_end, f.event_id, bool_or(f.has_unread)
from found as f
group by f.window_start, f.window_end, f.event_id
