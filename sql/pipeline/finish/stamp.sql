-- The instant of publication: the database's clock, and later than every stamp before, also when the clock steps back
-- (R11).
--
-- $1 rollup_id: integer
--
-- Rows out: one. Reads only.
select greatest(
  clock_timestamp(),
  r.last_stamp + interval '1 microsecond',
  r.settled_until + interval '1 microsecond'
)::text as stamp
from /*:schema*/errata/*.*/.rollup as r
where r.rollup_id = $1::integer
