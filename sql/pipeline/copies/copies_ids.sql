-- Copies, behind the windows that this run seals: the ids of its late and straggling rows.
--
-- $1 sealing_from, $2 sealing_to: where the windows that this run seals start; equal where it seals none
--
-- Inputs: pg_temp.errata_candidate. Rows out: one a window and id, into pg_temp.errata_late_id. Safe to repeat: writes
-- work tables only.
insert into pg_temp.errata_late_id
select distinct c.window_start, c.window_end, c.errata_event_id /*:each id*/ , c./*:id*/order_id/*.*/ /*:end*/
from pg_temp.errata_candidate as c
where c.errata_landing <> 'quarantined'
  and /*:is_not_sealing*/not (c.window_start >= $1::timestamptz and c.window_start < $2::timestamptz)/*.*/
