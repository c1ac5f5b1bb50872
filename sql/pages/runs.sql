-- The runs of one rollup, the latest first. Rows out: one a run, at most $3.
--
-- $1 rollup_id: integer
-- $2 before_run: bigint; earlier ones; null: the latest
-- $3 at_most: integer
--
-- Safe to repeat: it reads.
select
  r.run_id::text as run_id,
  r.verb,
  r.outcome,
  r.started_at::text as started_at,
  extract(epoch from r.finished_at - r.started_at)::text as took,
  r.bound::text as bound,
  r.stamp::text as stamp,
  r.actor,
  r.reason,
  r.db_role,
  r.counts ->> 'rows_examined' as rows_examined,
  r.counts ->> 'late_firing' as late_firing,
  r.counts ->> 'side_output' as side_output,
  r.counts ->> 'windows_sealed' as windows_sealed,
  r.counts ->> 'windows_corrected' as windows_corrected,
  r.counts ->> 'windows_proposed' as windows_proposed,
  r.failure ->> 'message' as failure
from /*:schema*/errata/*.*/.run as r
where r.rollup_id = $1::integer
  and ($2::bigint is null or r.run_id < $2::bigint)
order by r.run_id desc
limit $3::integer
