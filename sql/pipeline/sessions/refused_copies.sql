-- Refused, sessions: an entry whose row is a copy is answered; copies join no session and are no candidates (R2, R5).
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
--
-- Inputs: pg_temp.errata_arrived, errata_joined, errata_candidate. Rows out: one an entry. Safe to repeat: an answered
-- entry stays so.
update /*:schema*/errata/*.*/.refused_entry as e
set found_run_id = $2::bigint, landing = 'copy'
from pg_temp.errata_arrived as r
where e.rollup_id = $1::integer
  and e.found_run_id is null
  and e.event_id = r.errata_event_id
  and (e.event_time = r.errata_event_time or e.event_time is null)
  and r.errata_is_refused
  and not exists (
    select from pg_temp.errata_joined as j
    join pg_temp.errata_arrival as a using (place)
    left join /*:session_row*/errata.daily_orders_session_row/*.*/ as m
      on m.key_id = a.key_id
      and m.event_id = a.event_id
      and m.row_digest = a.row_digest
    where j.place = r.errata_place and m.copy_since is null
  )
  and not exists (
    select from pg_temp.errata_candidate as c
    where c.errata_event_id = e.event_id
      and (c.errata_event_time = e.event_time or e.event_time is null)
  )
