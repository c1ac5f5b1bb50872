-- Refused: what refused_rows found to stay as it is leaves the candidates, and its entry is answered. Where a row that
-- landed open is refused from now on, the stream's version 1, or its absence, is compared with the others anew (R10).
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 sealed_before: the watermark that sealed in earlier runs; null before the first
-- $4 since: the bound of this run
--
-- Inputs: pg_temp.errata_candidate, as refused_rows left it. Rows out: one a keyed window that was not queued yet. Safe
-- to repeat: the queue holds each once.
with judged as (
  delete from pg_temp.errata_candidate as c
  where c.errata_landing = 'judged'
  returning c.window_start, c.window_end, c.errata_event_id, c.errata_event_time, c.errata_row_digest
),
answered as (
  update /*:schema*/errata/*.*/.refused_entry as e
  set found_run_id = $2::bigint, landing = s.landing
  from (
    select distinct on (n.refused_entry_id) n.refused_entry_id, coalesce(l.landing, 'open') as landing
    from judged as j
    join /*:schema*/errata/*.*/.refused_entry as n
      on n.rollup_id = $1::integer
      and n.event_id = j.errata_event_id
      and (n.event_time = j.errata_event_time or n.event_time is null)
      and (n.window_start = j.window_start or n.window_start is null)
      and (n.window_end = j.window_end or n.window_end is null)
    left join /*:late_event*/gold.daily_orders_late_event/*.*/ as l
      on /*:judged_window*/l.window_start = j.window_start and l.window_end = j.window_end and/*.*/
      l.event_id = j.errata_event_id
      and l.row_digest = j.errata_row_digest
      and l.landing is not null
    order by n.refused_entry_id, l.landing is not distinct from 'side_output'
  ) as s
  where e.refused_entry_id = s.refused_entry_id
    and e.found_run_id is null
)
insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
)
select distinct
  c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/
  case v.version when 1 then 'seal' else 'seal_mismatch' end,
  $4::timestamptz
from pg_temp.errata_candidate as c
cross join lateral (
  select max(g.version) as version
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start = c.window_start
    and g.window_end = c.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
) as v
where c.errata_landing = 'side_output'
  and c.window_end <= $3::timestamptz
  and coalesce(v.version, 1) = 1
on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
