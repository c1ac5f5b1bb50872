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
  from /*:span_source*/errata.daily_orders_source () as r/*.*/
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  /*:row_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[r.region]/*.*/
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $5::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
    and r.errata_is_valid
    and /*:in_range*/w.window_start >= $1::timestamptz and w.window_start < $2::timestamptz/*.*/
    /*:in_span*/and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to and w.window_start >= g.sealing_from and w.window_start < g.sealing_to/*.*/
  group by w.window_start, w.window_end, r.errata_event_id
  having count(*) > 1
    /*:any_key_is_sealing*/and bool_or(w.window_start >= coalesce(v.errata_sealing_from, g.others_from) and w.window_start < coalesce(v.errata_sealing_to, g.others_to))/*.*/
)
insert into pg_temp.errata_same_id
select s.window_start, s.window_end, false, r.*
from /*:span_join*/pg_temp.errata_sealing_span as g cross join/*.*/ sealing_id as s
join /*:source*/errata.daily_orders_source/*.*/ () as r
  on r.errata_event_id = s.errata_event_id
  and r.errata_event_time >= s.window_start
  and r.errata_event_time < s.window_end
where r.errata_event_time >= $1::timestamptz
  and r.errata_event_time < $5::timestamptz
  and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
  /*:id_in_span*/and s.window_start >= g.sealing_from and s.window_start < g.sealing_to and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to/*.*/
