-- Statement, days: the same a day of the windows' start, in the calendar of the windows, else in the zone of the periods.
--
-- Inputs: pg_temp.errata_stated_window. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_days as
select
  c.errata_day as day,
  count(*) filter (where c.version > 0) as keyed_windows,
  count(*) filter (where c.version > 1) as corrected_windows,
  /*:each additive*/
  sum(c./*:sealed_measure*/sealed_revenue/*.*/) as /*:sealed_measure*/sealed_revenue/*.*/,
  sum(c./*:corrections_measure*/corrections_revenue/*.*/) as /*:corrections_measure*/corrections_revenue/*.*/,
  sum(c./*:latest_measure*/latest_revenue/*.*/) as /*:latest_measure*/latest_revenue/*.*/,
  sum(c./*:pending_measure*/pending_revenue/*.*/) as /*:pending_measure*/pending_revenue/*.*/,
  sum(c./*:held_measure*/held_revenue/*.*/) as /*:held_measure*/held_revenue/*.*/,
  sum(c./*:waived_measure*/waived_revenue/*.*/) as /*:waived_measure*/waived_revenue/*.*/,
  sum(c./*:restated_measure*/restated_revenue/*.*/) as /*:restated_measure*/restated_revenue/*.*/,
  sum(c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/) as /*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/,
  /*:end*/
  sum(c.corrected_events)::bigint as corrected_events,
  sum(c.pending_events)::bigint as pending_events,
  sum(c.held_events)::bigint as held_events,
  sum(c.waived_events)::bigint as waived_events
from pg_temp.errata_stated_window as c
group by c.errata_day
