-- Statement: each keyed window as reckoned, with what the sweep could not explain, the day, and the causes of all its
-- corrections (R14).
--
-- An unexplained difference stands until a version of its keyed window is published. Inputs: the work tables. Rows out: one a
-- keyed window, into pg_temp.errata_stated_window. Safe to repeat in another transaction: writes a work table only.
create temp table errata_stated_window on commit drop as
with swept as (
  select
    w.window_start,
    w.window_end,
    /*:each key*/ (w.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/ as /*:key*/region/*.*/, /*:end*/
    w.figures as errata_figures,
    w.why as errata_why,
    s.stamp as errata_stamp
  from pg_temp.errata_statement as b
  join pg_temp.errata_stated_sweep as s on s.reconciliation_id = b.sweep_id
  join /*:schema*/errata/*.*/.reconciled_window as w
    on w.reconciliation_id = s.reconciliation_id
    and w.window_start >= b.period_start
    and w.window_start < b.period_end
  where w.status in ('explained', 'unexplained')
)
select
  coalesce(c.local_date, (c.window_start at time zone b.time_zone)::date) as errata_day,
  c.*,
  /*:each additive*/
  case
    when b.sweep_id is null then null
    when l.stamp > s.errata_stamp or s.errata_why is not null then 0
    else coalesce((s.errata_figures -> /*:measure_name*/'revenue'/*.*/ ->> 'unexplained')::numeric, 0)
  end as /*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/,
  /*:end*/
  coalesce(l.causes, '{}') as errata_causes,
  coalesce(l.is_void, false) as errata_is_void,
  l.errata_row_hash
from pg_temp.errata_statement as b
cross join pg_temp.errata_stated_reconciled as c
left join pg_temp.errata_stated_latest as l
  on l.window_start = c.window_start
  and l.window_end = c.window_end
  /*:each key*/ and array[l./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
left join swept as s
  on s.window_start = c.window_start
  and s.window_end = c.window_end
  /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
