-- Recompute and amend: no row of the windows of a span was ingested before this. A valid row is at most so far ahead of its
-- arrival (R4); one that a person let out of quarantine is farther ahead, and is asked for by name.
--
-- $1 events_from, $2 events_to: all event times of those windows, half-open
-- $3 skew: interval; null where nothing limits it
--
-- Rows out: one; ingested_from is null where it cannot be known. Reads only.
select
  case
    when $3::interval is not null then least($1::timestamptz - $3::interval, min(e.ingested_at))::text
  end as ingested_from,
  count(*) > 0 as has_released
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.cause = 'quarantine_release'
  and e.window_start < $2::timestamptz
  and e.window_end > $1::timestamptz
