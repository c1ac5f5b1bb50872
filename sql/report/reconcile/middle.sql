-- Reconcile: where a span of windows is cut in two. Rows out: one; `is_within`: windows start on either side of it.
--
-- $1 window_from, $2 window_to: where the windows start, half-open
--
-- Safe to repeat: it reads.
select c.instant::text as middle, c.instant > c.first and c.instant < $2::timestamptz as is_within
from (
  select f.first, /*:starting_from*/errata.daily_orders_starting_from/*.*/ (f.first + ($2::timestamptz - f.first) / 2) as instant
  from (select /*:starting_from*/errata.daily_orders_starting_from/*.*/ ($1::timestamptz) as first) as f
) as c
