-- The latest versions, and the windows still open straight from bronze, flagged: dashboards of today. Rows out: one a
-- keyed window. The open part reads bronze at every query; nothing of it is published yet.
create or replace view /*:live*/gold.daily_orders_live/*.*/ as
select
  l.window_start,
  l.window_end,
  l.local_date,
  /*:each key*/ l./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ l./*:measure*/revenue/*.*/, /*:end*/
  l.event_count,
  l.version,
  false as is_open
from /*:latest*/gold.daily_orders_latest/*.*/ as l
union all
select
  o.window_start,
  o.window_end,
  o.local_date,
  /*:each key*/ o./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ o./*:measure*/revenue/*.*/, /*:end*/
  o.event_count,
  null,
  true
from /*:open_windows*/errata.daily_orders_open_windows/*.*/ () as o
-- what the stream has published already is no longer open
where not exists (
  select from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start = o.window_start
    and g.window_end = o.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[o./*:key*/region/*.*/] /*:end*/
)
