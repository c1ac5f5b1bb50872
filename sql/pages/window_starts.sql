-- When windows start that have a version, a late event, or a proposal that counts. Rows out: one a start.
--
-- $1 from_instant, $2 to_instant: half-open
--
-- Safe to repeat: it reads.
select g.window_start
from /*:ledger*/gold.daily_orders/*.*/ as g
where g.window_start >= $1::timestamptz and g.window_start < $2::timestamptz
union
select e.window_start
from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
where e.window_start >= $1::timestamptz and e.window_start < $2::timestamptz
union
select o.window_start
from /*:proposal*/errata.proposal/*.*/ as o
where o.rollup_id = /*:rollup_id*/1/*.*/
  and (o.state = 'open' or o.rejected_measures is not null)
  and o.window_start >= $1::timestamptz and o.window_start < $2::timestamptz
