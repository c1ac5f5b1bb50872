-- As of an instant: the late events in the state that each had then (R11). Rows in quarantine belong to no window and are
-- taken by their event time.
--
-- $1 stamp: what was known then
-- $2 span_start, $3 span_end: timestamptz; of the windows that start in it; null for all
--
-- A row is true from the stamp of one run until that of another; `errata_since` is the first of the two, null where past states
-- were not kept yet. Rows out: one a late event, into pg_temp.errata_stated_event. Safe to
-- repeat in another transaction: writes a work table only.
create temp table errata_stated_event on commit drop as
with known as (
  select
    e.window_start, e.window_end, e.local_date, /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    e.event_id, e.event_time, e.ingested_at, e.arrived_at, e.lateness_seconds, e.source_partition, e.watermark, e.landing, e.state, e.cause, e.version,
    e.released, e.is_conflict, e.conflicts_with, e.quarantine_reason, e.event_count, /*:each measure*/ e./*:measure*/revenue/*.*/, /*:end*/
    e.row_digest, e.first_run_id, e.state_run_id, e.state_actor, e.state_reason, e.gone_run_id, e.known_from_run_id, null::bigint as until_run_id
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where $2::timestamptz is null
    or (e.window_start >= $2::timestamptz and e.window_start < $3::timestamptz)
    or (e.window_start is null and e.event_time >= $2::timestamptz and e.event_time < $3::timestamptz)
  union all
  select
    e.window_start, e.window_end, e.local_date, /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    e.event_id, e.event_time, e.ingested_at, e.arrived_at, e.lateness_seconds, e.source_partition, e.watermark, e.landing, e.state, e.cause, e.version,
    e.released, e.is_conflict, e.conflicts_with, e.quarantine_reason, e.event_count, /*:each measure*/ e./*:measure*/revenue/*.*/, /*:end*/
    e.row_digest, e.first_run_id, e.state_run_id, e.state_actor, e.state_reason, e.gone_run_id, e.known_from_run_id, e.until_run_id
  from /*:past_state*/errata.daily_orders_past_state/*.*/ as e
  where $2::timestamptz is null
    or (e.window_start >= $2::timestamptz and e.window_start < $3::timestamptz)
    or (e.window_start is null and e.event_time >= $2::timestamptz and e.event_time < $3::timestamptz)
)
select k.*, f.stamp as errata_since, n.stamp as errata_first_seen
from known as k
left join /*:schema*/errata/*.*/.run as f on f.run_id = k.known_from_run_id
left join /*:schema*/errata/*.*/.run as u on u.run_id = k.until_run_id
left join /*:schema*/errata/*.*/.run as n on n.run_id = k.first_run_id
where (k.known_from_run_id is null or f.stamp <= $1::timestamptz)
  and (k.until_run_id is null or u.stamp > $1::timestamptz)
