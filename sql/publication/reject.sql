-- Reject: the late events of the proposals that a person's word is about are waived (R10). What came after a proposal was
-- made is not in it, and stays.
--
-- $1 run_id: bigint
-- $2 actor, $3 reason: text
--
-- Inputs: pg_temp.errata_asked. Rows out: one an event. Safe to repeat: waived events stay waived.
update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
set state = 'waived', released = false, state_run_id = $1::bigint, state_actor = $2::text, state_reason = $3::text
from pg_temp.errata_asked as a
join /*:schema*/errata/*.*/.proposal as o on o.proposal_id = a.errata_proposal_id
where e.window_start = a.window_start
  and e.window_end is not distinct from a.window_end
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  and e.state in ('pending', 'held')
  and e.released
  and coalesce(e.state_run_id, e.first_run_id) <= o.run_id
