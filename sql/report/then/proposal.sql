-- As of an instant: the proposals as each stood then (R10, R11).
--
-- $1 stamp: what was known then
-- $2 span_start, $3 span_end: timestamptz; of the windows that start in it; null for all
-- $4 rollup_id: integer
--
-- Rows out: one a proposal, into pg_temp.errata_stated_proposal. Safe to repeat in another transaction: writes a work table
-- only.
create temp table errata_stated_proposal on commit drop as
with known as (
  select
    o.proposal_id, o.rollup_id, o.run_id, o.window_start, o.window_end, o.key, o.base_version, o.measures, o.event_count, o.causes, o.why,
    o.state, o.proposed_at, o.decided_at, o.decided_by, o.decided_reason, o.decided_run_id, o.rejected_measures, o.is_held,
    o.replaces, o.replaced_by, coalesce(o.known_from_run_id, o.run_id) as from_run_id, null::bigint as until_run_id
  from /*:schema*/errata/*.*/.proposal as o
  union all
  select
    o.proposal_id, o.rollup_id, o.run_id, o.window_start, o.window_end, o.key, o.base_version, o.measures, o.event_count, o.causes, o.why,
    o.state, o.proposed_at, o.decided_at, o.decided_by, o.decided_reason, o.decided_run_id, o.rejected_measures, o.is_held,
    o.replaces, o.replaced_by, coalesce(o.known_from_run_id, o.run_id), o.until_run_id
  from /*:schema*/errata/*.*/.past_proposal as o
)
select k.*
from known as k
join /*:schema*/errata/*.*/.run as f on f.run_id = k.from_run_id
left join /*:schema*/errata/*.*/.run as u on u.run_id = k.until_run_id
where k.rollup_id = $4::integer
  and ($2::timestamptz is null or (k.window_start >= $2::timestamptz and k.window_start < $3::timestamptz))
  and f.stamp <= $1::timestamptz
  and (k.until_run_id is null or u.stamp > $1::timestamptz)
