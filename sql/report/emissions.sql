-- What the stream said of one keyed window beside version 1: late seals, and later values (R8). Rows out: one an emission.
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, an object of all key columns and their texts
-- $4 known_at: timestamptz; those received by then; null for all
--
-- Safe to repeat: it reads.
select
  c.kind,
  c.received_at::text as received_at,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/ as measures,
  c.run_id::text as run_id
from /*:emission*/errata.daily_orders_emission/*.*/ as c
where c.window_start = $1::timestamptz
  and c.window_end = $2::timestamptz
  and jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) = $3::jsonb
  and ($4::timestamptz is null or c.received_at <= $4::timestamptz)
order by c.emission_id
