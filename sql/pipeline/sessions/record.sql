-- Classify, sessions: record which session each row joined, and hand on what is late (R3, R6s).
--
-- Inputs: pg_temp.errata_joined, errata_arrival, errata_arrived. Rows out: one a row that landed late, straggled or was
-- refused, into pg_temp.errata_candidate, under the session that has its rows now; a refused row that awaits a person
-- under the session that it makes by itself. Safe to repeat: a row joins one session.
with recorded as (
  insert into /*:session_row*/errata.daily_orders_session_row/*.*/ (key_id, event_id, row_digest, session_id, is_late)
  select a.key_id, a.event_id, a.row_digest, j.session_id, j.is_late
  from pg_temp.errata_joined as j
  join pg_temp.errata_arrival as a using (place)
  where j.session_id is not null
  on conflict do nothing
)
insert into pg_temp.errata_candidate
select
  r.errata_event_id, r.errata_event_time, r.errata_ingested_at, r.errata_arrived_at, r.errata_source_partition,
  r.errata_is_heartbeat, r.errata_quarantine, r.errata_is_valid, r.errata_row_digest, r.errata_row_age, r.errata_relation
  /*:span_names*/, r.errata_delay, r.errata_allowed_lateness/*.*/,
  /*:each column*/ r./*:column*/region/*.*/, /*:end*/
  coalesce(s.window_start, r.errata_event_time),
  coalesce(s.window_end, r.errata_event_time + /*:session_gap*/interval '1800000000 microseconds'/*.*/),
  null,
  nullif(r.errata_watermark, '-infinity'),
  j.landing
from pg_temp.errata_joined as j
join pg_temp.errata_arrived as r on r.errata_place = j.place
left join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = j.session_id
left join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = p.session_id
where (j.is_late or j.landing <> 'open')
  and s.replaced_by is null
  and (j.session_id is null or s.session_id is not null)
