-- Amend: record the copies of those ids as they are now (R5). Where the row that counted is gone a copy counts in its
-- place, and its keyed window is recomputed too; so is that of a new row which this run had taken for the first.
--
-- $1 run_id: bigint
-- $2 since: the bound of this run
--
-- Inputs: pg_temp.errata_amended_row. Rows out: one a further keyed window, into pg_temp.errata_touched and the queue; and
-- into pg_temp.errata_amended.
-- Safe to repeat: what is recorded already is recorded again.
with first_copy as (
  select r.*
  from pg_temp.errata_amended_row as r
  where r.errata_place = 1
),
further as (
  select r.*, f.errata_row_digest as first_digest, f.errata_payload as first_payload
  from pg_temp.errata_amended_row as r
  join first_copy as f using (errata_window_start, errata_window_end, errata_event_id)
  where r.errata_place > 1
),
conflicting as (
  insert into /*:late_event*/gold.daily_orders_late_event/*.*/ as e (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/
    event_id, event_time, ingested_at, arrived_at, lateness_seconds, source_partition,
    is_conflict, conflicts_with, row_digest, first_run_id
  )
  select distinct
    f.errata_window_start, f.errata_window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/
    f.errata_event_id, f.errata_event_time, f.errata_ingested_at, f.errata_arrived_at,
    extract(epoch from f.errata_arrived_at - f.errata_event_time), f.errata_source_partition,
    true, jsonb_build_object('this', f.errata_payload, 'counted', f.first_payload), f.errata_row_digest, $1::bigint
  from further as f
  where f.errata_payload <> f.first_payload
  on conflict on constraint /*:late_event_once*/daily_orders_late_event_once/*.*/ do update
    set conflicts_with = excluded.conflicts_with
    where e.is_conflict
),
copied as (
  insert into /*:copy*/errata.daily_orders_copy/*.*/ as c (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ event_id, ingested_at, row_digest, is_identical, copies
  )
  select
    f.errata_window_start, f.errata_window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/
    f.errata_event_id, f.errata_ingested_at, f.errata_row_digest, bool_or(f.errata_row_digest = f.first_digest), count(*)
  from further as f
  group by f.errata_window_start, f.errata_window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/ f.errata_event_id, f.errata_ingested_at, f.errata_row_digest
),
promoted as (
  select distinct f.errata_window_start as window_start, f.errata_window_end as window_end /*:each key*/ , f./*:key*/region/*.*/ /*:end*/
  from pg_temp.errata_amended_row as f
  where (
      (f.errata_place = 1 and f.errata_was_copy)
      or (
        f.errata_place > 1
        and not f.errata_was_copy
        and exists (
          select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
          where e.window_start = f.errata_window_start
            and e.window_end = f.errata_window_end
            /*:each key*/ and array[e./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
            and e.event_id = f.errata_event_id
            and e.row_digest = f.errata_row_digest
            and e.landing is not null
        )
      )
    )
    and not exists (
      select from pg_temp.errata_amended as a
      where a.window_start = f.errata_window_start
        and a.window_end = f.errata_window_end
        /*:each key*/ and array[a./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
    )
),
queued as (
  insert into /*:touched*/errata.daily_orders_touched/*.*/ as q (
    window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ cause, since
  )
  select p.window_start, p.window_end, /*:each key*/ p./*:key*/region/*.*/, /*:end*/ 'source_change', $2::timestamptz
  from promoted as p
  on conflict on constraint /*:touched_once*/daily_orders_touched_once/*.*/ do nothing
),
judged as (
  insert into pg_temp.errata_amended (window_start, window_end /*:each key*/ , /*:key*/region/*.*/ /*:end*/)
  select p.window_start, p.window_end /*:each key*/ , p./*:key*/region/*.*/ /*:end*/
  from promoted as p
),
known as (
  update pg_temp.errata_touched as t
  set causes = array_append(t.causes, 'source_change')
  from promoted as p
  where t.window_start = p.window_start
    and t.window_end = p.window_end
    /*:each key*/ and array[t./*:key*/region/*.*/] = array[p./*:key*/region/*.*/] /*:end*/
)
insert into pg_temp.errata_touched (target, window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/ causes, has_null_key)
select
  'counted', p.window_start, p.window_end, w.local_date, /*:each key*/ p./*:key*/region/*.*/, /*:end*/ '{source_change}',
  false /*:each key*/ or p./*:key*/region/*.*/ is null /*:end*/
from promoted as p
join lateral /*:windows*/errata.daily_orders_windows/*.*/ (p.window_start) as w on w.window_start = p.window_start
where not exists (
  select from pg_temp.errata_touched as t
  where t.window_start = p.window_start
    and t.window_end = p.window_end
    /*:each key*/ and array[t./*:key*/region/*.*/] = array[p./*:key*/region/*.*/] /*:end*/
)
