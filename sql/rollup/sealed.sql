-- What shipped: version 1 of each keyed window, for whoever must see the printed number. Rows out: one a keyed window.
create or replace view /*:sealed*/gold.daily_orders_sealed/*.*/ as
select
  g.window_start,
  g.window_end,
  g.local_date,
  /*:each key*/ g./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ g./*:measure*/revenue/*.*/, /*:end*/
  g.event_count,
  g.sealed_at,
  g.run_id
from /*:ledger*/gold.daily_orders/*.*/ as g
where g.version = 1
