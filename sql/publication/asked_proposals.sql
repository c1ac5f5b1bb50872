-- Approve and reject: the open proposals that a person's word is about (R10).
--
-- $1 rollup_id: integer
-- $2 proposed_by: bigint, the run that made them; null for all
-- $3 window_from, $4 window_to: of windows that start in here, half-open; null for no limit
-- $5 key: jsonb, an object of key columns and their texts; null for all
--
-- Rows out: one a proposal, into pg_temp.errata_asked. Safe to repeat in another run: writes work tables only.
insert into pg_temp.errata_asked (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ errata_proposal_id)
select c.window_start, c.window_end, /*:each key*/ c./*:key*/region/*.*/, /*:end*/ c.errata_proposal_id
from (
  select
    o.window_start,
    o.window_end,
    /*:each key*/ (o.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/ as /*:key*/region/*.*/, /*:end*/
    o.proposal_id as errata_proposal_id
  from /*:schema*/errata/*.*/.proposal as o
  where o.rollup_id = $1::integer
    and o.state = 'open'
    and (o.run_id = $2::bigint or $2::bigint is null)
    and (o.window_start >= $3::timestamptz or $3::timestamptz is null)
    and (o.window_start < $4::timestamptz or $4::timestamptz is null)
) as c
where $5::jsonb is null or jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) @> $5::jsonb
