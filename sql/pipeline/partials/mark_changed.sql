-- Partials: of keyed windows whose bronze rows were deleted or changed none is used any more, whatever the counters of their
-- partitions say, which come seconds late.
--
-- Inputs: pg_temp.errata_touched. Rows out: one a keyed window that was not marked yet. Safe to repeat.
insert into /*:partial*/errata.daily_orders_partial/*.*/ (relation_id, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_count, copies)
select 0, t.window_start, t.window_end, /*:each key*/ t./*:key*/region/*.*/, /*:end*/ 0, 0
from pg_temp.errata_touched as t
where t.target = 'counted'
  and 'source_change' = any (t.causes)
  and not exists (
    select from /*:partial*/errata.daily_orders_partial/*.*/ as p
    where p.relation_id = 0
      and p.window_start = t.window_start
      and p.window_end = t.window_end
      /*:each key*/ and array[p./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
  )
