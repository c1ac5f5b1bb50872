-- Statement, windows: each keyed window with its figures, causes, and the citation of its latest version.
--
-- Inputs: pg_temp.errata_stated_window. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_windows as
select
  c.window_start,
  c.window_end,
  c.local_date,
  /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  c.version,
  c.errata_is_void as is_void,
  c.errata_causes as causes,
  /*:each additive*/
  c./*:sealed_measure*/sealed_revenue/*.*/, c./*:corrections_measure*/corrections_revenue/*.*/, c./*:latest_measure*/latest_revenue/*.*/, c./*:pending_measure*/pending_revenue/*.*/,
  c./*:held_measure*/held_revenue/*.*/, c./*:waived_measure*/waived_revenue/*.*/, c./*:restated_measure*/restated_revenue/*.*/,
  c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/,
  /*:end*/
  /*:each other*/ c./*:sealed_measure*/sealed_distinct_customers/*.*/, c./*:latest_measure*/latest_distinct_customers/*.*/, c./*:restated_measure*/restated_distinct_customers/*.*/, /*:end*/
  c.corrected_events,
  c.pending_events,
  c.held_events,
  c.waived_events,
  c.errata_row_hash
from pg_temp.errata_stated_window as c
