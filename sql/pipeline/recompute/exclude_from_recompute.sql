-- Exclude, for the touched windows: events that a set of rows leaves out, by state or by landing, and the copies (R5, R7).
--
-- Inputs: pg_temp.errata_touched, analysed. Rows out: into pg_temp.errata_excluded and pg_temp.errata_copied.
-- Safe to repeat: writes work tables only.
with copied as (
  insert into pg_temp.errata_copied
  select t.target, c.*
  from pg_temp.errata_touched as t
  join /*:copy*/errata.daily_orders_copy/*.*/ as c
    on c.window_start = t.window_start
    and c.window_end = t.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
)
insert into pg_temp.errata_excluded (target, window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_id, ingested_at)
select t.target, e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.event_id, e.ingested_at
from pg_temp.errata_touched as t
join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  on e.window_start = t.window_start
  and e.window_end is not distinct from t.window_end
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
where (t.target = 'counted' and (e.state = 'waived' or (e.state in ('pending', 'held') and not e.released)))
  or (t.target = 'open' and e.landing in ('late_firing', 'side_output', 'quarantined'))
  -- version 1 that is written after its window was sealed: what a baseline has included in it counts
  or (t.target = 'unsealed' and e.landing in ('late_firing', 'side_output', 'quarantined') and not (e.state = 'included' and e.version = 1))
