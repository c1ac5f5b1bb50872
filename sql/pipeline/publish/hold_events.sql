-- Hold: events that would be in a version, were their period not closed (R12).
--
-- $1 run_id: bigint
--
-- Inputs: pg_temp.errata_change. Rows out: one an event that is held from now on. Safe to repeat.
update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
set state = 'held', state_run_id = $1::bigint
from pg_temp.errata_change as c
where e.window_start = c.window_start
  and e.window_end is not distinct from c.window_end
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  and c.verdict = 'held'
  and e.state = 'pending'
  and e.released
