-- Why one keyed window stands in the queue. Rows out: one a cause.
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, an object of all key columns and their texts
--
-- Safe to repeat: it reads.
select
  c.cause,
  c.since::text as since,
  c.blocked_reason,
  c.error,
  c.tries
from /*:touched*/errata.daily_orders_touched/*.*/ as c
where c.window_start = $1::timestamptz
  and c.window_end = $2::timestamptz
  and jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) = $3::jsonb
order by c.since, c.cause
