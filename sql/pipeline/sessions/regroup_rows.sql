-- Regroup: refused or quarantined rows that a person released, each still in the session that it makes by itself, once that
-- is sealed and no open session touches it; until then they wait (R6s).
--
-- $1 sealed_until: the watermark that seals, of keys without a delay of their own
--
-- A row out of quarantine whose id a session that it touches has already, or an earlier one beside it, is a copy and loses
-- its state: it counts nowhere (R5). Rows out: one a row, into pg_temp.errata_arrival, which the run has used up by then.
-- Safe to repeat: a combination of key values is kept once.
with released as (
  select e.*, /*:key_sealed_until*/$1::timestamptz/*.*/ as sealed_until
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  /*:event_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[e.region]/*.*/
  where e.state = 'pending'
    and e.released
    and e.landing in ('side_output', 'quarantined')
    and e.gone_run_id is null
    and e.window_end <= /*:key_sealed_until*/$1::timestamptz/*.*/
),
-- quarantine knows of no keys
new_key as (
  insert into /*:session_key*/errata.daily_orders_session_key/*.*/ (/*:each key*/ /*:key*/region/*.*/, /*:end*/ is_key)
  select distinct /*:each key*/ e./*:key*/region/*.*/, /*:end*/ true
  from released as e
  on conflict do nothing
  returning key_id /*:each key*/ , /*:key*/region/*.*/ /*:end*/
),
known_key as (
  select k.key_id /*:each key*/ , k./*:key*/region/*.*/ /*:end*/ from /*:session_key*/errata.daily_orders_session_key/*.*/ as k
  union all
  select k.key_id /*:each key*/ , k./*:key*/region/*.*/ /*:end*/ from new_key as k
),
alone as (
  select k.key_id, e.event_id, e.row_digest, e.event_time, e.ingested_at, e.watermark, e.landing
  from released as e
  join known_key as k
    on true
    /*:each key*/ and array[k./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
  where not exists (
      select from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
      where m.key_id = k.key_id and m.event_id = e.event_id and m.row_digest = e.row_digest::uuid
    )
    and not exists (
      select from /*:session*/errata.daily_orders_session/*.*/ as s
      where s.key_id = k.key_id
        and s.replaced_by is null
        and s.window_end > e.sealed_until
        and s.window_start <= e.window_end
    )
),
copy as (
  select a.key_id, a.event_id, a.row_digest
  from alone as a
  where a.landing = 'quarantined'
    and not /*:unique_rows*/false/*.*/
    and (
      exists (
        select from /*:session_row*/errata.daily_orders_session_row/*.*/ as m
        join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = m.session_id
        join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = p.session_id
        where m.key_id = a.key_id
          and m.event_id = a.event_id
          and s.replaced_by is null
          and s.window_end >= a.event_time
          and s.window_start <= a.event_time + /*:session_gap*/interval '1800000000 microseconds'/*.*/
      )
      or exists (
        select from alone as f
        where f.key_id = a.key_id
          and f.event_id = a.event_id
          and (f.ingested_at, f.row_digest collate "C") < (a.ingested_at, a.row_digest collate "C")
          and f.event_time between a.event_time - /*:session_gap*/interval '1800000000 microseconds'/*.*/ and a.event_time + /*:session_gap*/interval '1800000000 microseconds'/*.*/
      )
    )
),
without_state as (
  delete from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  using copy as c
  where e.event_id = c.event_id
    and e.row_digest = c.row_digest
    and e.landing = 'quarantined'
    and e.window_start is not null
)
insert into pg_temp.errata_arrival (place, key_id, event_id, row_digest, event_time, at, watermark, combined)
select
  row_number() over (order by a.event_time, a.row_digest), a.key_id, a.event_id, a.row_digest::uuid, a.event_time,
  a.ingested_at, coalesce(a.watermark, '-infinity'), coalesce(a.watermark, '-infinity')
from alone as a
where not exists (
  select from copy as c
  where c.key_id = a.key_id and c.event_id = a.event_id and c.row_digest = a.row_digest
)
