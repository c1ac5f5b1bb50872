-- Refused: rows of earlier runs that an entry names which this run is the first to see. They landed open for want of it
-- and are refused from now on (R6), unless they were judged late already or a version has counted them. A row that has
-- joined a session stays in it.
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 bound: bound of this run
-- $4 ingested_from: no such row was ingested earlier; null where that cannot be known
-- $5 events_from, $6 events_to: nor did one happen before or after; null as well
--
-- Rows out: one a row and window, into pg_temp.errata_candidate; of those that stay what they are the landing is
-- `judged`. A row of this run is found by classify too, and counts once. Safe to repeat: writes work tables only.
insert into pg_temp.errata_candidate
select
  r.*,
  w.window_start,
  w.window_end,
  w.local_date,
  n.watermark,
  /*:recalled_landing*/case when j.is_late or v.is_counted then 'judged' else 'side_output' end/*.*/
from (
  select distinct e.event_id /*:each refused_id*/ , /*:refused_id*/f.order_id/*.*/ as errata_native_id /*:end*/
  from /*:schema*/errata/*.*/.refused_entry as e
  join /*:refused*/stream.refused/*.*/ as f on /*:refused_event_id*/f.order_id::text/*.*/ = e.event_id
  where e.rollup_id = $1::integer
    and e.first_run_id = $2::bigint
) as k
join /*:source*/errata.daily_orders_source/*.*/ () as r
  on r.errata_event_id = k.event_id
  /*:each refused_id*/ and r./*:bronze_id*/order_id/*.*/ = k.errata_native_id /*:end*/
cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
cross join lateral (
  select count(*) as entries, min(e.watermark) as watermark
  from /*:schema*/errata/*.*/.refused_entry as e
  where e.rollup_id = $1::integer
    and e.event_id = r.errata_event_id
    and (e.event_time = r.errata_event_time or e.event_time is null)
    and (e.window_start = w.window_start or e.window_start is null)
    and (e.window_end = w.window_end or e.window_end is null)
) as n
cross join lateral (
  select exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.window_start = w.window_start
      and e.window_end = w.window_end
      and e.event_id = r.errata_event_id
      and e.row_digest = r.errata_row_digest
      and e.landing is not null
  ) as is_late
) as j
cross join lateral (
  -- the latest version was computed over the rows then examined; what the stream said last tells nothing of one row
  select coalesce(
    (
      select g.version > 1 and not 'stream_emission' = any (g.causes)
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = w.window_start
        and g.window_end = w.window_end
        /*:each key*/ and array[g./*:key*/region/*.*/] = array[r./*:key*/region/*.*/] /*:end*/
      order by g.version desc
      limit 1
    ),
    false
  ) as is_counted
) as v
where n.entries > 0
  and (r.errata_ingested_at >= $4::timestamptz or $4::timestamptz is null)
  and r.errata_ingested_at <= $3::timestamptz
  and (r.errata_event_time >= $5::timestamptz or $5::timestamptz is null)
  and (r.errata_event_time <= $6::timestamptz or $6::timestamptz is null)
  and r.errata_is_valid
  /*:is_recalled*/and true/*.*/
