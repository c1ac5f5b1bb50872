-- How far a rollup is, as seen from one window. Rows out: one.
--
-- $1 rollup_id: integer
-- $2 window_start, $3 window_end: of the window
--
-- Safe to repeat: it reads.
select
  r.frontier::text as frontier,
  r.sealed_until::text as sealed_until,
  r.complete_from::text as complete_from,
  coalesce(r.sealed_until < $3::timestamptz, true) as is_open,
  r.complete_from > $2::timestamptz as is_incomplete
from /*:schema*/errata/*.*/.rollup as r
where r.rollup_id = $1::integer
