-- Reconcile: the fold of the swept keyed windows as it was known at an instant, by the stamps of versions (R11).
--
-- $1 known_at: instant
-- $2 swept_from, $3 swept_to: windows that start here, half-open
--
-- Inputs: pg_temp.errata_compared. Rows out: one a keyed window that was published by then, into pg_temp.errata_known. Not
-- repeatable: once a sweep.
insert into pg_temp.errata_known (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ version, is_void /*:each measure*/ , /*:measure*/revenue/*.*/ /*:end*/
)
select
  g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version, g.is_void /*:each measure*/ , g./*:measure*/revenue/*.*/ /*:end*/
from (
  select distinct on (g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/) g.*
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start >= $2::timestamptz
    and g.window_start < $3::timestamptz
    and g.stamp <= $1::timestamptz
  order by g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version desc
) as g
join pg_temp.errata_compared as c
  on c.window_start = g.window_start
  and c.window_end = g.window_end
  /*:each key*/ and array[c./*:key*/region/*.*/] = array[g./*:key*/region/*.*/] /*:end*/
