-- The instant of publication: the database's clock, and later than every stamp before, also when the clock steps back
-- (R11).
--
-- $1 rollup_id: integer
--
-- Versions 1 and emissions of the stream stand in the queue with their stamp until a run has heard them. Rows out: one.
-- Reads only.
select greatest(
  clock_timestamp(),
  r.last_stamp + interval '1 microsecond',
  r.settled_until + interval '1 microsecond',
  'epoch'::timestamptz + (s.last_value + 1) * interval '1 microsecond',
  (
    select max(q.since) + interval '1 microsecond'
    from /*:touched*/errata.daily_orders_touched/*.*/ as q
    where q.cause in ('seal', 'stream_emission') and r.seal_by = 'stream'
  )
)::text as stamp
from /*:schema*/errata/*.*/.rollup as r
cross join /*:last_stamp*/errata.daily_orders_last_stamp/*.*/ as s
where r.rollup_id = $1::integer
