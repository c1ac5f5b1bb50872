-- Statement, versions: everything that was published into the period, with who, why and the hash (R10, R21).
--
-- Inputs: pg_temp.errata_stated_version. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_versions as
select
  g.window_start,
  g.window_end,
  g.local_date,
  /*:each key*/ g./*:key*/region/*.*/, /*:end*/
  g.version,
  g.kind,
  g.causes,
  /*:each measure*/
  g./*:measure*/revenue/*.*/,
  /*:delta_value*/coalesce(g.revenue, 0) - coalesce(lag(g.revenue) over keyed_window, 0)/*.*/ as /*:delta_measure*/delta_revenue/*.*/,
  /*:end*/
  g.event_count,
  g.is_void,
  g.stamp,
  g.posting_period,
  g.actor,
  g.approver,
  g.reason,
  g.db_role,
  g.run_id,
  g.definition_fingerprint,
  g.errata_row_hash
from pg_temp.errata_stated_version as g
window keyed_window as (
  partition by g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/
  order by g.version
)
