-- What is kept by name, in the order of arrival: late events, rows in quarantine, conflicts. Rows out: one an event and
-- window, at most $5.
--
-- $1 window_start, $2 window_end: of one window; null for all
-- $3 key: jsonb, an object of key columns and their texts; null for all
-- $4 landings: text[]; `conflict` stands for the copies that differ from the row that counts; null for all
-- $5 at_most: integer; null for all
--
-- Safe to repeat: it reads.
select
  e.event_id,
  jsonb_build_object(/*:event_key_pairs*/'region', e.region::text/*.*/) as key,
  e.window_start::text as window_start,
  e.window_end::text as window_end,
  e.local_date::text as local_date,
  e.event_time::text as event_time,
  e.ingested_at::text as ingested_at,
  e.arrived_at::text as arrived_at,
  e.lateness_seconds::text as lateness_seconds,
  e.source_partition,
  e.watermark::text as watermark,
  e.landing,
  e.state,
  e.cause,
  e.version,
  e.released,
  coalesce(e.state in ('pending', 'held') and e.released, false) and exists (
    select from /*:proposal*/errata.proposal/*.*/ as o
    where o.rollup_id = /*:rollup_id*/1/*.*/
      and o.state = 'open'
      and o.window_start = e.window_start
      and o.window_end = e.window_end
      and o.key = jsonb_build_array(/*:event_key_texts*/e.region::text/*.*/)
  ) as is_proposed,
  e.is_conflict,
  e.conflicts_with,
  e.quarantine_reason,
  '{}'::jsonb /*:each additive*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, e./*:measure*/revenue/*.*/::text) /*:end*/ as measures,
  e.state_actor,
  e.state_reason,
  e.first_run_id::text as first_run_id,
  f.stamp::text as examined_at,
  e.state_run_id::text as state_run_id,
  s.stamp::text as state_at,
  s.verb as state_verb
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
left join /*:schema*/errata/*.*/.run as f on f.run_id = e.first_run_id
left join /*:schema*/errata/*.*/.run as s on s.run_id = e.state_run_id
where (e.window_start = $1::timestamptz or $1::timestamptz is null)
  and (e.window_end = $2::timestamptz or $2::timestamptz is null)
  and ($3::jsonb is null or jsonb_build_object(/*:event_key_pairs*/'region', e.region::text/*.*/) = $3::jsonb)
  and ($4::text[] is null or (e.landing = any ($4::text[]) or (e.is_conflict and 'conflict' = any ($4::text[]))))
order by e.arrived_at, e.ingested_at, e.event_id, e.row_digest, e.window_start, e.window_end
limit $5::integer
