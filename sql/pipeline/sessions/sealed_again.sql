-- Seal, sessions: what failed before and does not any more, or is no session any more, leaves the queue (R19).
--
-- $1 run_id: bigint
-- $2 rollup_id: integer
--
-- A session that was replaced before its version 1 could be written, and whose rows were deleted or changed then, has
-- none: nothing shipped, and its rows are in another. Rows out: one such session. Safe to repeat.
with left_queue as (
  delete from /*:touched*/errata.daily_orders_touched/*.*/ as q
  where q.cause = 'unsealed'
    and q.failed_run_id is distinct from $1::bigint
)
update /*:session*/errata.daily_orders_session/*.*/ as s
set is_seal_due = false
from pg_temp.errata_session_target as t
where s.session_id = t.session_id
  and s.is_seal_due
  and s.replaced_by is not null
  and not exists (
    select from /*:schema*/errata/*.*/.ingestion_partition as p
    where p.rollup_id = $2::integer
      and p.gone_at is not null
      and p.event_time_from < s.window_end
      and p.event_time_to >= s.window_start
  )
