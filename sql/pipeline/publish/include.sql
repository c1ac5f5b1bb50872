-- Include: released events are now in a version: the one just appended, the latest where nothing differed (R9), or
-- version 1 where the stream had counted them (R10). An event that a person waived is in none any more.
--
-- $1 run_id: bigint
--
-- Inputs: pg_temp.errata_change. Rows out: one a state row that changed. Safe to repeat: included events stay included.
update /*:late_event*/gold.daily_orders_late_event/*.*/ as e
set
  state = case when e.state = 'waived' then 'waived' else 'included' end,
  released = e.state <> 'waived' and e.released,
  version = case
    when e.state = 'waived' then null
    when c.verdict = 'change' then greatest(c.old_version, 1) + 1
    when c.verdict = 'included' then 1
    else c.old_version
  end,
  state_run_id = $1::bigint
from pg_temp.errata_change as c
where e.window_start = c.window_start
  and e.window_end is not distinct from c.window_end
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  and (e.state = 'pending' or (e.state in ('held', 'waived') and e.released))
  and (
    (c.verdict in ('change', 'same') and e.released and greatest(c.old_version, case when c.verdict = 'change' then 1 else 0 end) > 0)
    or (c.verdict = 'included' and e.state in ('pending', 'held'))
  )
