-- Further rows with an event id already seen in their window (R5); the first row counts, once. Rows out: one a copy.
--
-- $1 window_start, $2 window_end: of one window; null for all
-- $3 key: jsonb, an object of key columns and their texts; null for all
-- $4 at_most: integer; null for all
--
-- Safe to repeat: it reads.
select
  c.event_id,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  c.ingested_at::text as ingested_at,
  c.copies::text as copies,
  exists (
    select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.event_id = c.event_id
      and e.window_start = c.window_start
      and e.window_end = c.window_end
      and e.row_digest = c.row_digest
      and e.is_conflict
  ) as is_conflict
from /*:copy*/errata.daily_orders_copy/*.*/ as c
where (c.window_start = $1::timestamptz or $1::timestamptz is null)
  and (c.window_end = $2::timestamptz or $2::timestamptz is null)
  and ($3::jsonb is null or jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) = $3::jsonb)
order by c.ingested_at, c.event_id
limit $4::integer
