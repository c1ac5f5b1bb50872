-- What this run kept by name, counted. Rows out: one a landing and state.
--
-- $1 run_id: bigint
select
  coalesce(e.landing, 'conflict') as landing,
  e.state,
  e.released,
  count(*)::text as events
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.first_run_id = $1::bigint
group by e.landing, e.state, e.released
