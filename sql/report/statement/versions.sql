-- Statement, versions: everything that was published into the period, with who, why and the hash (R10, R21).
--
-- Inputs: pg_temp.errata_stated_version and the history view over it. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_versions as
select
  c.window_start,
  c.window_end,
  c.local_date,
  /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  c.version,
  c.kind,
  c.causes,
  /*:each measure*/ c./*:measure*/revenue/*.*/, c./*:delta_measure*/delta_revenue/*.*/, /*:end*/
  c.event_count,
  c.is_void,
  c.stamp,
  c.posting_period,
  c.actor,
  c.approver,
  c.reason,
  c.db_role,
  c.run_id,
  c.definition_fingerprint,
  g.errata_row_hash
from /*:history*/gold.daily_orders_history/*.*/ as c
join pg_temp.errata_stated_version as g
  on g.window_start = c.window_start
  and g.window_end = c.window_end
  /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  and g.version = c.version
