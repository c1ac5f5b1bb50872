-- All versions with the value before and the difference, for audit. Rows out: one a keyed window and version.
create or replace view /*:history*/gold.daily_orders_history/*.*/ as
select
  g.window_start,
  g.window_end,
  g.local_date,
  /*:each key*/ g./*:key*/region/*.*/, /*:end*/
  g.version,
  /*:each measure*/
  g./*:measure*/revenue/*.*/,
  lag(g./*:measure*/revenue/*.*/) over keyed_window as /*:previous_measure*/previous_revenue/*.*/,
  /*:delta_value*/coalesce(g.revenue, 0) - coalesce(lag(g.revenue) over keyed_window, 0)/*.*/ as /*:delta_measure*/delta_revenue/*.*/,
  /*:end*/
  g.event_count,
  lag(g.event_count) over keyed_window as previous_event_count,
  g.is_void,
  g.kind,
  g.causes,
  g.reason,
  g.actor,
  g.db_role,
  g.approver,
  g.run_id,
  g.stamp,
  g.sealed_at,
  g.corrected_at,
  g.posting_period,
  g.replaces,
  g.definition_fingerprint
from /*:ledger*/gold.daily_orders/*.*/ as g
window keyed_window as (
  partition by g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/
  order by g.version
)
