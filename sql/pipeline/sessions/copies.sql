-- Copies, sessions: further rows with an id that the session has, as the loop found them (R5).
--
-- $1 run_id: bigint
-- $2 since: the bound of this run
-- $3 rollup_id: integer
--
-- Inputs: pg_temp.errata_session_copy, errata_arrival, errata_joined, errata_arrived. Rows out: one a copy; conflicts also
-- into the late events, with both values. Where bronze does not hold the row that counts any more, it was changed (or a
-- column of it), or deleted: its session is noted, so that amend lets this row count; not where an ingestion partition that
-- may have held it is gone (R15). Safe to repeat: a copy is kept once.
with further as (
  select c.place, c.row_digest as first_digest, s.session_id, c.window_start, c.window_end
  from pg_temp.errata_session_copy as c
  left join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = c.session_id
  union all
  select a.place, f.row_digest, j.session_id, f.event_time, f.event_time + /*:session_gap*/interval '1800000000 microseconds'/*.*/
  from pg_temp.errata_arrival as a
  join pg_temp.errata_arrival as f on f.place = a.twin_of
  join pg_temp.errata_joined as j on j.place = a.twin_of
  where not exists (select from pg_temp.errata_session_copy as c where c.place = a.place)
),
placed as (
  select
    f.place,
    f.first_digest,
    coalesce(s.window_start, f.window_start) as window_start,
    coalesce(s.window_end, f.window_end) as window_end
  from further as f
  left join lateral (
    select s.window_start, s.window_end
    from /*:session_part*/errata.daily_orders_session_part/*.*/ as p
    join /*:session*/errata.daily_orders_session/*.*/ as s on s.session_id = p.session_id
    where p.part_id = f.session_id and s.replaced_by is null
  ) as s on true
),
compared as (
  select
    p.window_start,
    p.window_end,
    p.first_digest,
    r.*,
    row(/*:each key*/ r./*:key*/region/*.*/, /*:end*/ /*:each measured*/ r./*:column*/amount/*.*/, /*:end*/ null)::text as payload
  from placed as p
  join pg_temp.errata_arrived as r on r.errata_place = p.place
),
counted as (
  select
    r.errata_event_id as event_id,
    r.errata_row_digest as row_digest,
    row(/*:each key*/ r./*:key*/region/*.*/, /*:end*/ /*:each measured*/ r./*:column*/amount/*.*/, /*:end*/ null)::text as payload
  from (select distinct c.errata_event_id /*:each id*/ , c./*:id*/order_id/*.*/ /*:end*/ from compared as c) as i
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_id = i.errata_event_id
    /*:each id*/ and r./*:id*/order_id/*.*/ = i./*:id*/order_id/*.*/ /*:end*/
),
conflicting as (
  insert into /*:late_event*/gold.daily_orders_late_event/*.*/ as e (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/
    event_id, event_time, ingested_at, arrived_at, lateness_seconds, source_partition,
    is_conflict, conflicts_with, row_digest, first_run_id
  )
  select distinct
    c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/
    c.errata_event_id, c.errata_event_time, c.errata_ingested_at, c.errata_arrived_at,
    extract(epoch from c.errata_arrived_at - c.errata_event_time), c.errata_source_partition,
    true, jsonb_build_object('this', c.payload, 'counted', n.payload), c.errata_row_digest, $1::bigint
  from compared as c
  join counted as n on n.event_id = c.errata_event_id and n.row_digest::uuid = c.first_digest
  where n.payload <> c.payload
  on conflict do nothing
),
noted as (
  insert into /*:source_change*/errata.daily_orders_source_change/*.*/ (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ since)
  select distinct c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ $2::timestamptz
  from compared as c
  where not exists (
    select from counted as n
    where n.event_id = c.errata_event_id and n.row_digest::uuid = c.first_digest
  )
  and not exists (
    select from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = $3::integer
      and p.gone_at is not null
      and p.event_time_from < c.window_end
      and p.event_time_to >= c.window_start
  )
)
insert into /*:copy*/errata.daily_orders_copy/*.*/ as c (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_id, ingested_at, row_digest, is_identical, copies
)
select
  f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/
  f.errata_event_id, f.errata_ingested_at, f.errata_row_digest, bool_or(f.errata_row_digest::uuid = f.first_digest), count(*)
from compared as f
group by f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/ f.errata_event_id, f.errata_ingested_at, f.errata_row_digest
on conflict on constraint /*:copy_once*/daily_orders_copy_once/*.*/ do nothing
