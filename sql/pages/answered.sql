-- Proposals that were answered, or that have gone stale, the latest first. Rows out: one a proposal, at most $2.
--
-- $1 rollup_id: integer
-- $2 at_most: integer
--
-- Safe to repeat: it reads.
select
  o.proposal_id::text as proposal_id,
  o.window_start::text as window_start,
  o.window_end::text as window_end,
  null::text as local_date,
  o.key,
  o.state,
  o.measures,
  o.causes,
  o.why,
  o.proposed_at::text as proposed_at,
  o.decided_at::text as decided_at,
  o.decided_by,
  o.decided_reason
from /*:proposal*/errata.proposal/*.*/ as o
where o.rollup_id = $1::integer
  and o.state <> 'open'
order by o.proposal_id desc
limit $2::integer
