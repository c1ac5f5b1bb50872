-- Copies, of the late ids, where no index on the id is known: every row of bronze that bears one of them in its window.
--
-- $1 ingested_from: no row of those windows was ingested earlier; null where that cannot be known
-- $2 skew: interval, how much earlier than its start a row of a window may have been ingested; null where that cannot be known
--
-- Inputs: pg_temp.errata_late_id, analysed; bronze. Rows out: into pg_temp.errata_same_id. Safe to repeat: writes work
-- tables only.
--
-- What is no copy is left out by copies.sql and not here: the planner takes one row in two hundred to pass
-- `errata_quarantine is null`, and would hash bronze instead of the ids.
insert into pg_temp.errata_same_id
select l.window_start, l.window_end, true, r.*
from pg_temp.errata_late_id as l
join /*:source*/errata.daily_orders_source/*.*/ () as r
  on r.errata_event_id = l.errata_event_id
  /*:each id*/ and r./*:id*/order_id/*.*/ = l./*:id*/order_id/*.*/ /*:end*/
  and r.errata_event_time >= l.window_start
  and r.errata_event_time < l.window_end
where (r.errata_ingested_at >= $1::timestamptz or $1::timestamptz is null)
  -- an id is looked up in no partition before its own window
  and (r.errata_ingested_at >= l.window_start - $2::interval or $2::interval is null)
