-- Forget stragglers that turn out to have been counted: bronze was restored or rewritten and read anew, and the
-- recomputed window has no more events than its latest version (R16).
--
-- Inputs: pg_temp.errata_change. Rows out: one a straggler that this run had wrongly named. Safe to repeat.
with surplus as (
  select
    e.ctid as place,
    row_number() over (
      partition by e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
      order by e.ingested_at, e.row_digest
    ) as n,
    c.old_event_count + count(*) over (partition by e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/)
      + (
        select count(*)
        from /*:late_event*/gold.daily_orders_late_event/*.*/ as o
        where o.window_start = c.window_start
          and o.window_end is not distinct from c.window_end
          /*:each key*/ and array[o./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
          and o.state in ('pending', 'held') and o.released and o.cause <> 'straggler'
      ) - c.event_count as counted_already
  from pg_temp.errata_change as c
  join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    on e.window_start = c.window_start
    and e.window_end is not distinct from c.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  where c.verdict in ('same', 'change', 'propose', 'held')
    and c.old_event_count is not null
    -- where rows were deleted or changed an equal count says that rows were updated, another count nothing
    and (not 'source_change' = any (c.causes) or c.event_count = c.old_event_count)
    and e.state in ('pending', 'held') and e.released and e.cause = 'straggler'
)
delete from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
using surplus as s
where e.ctid = s.place and s.n <= s.counted_already
