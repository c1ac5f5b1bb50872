-- Take from the queue what this run recomputes: windows that are sealed and whose bronze is complete (R9, R15).
--
-- $1 sealed_until: the watermark that seals
-- $2 complete_from: bronze is complete from here on
-- $3 max_windows: at most so many keyed windows, the longest waiting first; null for all
--
-- Rows out: one a keyed window and set of rows, into pg_temp.errata_touched. A keyed window whose version 1 the stream
-- wrote is asked for three times: the counted set, the rows that landed open, and all of them (R10).
-- Safe to repeat: writes work tables only.
with waiting as (
  select
    q.window_start,
    q.window_end,
    /*:each key*/ q./*:key*/region/*.*/, /*:end*/
    array_agg(q.cause order by q.cause) as causes,
    min(q.since) as since
  from /*:touched*/errata.daily_orders_touched/*.*/ as q
  where q.window_end <= $1::timestamptz
    and q.window_start >= $2::timestamptz
  group by q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
  order by min(q.since), q.window_start
  limit $3::bigint
)
insert into pg_temp.errata_touched (target, window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/ causes, has_null_key)
select
  t.target, g.window_start, g.window_end, w.local_date, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.causes,
  false /*:each key*/ or g./*:key*/region/*.*/ is null /*:end*/
from waiting as g
join lateral /*:windows*/errata.daily_orders_windows/*.*/ (g.window_start) as w on w.window_start = g.window_start
join (values ('counted'), ('open'), ('all')) as t (target)
  on t.target = 'counted' or g.causes && '{seal,seal_mismatch}'
