-- Seal: of the keyed windows that became sealed those whose version 1 is the very value that their rows give. Nothing is left
-- out of them, and nobody asks anything else of them: they leave the queue, and this run does not recompute them.
--
-- Inputs: pg_temp.errata_sealing_result, analysed; the queue, the ledger, late events and copies. Rows out: one a
-- row that left the queue. Safe to repeat.
--
-- All hash joins over one range of windows: looked up one by one, the rows of a window's other keys came with each (1.0 s).
-- What is left to take, recompute and compare is what differs and what came late: 1,000 keyed windows and not 15,400.
with span as materialized (
  select min(s.window_start) as earliest, max(s.window_start) as latest
  from pg_temp.errata_sealing_result as s
),
shipped as (
  select l.*
  from /*:ledger*/gold.daily_orders/*.*/ as l
  cross join span as p
  where l.window_start between p.earliest and p.latest
    and l.version = 1
    and not l.is_void
),
otherwise as (
  select o.window_start, o.window_end /*:each key*/ , o./*:key*/region/*.*/ /*:end*/
  from (
    select l.window_start, l.window_end /*:each key*/ , l./*:key*/region/*.*/ /*:end*/
    from /*:ledger*/gold.daily_orders/*.*/ as l
    cross join span as p
    where l.window_start between p.earliest and p.latest
      and l.version > 1
    union all
    select q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
    from /*:touched*/errata.daily_orders_touched/*.*/ as q
    cross join span as p
    where q.window_start between p.earliest and p.latest
      and (q.cause <> 'seal' or q.error is not null or q.blocked_reason is not null)
    union all
    select e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
    from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    cross join span as p
    where e.window_start between p.earliest and p.latest
    union all
    select c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
    from /*:copy*/errata.daily_orders_copy/*.*/ as c
    cross join span as p
    where c.window_start between p.earliest and p.latest
    union all
    select n.window_start, n.window_end /*:each key*/ , n./*:key*/region/*.*/ /*:end*/
    from /*:source_change*/errata.daily_orders_source_change/*.*/ as n
    cross join span as p
    where n.window_start between p.earliest and p.latest
  ) as o
),
agreeing as (
  select s.window_start, s.window_end /*:each key*/ , s./*:key*/region/*.*/ /*:end*/
  from pg_temp.errata_sealing_result as s
  join shipped as l
    on l.window_start = s.window_start
    and l.window_end = s.window_end
    /*:each key*/ and array[l./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
  where coalesce(l.event_count, s.event_count) = s.event_count
    and not (/*:sealing_differs*/s.revenue is distinct from l.revenue/*.*/)
    and not exists (
      select from otherwise as o
      where o.window_start = s.window_start
        and o.window_end = s.window_end
        /*:each key*/ and array[o./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
    )
)
delete from /*:touched*/errata.daily_orders_touched/*.*/ as q
using agreeing as a
where q.cause = 'seal'
  and q.window_start between (select p.earliest from span as p) and (select p.latest from span as p)
  and q.window_start = a.window_start
  and q.window_end = a.window_end
  /*:each key*/ and array[q./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
