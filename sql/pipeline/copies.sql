-- Copies: within a window the first row with an event id counts, once (R5). What is found here is recorded, and no
-- later stage ranks rows again: so a copy that is examined later displaces nothing.
--
-- $1 sealing_from, $2 sealing_to: where the windows that this run seals start; equal where it seals none
-- $3 ingested_from: no row of those windows was ingested earlier; null where that cannot be known
-- $4 bound: bound of this run
-- $5 transaction: see scan.sql
-- $6 run_id: bigint
-- $7 events_to: end of the last of those windows
--
-- Inputs: bronze, pg_temp.errata_candidate, pg_temp.errata_partition. Rows out: one a further row, into the copy
-- table; conflicts also into the late events. Side effect: pg_temp.errata_first_copy names the row that counts.
-- Safe to repeat: a copy that is known already is only counted again.
with sealing_id as (
  select w.window_start, w.window_end, r.errata_event_id
  from /*:span_source*/errata.daily_orders_source () as r/*.*/
  cross join lateral /*:windows*/errata.daily_orders_windows/*.*/ (r.errata_event_time) as w
  /*:row_key_join*/left join pg_temp.errata_override as v on array[v.region] = array[r.region]/*.*/
  -- the first line spares the reading where nothing is sealed
  where $1::timestamptz < $2::timestamptz
    and r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $7::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
    and r.errata_ingested_at <= $4::timestamptz
    and r.errata_quarantine is null
    and not r.errata_is_heartbeat
    and /*:in_range*/w.window_start >= $1::timestamptz and w.window_start < $2::timestamptz/*.*/
    /*:in_span*/and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to and w.window_start >= g.sealing_from and w.window_start < g.sealing_to/*.*/
  group by w.window_start, w.window_end, r.errata_event_id
  having count(*) > 1
    /*:any_key_is_sealing*/and bool_or(w.window_start >= coalesce(v.errata_sealing_from, g.others_from) and w.window_start < coalesce(v.errata_sealing_to, g.others_to))/*.*/
),
late_id as (
  select distinct c.window_start, c.window_end, c.errata_event_id /*:each id*/ , c./*:id*/order_id/*.*/ /*:end*/
  from pg_temp.errata_candidate as c
  where c.errata_landing <> 'quarantined'
    and /*:is_not_sealing*/not (c.window_start >= $1::timestamptz and c.window_start < $2::timestamptz)/*.*/
),
twin as (
  select s.window_start, s.window_end, false as is_sealed, r.*
  from /*:span_join*/pg_temp.errata_sealing_span as g cross join/*.*/ sealing_id as s
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_id = s.errata_event_id
    and r.errata_event_time >= s.window_start
    and r.errata_event_time < s.window_end
    and r.errata_event_time >= $1::timestamptz
    and r.errata_event_time < $7::timestamptz
    and (r.errata_ingested_at >= $3::timestamptz or $3::timestamptz is null)
  where $1::timestamptz < $2::timestamptz
    /*:id_in_span*/and s.window_start >= g.sealing_from and s.window_start < g.sealing_to and r.errata_event_time >= g.sealing_from and r.errata_event_time < g.events_to/*.*/
  union all
  select l.window_start, l.window_end, true, r.*
  from late_id as l
  join /*:source*/errata.daily_orders_source/*.*/ () as r
    on r.errata_event_id = l.errata_event_id
    /*:each id*/ and r./*:id*/order_id/*.*/ = l./*:id*/order_id/*.*/ /*:end*/
    and r.errata_event_time >= l.window_start
    and r.errata_event_time < l.window_end
),
ranked as (
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
          (t.errata_row_age <= p.horizon_age and not (p.seen @> ($5::bigint - t.errata_row_age)))
            or t.errata_ingested_at > p.bound_before,
          false
        ),
        t.errata_ingested_at,
        t.errata_row_digest collate "C"
    ) as place
  from twin as t
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
  where t.errata_quarantine is null
    and not t.errata_is_heartbeat
    and t.errata_ingested_at <= $4::timestamptz
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
    true, jsonb_build_object('this', f.payload, 'counted', f.first_payload), f.errata_row_digest, $6::bigint
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
