-- Touch: put the keyed windows of new, released late events into the queue (R10).
--
-- $1 run_id: bigint
-- $2 since: the bound of this run
--
-- Rows out: one a keyed window and cause that was not queued yet. Safe to repeat: the queue holds each once.
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select distinct
  e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.cause, $2::timestamptz
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.state_run_id = $1::bigint
  and e.state = 'pending'
  and e.released
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
