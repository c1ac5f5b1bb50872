-- Classify, sessions: the new rows as the loop wants them, without those that an earlier run has judged already (R6).
--
-- Inputs: pg_temp.errata_arrived, analysed. Rows out: one a row, into pg_temp.errata_arrival. Safe to repeat: a
-- combination of key values is kept once.
--
-- Rows of sessions are looked up by all columns of their index at once. As `not exists` beside statistics of next to nothing,
-- PostgreSQL 15 read that whole index for each row, 8,000 times in 12.4 s, and joined the key afterwards; so it takes 0.2 s at most.
insert into /*:session_key*/errata.daily_orders_session_key/*.*/ (/*:each key*/ /*:key*/region/*.*/, /*:end*/ is_key)
select distinct /*:each key*/ a./*:key*/region/*.*/, /*:end*/ true
from pg_temp.errata_arrived as a
on conflict do nothing;

insert into pg_temp.errata_arrival (place, key_id, event_id, row_digest, event_time, at, watermark, combined, lateness, sealed_before, is_refused)
select
  a.errata_place, k.key_id, a.errata_event_id, a.errata_row_digest::uuid, a.errata_event_time, a.errata_ingested_at,
  a.errata_watermark, a.errata_combined, a.errata_lateness, a.errata_sealed_before, a.errata_is_refused
from pg_temp.errata_arrived as a
join /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  on k.is_key
  /*:each key*/ and array[k./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
left join lateral (
  select true as is_known
  from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
  where m.key_id = k.key_id and m.event_id = a.errata_event_id and m.row_digest = a.errata_row_digest::uuid
  limit 1
) as m on true
where m.is_known is null
  and not exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.event_id = a.errata_event_id and e.row_digest = a.errata_row_digest
  )
  and not exists (
    select from /*:copy*/errata.daily_orders_copy/*.*/ as c
    where c.event_id = a.errata_event_id and c.row_digest = a.errata_row_digest
  )
