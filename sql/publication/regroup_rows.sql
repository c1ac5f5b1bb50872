-- Regroup: refused or quarantined rows that a person released in this run, each still in the session that it makes by itself (R6s).
--
-- $1 run_id: bigint
--
-- Rows out: one a row, into pg_temp.errata_arrival, which the run has used up by then. Safe to repeat: writes work tables
-- only.
insert into pg_temp.errata_arrival (place, key_id, event_id, row_digest, event_time, at, watermark, combined)
select
  row_number() over (order by e.event_time, e.row_digest), k.key_id, e.event_id, e.row_digest::uuid, e.event_time,
  e.ingested_at, coalesce(e.watermark, '-infinity'), coalesce(e.watermark, '-infinity')
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  on k.is_key
  /*:each key*/ and array[k./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
where e.state_run_id = $1::bigint
  and e.state = 'pending'
  and e.released
  and e.landing in ('side_output', 'quarantined')
  and not exists (
    select from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
    where m.key_id = k.key_id and m.event_id = e.event_id and m.row_digest = e.row_digest::uuid
  )
