-- Statement, adjustments: what was posted since the period was closed, whatever its kind, and what was posted to it for
-- windows of other periods (R12).
--
-- Inputs: the view of versions, pg_temp.errata_statement. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_adjustments as
select
  case
    when c.kind = 'adjustment' then 'adjustment'
    when c.kind = 'seal' then 'sealed after the close'
    else 'while reopened'
  end as errata_how,
  c.window_start,
  c.window_end,
  c.local_date,
  /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  c.version,
  c.kind,
  c.causes,
  /*:each measure*/ c./*:measure*/revenue/*.*/, c./*:delta_measure*/delta_revenue/*.*/, /*:end*/
  c.posting_period,
  c.stamp,
  c.actor,
  c.approver,
  c.reason,
  c.run_id,
  c.errata_row_hash
from pg_temp.errata_stated_versions as c
cross join pg_temp.errata_statement as b
where c.kind = 'adjustment' or c.stamp > b.closed_at
union all
select
  'for another period',
  h.window_start,
  h.window_end,
  h.local_date,
  /*:each key*/ h./*:key*/region/*.*/, /*:end*/
  h.version,
  h.kind,
  h.causes,
  /*:each measure*/ h./*:measure*/revenue/*.*/, h./*:delta_measure*/delta_revenue/*.*/, /*:end*/
  h.posting_period,
  h.stamp,
  h.actor,
  h.approver,
  h.reason,
  h.run_id,
  h.errata_row_hash
from (
  select
    g.*,
    /*:each measure*/ /*:difference_to_before*/coalesce(g.revenue, 0) - coalesce(p.revenue, 0)/*.*/ as /*:delta_measure*/delta_revenue/*.*/, /*:end*/
    /*:row_hash*/sha256(convert_to(g.revenue::text, 'UTF8'))/*.*/ as errata_row_hash
  from pg_temp.errata_statement as b
  join /*:published_ledger*/gold.daily_orders/*.*/ as g
    on g.posting_period = b.period
    and g.kind = 'adjustment'
    and g.stamp <= b.stamp
    and (g.window_start < b.period_start or g.window_start >= b.period_end)
  left join /*:published_ledger*/gold.daily_orders/*.*/ as p
    on p.window_start = g.window_start
    and p.window_end = g.window_end
    /*:each key*/ and array[p./*:key*/region/*.*/] = array[g./*:key*/region/*.*/] /*:end*/
    and p.version = g.version - 1
) as h
