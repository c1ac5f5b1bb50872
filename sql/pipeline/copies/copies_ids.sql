-- Copies: the ids of this run's late and straggling rows, in the windows behind those that it seals; in all, where ids are looked up
-- in other windows too.
--
-- $1 sealing_from, $2 sealing_to: where the windows that this run seals start; equal where it seals none
-- $3 everywhere: boolean
--
-- Inputs: pg_temp.errata_candidate. Rows out: one a window and id, into pg_temp.errata_late_id. Safe to repeat: writes
-- work tables only.
insert into pg_temp.errata_late_id
select distinct s.window_start, s.window_end, s.errata_event_id, /*:each id*/ s./*:id*/order_id/*.*/, /*:end*/ s.is_sealing
from (
  select c.*, not (/*:is_not_sealing*/not (c.window_start >= $1::timestamptz and c.window_start < $2::timestamptz)/*.*/) as is_sealing
  from pg_temp.errata_candidate as c
  where c.errata_landing <> 'quarantined'
) as s
where $3::boolean or not s.is_sealing
