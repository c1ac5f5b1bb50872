-- What is kept by name of one keyed window, in the order of arrival. Rows out: one an event, at most $5.
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, the texts of the key columns as an array, in their order
-- $4 passed_over: integer; so many are passed over
-- $5 at_most: integer
--
-- Safe to repeat: it reads.
select
  e.event_id,
  e.event_time::text as event_time,
  e.arrived_at::text as arrived_at,
  e.lateness_seconds::text as lateness,
  e.source_partition,
  e.watermark::text as watermark,
  e.landing,
  e.state,
  e.version::text as version,
  e.is_conflict,
  '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, e./*:measure*/revenue/*.*/::text) /*:end*/ as measures
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.window_start = $1::timestamptz
  and e.window_end = $2::timestamptz
  and jsonb_build_array(/*:event_key_texts*/e.region::text/*.*/) = $3::jsonb
order by e.arrived_at, e.ingested_at, e.event_id, e.row_digest
limit $5::integer
offset $4::integer
