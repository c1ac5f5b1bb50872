-- Events that are not in a published number yet, by state, and what they add up to. Rows out: one a state; pending
-- events that somebody has released wait for a run, the others for a person.
--
-- Safe to repeat: it reads.
select
  e.state,
  e.released,
  count(*)::text as events,
  count(distinct e.window_start)::text as windows,
  min(e.window_start)::text as first_window_start,
  '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, sum(e./*:measure*/revenue/*.*/)::text) /*:end*/ as measures
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.state in ('pending', 'held')
group by e.state, e.released
order by e.state desc, e.released
