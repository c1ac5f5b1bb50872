-- Regroup: record which session each released row joined; the row stands under it from now on (R6s).
--
-- $1 run_id: bigint
--
-- Inputs: pg_temp.errata_joined, errata_arrival. Rows out: one a row. Safe to repeat: a row joins one session.
with recorded as (
  insert into /*:session_row*/errata.daily_orders_session_row/*.*/ (key_id, event_id, row_digest, session_id, is_late)
  select a.key_id, a.event_id, a.row_digest, j.session_id, true
  from pg_temp.errata_joined as j
  join pg_temp.errata_arrival as a using (place)
  on conflict do nothing
)
update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
set window_start = s.window_start, window_end = s.window_end, state_run_id = $1::bigint
from pg_temp.errata_joined as j
join pg_temp.errata_arrival as a using (place)
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k using (key_id)
join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = j.session_id
join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = p.session_id and s.replaced_by is null
where e.event_id = a.event_id
  and e.row_digest::uuid = a.row_digest
  and e.landing in ('side_output', 'quarantined')
  and e.state = 'pending'
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[k./*:key*/region/*.*/] /*:end*/
