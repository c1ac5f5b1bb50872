-- Touch the keyed windows that have rows, whose end the watermark has passed, and for which nothing shipped: the stream,
-- which seals, wrote no version 1 (R8, R9).
--
-- $1 sealing_from: where the first of the windows that became sealed starts
-- $2 events_to: end of the last of those windows
-- $3 ingested_from: no row of those windows was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
--
-- Inputs: pg_temp.errata_sealing_result, analysed; bronze, the ledger, late events. Rows out: one a keyed window. Safe to
-- repeat: the queue holds each once.
--
-- What the ledger lacks is found first, and is little or nothing where the stream shipped: the rows are then not read again.
-- Rejected: both questions in one condition, which the planner turned round: a hash of all rows by their key alone, compared with
-- all keyed windows; over 6 minutes beside 427,113 versions and 2 million rows, when it was stopped.
with missing as materialized (
  select s.window_start, s.window_end /*:each key*/ , s./*:key*/region/*.*/ /*:end*/
  from pg_temp.errata_sealing_result as s
  where not exists (
    select from /*:ledger*/gold.daily_orders/*.*/ as g
    where g.window_start = s.window_start
      and g.window_end is not distinct from s.window_end
      /*:each key*/ and array[g./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
  )
)
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select distinct m.window_start, m.window_end, /*:each key*/ m./*:key*/region/*.*/, /*:end*/ 'seal_mismatch', $4::timestamptz
from missing as m
join (
  select w.window_start as errata_window_start, w.window_end as errata_window_end, r.*
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
) as r
  on r.errata_event_time >= m.window_start
  and r.errata_event_time < m.window_end
  and r.errata_window_start = m.window_start
  /*:each key*/ and array[r./*:key*/region/*.*/] = array[m./*:key*/region/*.*/] /*:end*/
where r.errata_event_time >= $1::timestamptz
  and r.errata_event_time < $2::timestamptz
  and r.errata_is_valid
  and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
  and r.errata_ingested_at <= $4::timestamptz
  -- rows that only landed late stand in the queue, or wait for a person, under their own cause
  and not exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.window_start = m.window_start
      and e.window_end is not distinct from m.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[m./*:key*/region/*.*/] /*:end*/
      and e.event_id = r.errata_event_id
  )
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
