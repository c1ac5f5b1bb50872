-- Take from the queue what this run recomputes: windows that are sealed and whose bronze is complete (R9, R15).
--
-- $1 sealed_until: the watermark that seals
-- $2 complete_from: bronze is complete from here on
-- $3 max_windows: at most so many keyed windows; null for all. The longest waiting first, then the earliest window, then the
--   key; those that are proposed, are blocked or failed after all others, so that they never hold them up (R19)
-- $4 rollup_id: integer
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
  /*:queue_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[q.region]/*.*/
  where q.window_end <= /*:key_sealed_until*/$1::timestamptz/*.*/
    and q.window_start >= $2::timestamptz
  group by q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
  -- nothing is corrected before version 1 is written
  having not bool_or(q.cause = 'unsealed')
  order by
    -- a person has been asked already, and what is left of it stays until they answer
    $3::bigint is not null and exists (
      select from /*:schema*/errata/*.*/.proposal as o
      where o.rollup_id = $4::integer
        and o.window_start = q.window_start
        and o.window_end = q.window_end
        and o.key = jsonb_build_array(/*:queue_key_texts*/q.region::text/*.*/)
        and o.state = 'open'
    ),
    bool_or(q.error is not null or q.blocked_reason is not null),
    max(q.tries),
    min(q.since),
    q.window_start,
    q.window_end
    /*:each key*/ , q./*:key*/region/*.*/::text collate "C" /*:end*/
  limit $3::bigint
),
-- where a deletion, a change or a seal mismatch awaits a person or was rejected, bronze still differs from the latest
-- version for that reason too
taken as materialized (
  select
    c.*,
    array(
      select q.cause from unnest(c.causes) as q (cause)
      union
      select n.cause
      from /*:schema*/errata/*.*/.proposal as o
      cross join lateral unnest(o.causes) as n (cause)
      where o.rollup_id = $4::integer
        and o.window_start = c.window_start
        and o.window_end = c.window_end
        and o.key = jsonb_build_array(/*:key_texts*/c.region::text/*.*/)
        and (o.state = 'open' or o.rejected_measures is not null)
        and n.cause in ('source_change', 'seal_mismatch')
      order by 1
    ) as errata_causes
  from waiting as c
)
insert into pg_temp.errata_touched (target, window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/ causes, has_null_key)
select
  t.target, c.window_start, c.window_end, w.local_date, /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  c.errata_causes,
  false /*:each key*/ or c./*:key*/region/*.*/ is null /*:end*/
from taken as c
join lateral /*:windows*/errata.daily_orders_windows/*.*/ (c.window_start) as w on w.window_start = c.window_start
join (values ('counted'), ('open'), ('all')) as t (target)
  on t.target = 'counted' or c.errata_causes && '{seal,seal_mismatch}'
