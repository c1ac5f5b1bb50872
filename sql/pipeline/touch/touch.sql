-- Touch: put into the queue the keyed windows of new, released late events, of included events that are back in bronze,
-- and those whose bronze rows were deleted or changed, as the trigger noted them (R10).
--
-- $1 run_id: bigint
-- $2 since: the bound of this run
--
-- Rows out: one a keyed window and cause that was not queued yet. Safe to repeat: the queue holds each once.
with noted as (
  delete from /*:source_change*/errata.daily_orders_source_change/*.*/ as n
  returning n.window_start, n.window_end, /*:each key*/ n./*:key*/region/*.*/, /*:end*/ n.since
)
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select distinct
  e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.cause, $2::timestamptz
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.state_run_id = $1::bigint
  and e.state = 'pending'
  and e.released
union all
select distinct
  e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ 'source_change', $2::timestamptz
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.state_run_id = $1::bigint
  and e.state = 'included'
  and e.first_run_id <> e.state_run_id
union all
select n.window_start, n.window_end, /*:each key*/ n./*:key*/region/*.*/, /*:end*/ 'source_change', min(n.since)
from noted as n
group by n.window_start, n.window_end /*:each key*/ , n./*:key*/region/*.*/ /*:end*/
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
