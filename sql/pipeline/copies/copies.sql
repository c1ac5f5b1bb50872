-- Copies: within a window the first row with an event id counts, once (R5). What is found here is recorded, and no
-- later stage ranks rows again: so a copy that is examined later displaces nothing.
--
-- $1 bound: bound of this run
-- $2 transaction: see scan.sql
-- $3 run_id: bigint
--
-- Inputs: pg_temp.errata_same_id, analysed; pg_temp.errata_partition. Rows out: one a further row, into the copy
-- table; conflicts also into the late events. Side effect: pg_temp.errata_first_copy names the row that counts.
-- Safe to repeat: a copy that is known already is only counted again.
with ranked as (
  select
    t.*,
    row(/*:each key*/ t./*:key*/region/*.*/, /*:end*/ /*:each measured*/ t./*:column*/amount/*.*/, /*:end*/ null)::text as payload,
    row_number() over (
      partition by t.window_start, t.window_end, t.errata_event_id
      order by
        -- known as a copy already; then, where a version has counted rows, those of this run after those before it;
        -- then the order of ingestion
        (c.event_id is not null),
        /*:is_counted_or*/t.is_sealed and/*.*/ coalesce(
          (t.errata_row_age <= p.horizon_age and not (p.seen @> ($2::bigint - t.errata_row_age)))
            or t.errata_ingested_at > p.bound_before,
          false
        ),
        t.errata_ingested_at,
        t.errata_row_digest collate "C"
    ) as place
  from pg_temp.errata_same_id as t
  /*:said_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[t.region]/*.*/
  left join pg_temp.errata_partition as p on p.relation_id = t.errata_relation
  left join /*:copy*/errata.daily_orders_copy/*.*/ as c
    on c.window_start = t.window_start
    and c.window_end = t.window_end
    /*:each key*/ and array[c./*:key*/region/*.*/] = array[t./*:key*/region/*.*/] /*:end*/
    and c.event_id = t.errata_event_id
    and c.ingested_at = t.errata_ingested_at
    and c.row_digest = t.errata_row_digest
    -- where the row that counts has the same values, either of the two may go first
    and not c.is_identical
  where t.errata_is_valid
    and t.errata_event_time >= t.window_start
    and t.errata_event_time < t.window_end
    and t.errata_ingested_at <= $1::timestamptz
),
first_copy as (
  select r.window_start, r.window_end, r.errata_event_id, r.errata_row_digest, r.payload
  from ranked as r
  where r.place = 1
),
named as (
  insert into pg_temp.errata_first_copy (window_start, window_end, event_id, row_digest)
  select f.window_start, f.window_end, f.errata_event_id, f.errata_row_digest
  from first_copy as f
),
further as (
  select r.*, f.errata_row_digest as first_digest, f.payload as first_payload
  from ranked as r
  join first_copy as f using (window_start, window_end, errata_event_id)
  where r.place > 1
),
conflicting as (
  insert into /*:late_event*/gold.daily_orders_late_event/*.*/ as e (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/
    event_id, event_time, ingested_at, arrived_at, lateness_seconds, source_partition,
    is_conflict, conflicts_with, row_digest, first_run_id
  )
  select distinct
    f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/
    f.errata_event_id, f.errata_event_time, f.errata_ingested_at, f.errata_arrived_at,
    extract(epoch from f.errata_arrived_at - f.errata_event_time), f.errata_source_partition,
    true, jsonb_build_object('this', f.payload, 'counted', f.first_payload), f.errata_row_digest, $3::bigint
  from further as f
  where f.payload <> f.first_payload
  on conflict do nothing
)
insert into /*:copy*/errata.daily_orders_copy/*.*/ as c (
  window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_id, ingested_at, row_digest, is_identical, copies
)
select
  f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/
  f.errata_event_id, f.errata_ingested_at, f.errata_row_digest, bool_or(f.errata_row_digest = f.first_digest), count(*)
from further as f
group by f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/ f.errata_event_id, f.errata_ingested_at, f.errata_row_digest
on conflict on constraint /*:copy_once*/daily_orders_copy_once/*.*/ do update
  set copies = greatest(c.copies, excluded.copies), is_identical = excluded.is_identical
