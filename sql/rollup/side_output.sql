-- The refused events by name, with their state and their share of the window's total. Rows out: one an event and
-- window. A share is the event's own contribution over the window's value with it; NULL where that is zero or unknown.
-- A reader's own function, called in a condition, would otherwise see the late events that are left out here.
create or replace view /*:side_output*/gold.daily_orders_side_output/*.*/ with (security_barrier) as
select
  e.window_start,
  e.window_end,
  e.local_date,
  /*:each key*/ e./*:key*/region/*.*/, /*:end*/
  e.event_id,
  e.event_time,
  e.ingested_at,
  e.arrived_at,
  e.lateness_seconds,
  e.source_partition,
  e.watermark,
  e.state,
  e.version,
  e.released,
  /*:each measure*/ e./*:measure*/revenue/*.*/, /*:end*/
  /*:each additive*/
  e./*:measure*/revenue/*.*/::numeric / nullif(
    coalesce(l./*:measure*/revenue/*.*/, 0) + case when e.state = 'included' then 0 else e./*:measure*/revenue/*.*/ end,
    0
  ) as /*:share_of_measure*/share_of_revenue/*.*/,
  /*:end*/
  e.state_actor,
  e.state_reason,
  e.first_run_id,
  e.state_run_id
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
-- The latest version looked up for each: of `_latest` a condition on the window would not reach the ledger, which is then read whole.
left join lateral (
  select /*:each additive*/ g./*:measure*/revenue/*.*/, /*:end*/ g.version
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start = e.window_start
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
    and g.window_end is not distinct from e.window_end
  order by g.version desc
  limit 1
) as l on true
where e.landing = 'side_output'
