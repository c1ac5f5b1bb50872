-- Copies, of the late ids, where an index on the id answers: every row of bronze that bears one of them, in its window and in others, of
-- which `elsewhere.sql` tells.
--
-- Inputs: pg_temp.errata_late_id and pg_temp.errata_id_span, analysed; bronze. Rows out: into pg_temp.errata_same_id. Safe to repeat:
-- writes work tables only.
--
-- Behind a fence, so that each look-up is one into the partitions of its stretch: joined, the planner has no use for the stretch, and
-- 948 ids were looked up in 60 ingestion partitions each (0.1 s; of 10,000 ids 0.9 s).
insert into pg_temp.errata_same_id
select l.window_start, l.window_end, true, r.*
from pg_temp.errata_late_id as l
join pg_temp.errata_id_span as s on s.event_id_from is null or /*:late_single_id*/l.order_id/*.*/ between s.event_id_from and s.event_id_to
cross join lateral (
  select r.*
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  where r.errata_event_id = l.errata_event_id
    and /*:single_id*/r.order_id/*.*/ = /*:late_single_id*/l.order_id/*.*/
    and r.errata_ingested_at >= s.ingested_from
    and r.errata_ingested_at < s.ingested_to
  offset 0
) as r
-- of the windows that this run seals the copies are known
where not l.is_sealing
  or r.errata_event_time < l.window_start
  or r.errata_event_time >= l.window_end
