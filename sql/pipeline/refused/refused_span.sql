-- Refused: where the rows of this run's new entries lie, as far as the entries say it.
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 skew: interval; null where nothing says when a row was ingested at the earliest
--
-- Rows out: one; null where an entry leaves it open. Reads only.
select
  count(*)::integer as entries,
  case when count(*) = count(coalesce(e.event_time, e.window_start)) then min(coalesce(e.event_time, e.window_start)) end::text as events_from,
  case when count(*) = count(coalesce(e.event_time, e.window_end)) then max(coalesce(e.event_time, e.window_end)) end::text as events_to,
  case
    when count(*) = count(coalesce(e.event_time, e.window_start)) then min(coalesce(e.event_time, e.window_start)) - $3::interval
  end::text as ingested_from
from /*:schema*/errata/*.*/.refused_entry as e
where e.rollup_id = $1::integer
  and e.first_run_id = $2::bigint
  and e.event_id is not null
