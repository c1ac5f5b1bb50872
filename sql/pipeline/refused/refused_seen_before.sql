-- Refused, under another strategy than `external`: what earlier runs judged of the rows that new entries name (see
-- refused_seen.sql).
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 bound: bound of this run
-- $4 ingested_from, $5 events_from, $6 events_to: as in refused_rows.sql
--
-- Inputs: the late events. Rows out: one an entry that is answered now. Safe to repeat: an answered entry stays so.
update /*:schema*/errata/*.*/.refused_entry as e
set found_run_id = $2::bigint, landing = s.landing
from (
  select distinct on (k.refused_entry_id) k.refused_entry_id, coalesce(l.landing, 'open') as landing
  from (
    select distinct
      e.refused_entry_id, e.event_id, e.event_time, e.window_start, e.window_end
      /*:each refused_id*/ , /*:refused_id*/f.order_id/*.*/ as errata_native_id /*:end*/
    from /*:schema*/errata/*.*/.refused_entry as e
    join /*:refused*/stream.refused/*.*/ as f on /*:refused_event_id*/f.order_id::text/*.*/ = e.event_id
    where e.rollup_id = $1::integer
      and e.first_run_id = $2::bigint
      and e.found_run_id is null
  ) as k
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_id = k.event_id
    /*:each refused_id*/ and r./*:bronze_id*/order_id/*.*/ = k.errata_native_id /*:end*/
    and (k.event_time = r.errata_event_time or k.event_time is null)
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  left join /*:late_event*/gold.daily_orders_late_event/*.*/ as l
    on /*:same_window*/l.window_start = w.window_start and l.window_end = w.window_end and/*.*/
    l.event_id = r.errata_event_id
    and l.landing is not null
  where (r.errata_ingested_at >= $4::timestamptz or $4::timestamptz is null)
    and r.errata_ingested_at <= $3::timestamptz
    and (r.errata_event_time >= $5::timestamptz or $5::timestamptz is null)
    and (r.errata_event_time <= $6::timestamptz or $6::timestamptz is null)
    and r.errata_is_valid
    and (k.window_start = w.window_start or k.window_start is null)
    and (k.window_end = w.window_end or k.window_end is null)
  order by k.refused_entry_id, l.landing is distinct from 'side_output', l.landing
) as s
where e.refused_entry_id = s.refused_entry_id
