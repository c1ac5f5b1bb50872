-- Statement, proposals: what awaited a person then, and what a rejected one left aside (R10).
--
-- Inputs: pg_temp.errata_stated_proposal. Rows out: none; it makes a view. Safe to repeat.
create or replace temp view errata_stated_proposals as
select
  o.window_start,
  o.window_end,
  -- as a version of the window has it
  (
    select max(g.local_date)
    from pg_temp.errata_stated_version as g
    where g.window_start = o.window_start and g.window_end = o.window_end
  ) as local_date,
  /*:each key*/ (o.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/ as /*:key*/region/*.*/, /*:end*/
  o.proposal_id as errata_proposal_id,
  case when o.state <> 'open' then 'rejected' when o.is_held then 'held' else 'open' end as state,
  o.causes,
  o.why,
  o.base_version as errata_base_version,
  /*:each measure*/ (coalesce(o.rejected_measures, o.measures) ->> /*:measure_name*/'revenue'/*.*/)::/*:measure_type*/numeric/*.*/ as /*:measure*/revenue/*.*/, /*:end*/
  o.proposed_at as errata_proposed_at,
  o.decided_by as errata_decided_by,
  o.decided_reason as errata_decided_reason
from pg_temp.errata_stated_proposal as o
where o.state = 'open' or o.rejected_measures is not null
