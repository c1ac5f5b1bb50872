-- What was proposed for one keyed window, and what became of it. Rows out: one a proposal.
--
-- $1 window_start, $2 window_end: of the window
-- $3 key: jsonb, the texts of the key columns as an array, in their order
-- $4 rollup_id: integer
--
-- Safe to repeat: it reads.
select
  o.proposal_id::text as proposal_id,
  o.base_version,
  o.measures,
  o.event_count::text as event_count,
  o.causes,
  o.why,
  o.state,
  o.proposed_at::text as proposed_at,
  o.decided_at::text as decided_at,
  o.decided_by,
  o.decided_reason
from /*:proposal*/errata.proposal/*.*/ as o
where o.rollup_id = $4::integer
  and o.window_start = $1::timestamptz
  and o.window_end = $2::timestamptz
  and o.key = $3::jsonb
order by o.proposal_id
