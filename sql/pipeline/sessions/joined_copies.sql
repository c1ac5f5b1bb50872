-- Copies, sessions: of the rows with one id in a session, the first by ingestion counts; from this session on the others
-- are copies of it (R5). The sessions that they counted in keep them, so that a version 1 that is still to be written over
-- one of those says what had arrived by then.
--
-- $1 events_from, $2 events_to: all event times of those sessions, half-open
-- $3 ingested_from: no row of them was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
-- $5 run_id: bigint
--
-- Inputs: pg_temp.errata_repeated, analysed; bronze. A row that bronze holds no more is left as it is. Rows out: one a copy,
-- into the copies; conflicts also into the late events, with both values; a copy has no landing and is no late event.
-- Safe to repeat: a copy is found once.
with found as (
  select distinct on (t.session_id, t.event_id, t.row_digest)
    t.session_id, t.key_id, t.event_id, t.row_digest, r.*,
    row(/*:each key*/ r./*:key*/region/*.*/, /*:end*/ /*:each measured*/ r./*:column*/amount/*.*/, /*:end*/ null)::text as payload
  from pg_temp.errata_repeated as t
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_time >= t.window_start
    and r.errata_event_time < t.window_end
    and r.errata_event_id = t.event_id
    and r.errata_row_digest::uuid = t.row_digest
  where r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $2::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
  order by t.session_id, t.event_id, t.row_digest, r.errata_ingested_at
),
ranked as (
  select
    f.*,
    row_number() over in_order as errata_rank,
    first_value(f.row_digest) over in_order as first_digest,
    first_value(f.payload) over in_order as first_payload
  from found as f
  window in_order as (
    partition by f.session_id, f.event_id
    order by f.errata_ingested_at, f.errata_row_digest collate "C"
  )
),
-- sessions are numbered as they arise: the first in which it is not the first
further as materialized (
  select distinct on (r.key_id, r.event_id, r.row_digest) r.*, s.window_start, s.window_end
  from ranked as r
  join /*:session_part*/errata.daily_orders_session_part/*.*/ as p on p.part_id = r.session_id
  join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = p.session_id and s.replaced_by is null
  where r.errata_rank > 1
  order by r.key_id, r.event_id, r.row_digest, r.session_id
),
recorded as (
  update /*:session_row*/errata.daily_orders_session_row/*.*/ as m
  set copy_since = f.session_id
  from further as f
  where m.key_id = f.key_id and m.event_id = f.event_id and m.row_digest = f.row_digest
),
-- what this run took for copies of it are copies of the first
answered as (
  update pg_temp.errata_session_copy as c
  set row_digest = f.first_digest
  from further as f
  join pg_temp.errata_arrival as a on a.key_id = f.key_id and a.event_id = f.event_id
  where c.place = a.place and c.row_digest = f.row_digest
),
no_candidate as (
  delete from pg_temp.errata_candidate as c
  using further as f
  where c.errata_event_id = f.event_id
    and c.errata_row_digest = f.errata_row_digest
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
),
no_late_event as (
  delete from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  using further as f
  where e.event_id = f.event_id
    and e.row_digest = f.errata_row_digest
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
    and e.landing is not null
),
conflicting as (
  insert into /*:late_event*/gold.daily_orders_late_event/*.*/ as e (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/
    event_id, event_time, ingested_at, arrived_at, lateness_seconds, source_partition,
    is_conflict, conflicts_with, row_digest, first_run_id
  )
  select
    f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/
    f.errata_event_id, f.errata_event_time, f.errata_ingested_at, f.errata_arrived_at,
    extract(epoch from f.errata_arrived_at - f.errata_event_time), f.errata_source_partition,
    true, jsonb_build_object('this', f.payload, 'counted', f.first_payload), f.errata_row_digest, $5::bigint
  from further as f
  where f.payload <> f.first_payload
  on conflict do nothing
)
insert into /*:copy*/errata.daily_orders_copy/*.*/ as c (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_id, ingested_at, row_digest, is_identical, copies
)
select
  f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/
  f.errata_event_id, f.errata_ingested_at, f.errata_row_digest, false, 1
from further as f
on conflict on constraint /*:copy_once*/daily_orders_copy_once/*.*/ do update set copies = c.copies + 1
