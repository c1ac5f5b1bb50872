-- Copies, in the windows that this run seals: the rows that share their event id with another row of their window.
--
-- $1 sealing_from, $2 sealing_to: where the windows that this run seals start, half-open
-- $3 ingested_from: no row of those windows was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
-- $5 events_to: end of the last of those windows
--
-- Rows out: into pg_temp.errata_same_id. Safe to repeat: writes work tables only.
with sealing_id as (
  select w.window_start, w.window_end, r.errata_event_id
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $5::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
    and r.errata_quarantine is null
    and not r.errata_is_heartbeat
    and w.window_start >= $1::timestamptz
    and w.window_start < $2::timestamptz
  group by w.window_start, w.window_end, r.errata_event_id
  having count(*) > 1
)
insert into pg_temp.errata_same_id
select s.window_start, s.window_end, false, r.*
from sealing_id as s
join /*:source*/errata.daily_orders_source/*.*/ () as r
  on r.errata_event_id = s.errata_event_id
  and r.errata_event_time >= s.window_start
  and r.errata_event_time < s.window_end
where r.errata_event_time >= $1::timestamptz
  and r.errata_event_time < $5::timestamptz
  and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
