-- The last run of a rollup, the last that succeeded and the last that failed. Rows out: up to three, `place` says which;
-- one run may have two places.
--
-- $1 rollup_id: integer
-- $2 at: instant from which ages are reckoned
--
-- Safe to repeat: it reads.
select
  k.place,
  u.run_id::text as run_id,
  u.verb,
  u.outcome,
  u.started_at::text as started_at,
  u.finished_at::text as finished_at,
  extract(epoch from $2::timestamptz - u.finished_at)::text as age_seconds,
  u.bound::text as bound,
  u.stamp::text as stamp,
  u.actor,
  u.reason,
  u.counts,
  u.failure
from (
  values ('last', '{done,attention,failed}'::text[]), ('success', '{done,attention}'), ('failure', '{failed}')
) as k (place, outcomes)
cross join lateral (
  select r.*
  from /*:schema*/errata/*.*/.run as r
  where r.rollup_id = $1::integer and r.outcome = any (k.outcomes)
  order by r.run_id desc
  limit 1
) as u
