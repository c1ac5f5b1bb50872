-- Propose: a version that the policy leaves to a person (R10), and what became of earlier ones. Nothing enters the ledger.
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 proposed_at: the stamp of this run
-- $4 verb, $5 actor, $6 reason: text
--
-- Inputs: pg_temp.errata_change, pg_temp.errata_succession, pg_temp.errata_asked. Rows out: one a new proposal. Safe to repeat: an open proposal that
-- says just this stands; of a keyed window judged anew one that says something else is stale. What a rejected one leaves
-- aside is kept with it, until bronze gives another value.
with superseded as (
  update /*:schema*/errata/*.*/.proposal as o
  set
    state = case when $4::text = 'approve' and o.proposal_id = c.errata_proposal_id and c.verdict in ('change', 'emission') then 'approved' else 'stale' end,
    decided_at = $3::timestamptz,
    decided_run_id = $2::bigint,
    decided_by = case when $4::text = 'approve' and o.proposal_id = c.errata_proposal_id and c.verdict in ('change', 'emission') then $5::text end,
    decided_reason = case when $4::text = 'approve' and o.proposal_id = c.errata_proposal_id and c.verdict in ('change', 'emission') then $6::text end
  from pg_temp.errata_change as c
  where o.rollup_id = $1::integer
    and o.state = 'open'
    and o.window_start = c.window_start
    and o.window_end = c.window_end
    and o.key = jsonb_build_array(/*:key_texts*/c.region::text/*.*/)
    and c.verdict in ('change', 'emission', 'same', 'propose', 'held')
    and (c.verdict not in ('propose', 'held') or o.proposal_id is distinct from c.errata_proposal_id)
    and not ($4::text = 'reject' and exists (select from pg_temp.errata_asked as a where a.errata_proposal_id = o.proposal_id))
),
-- one that says just this stands, and is held while its period is closed
standing as (
  update /*:schema*/errata/*.*/.proposal as o
  set is_held = c.verdict = 'held'
  from pg_temp.errata_change as c
  where o.proposal_id = c.errata_proposal_id
    and c.verdict in ('propose', 'held')
    and o.is_held <> (c.verdict = 'held')
),
replaced as (
  update /*:schema*/errata/*.*/.proposal as o
  set rejected_measures = null, rejected_event_count = null
  from pg_temp.errata_change as c
  where o.rollup_id = $1::integer
    and o.rejected_measures is not null
    and o.window_start = c.window_start
    and o.window_end = c.window_end
    and o.key = jsonb_build_array(/*:key_texts*/c.region::text/*.*/)
    and c.verdict in ('change', 'emission', 'same', 'propose', 'held')
),
rejected as (
  update /*:schema*/errata/*.*/.proposal as o
  set
    state = 'rejected',
    decided_at = $3::timestamptz,
    decided_run_id = $2::bigint,
    decided_by = $5::text,
    decided_reason = $6::text,
    rejected_measures = case when c.is_set_aside then c.measures end,
    rejected_event_count = case when c.is_set_aside then c.event_count end
  from pg_temp.errata_asked as a
  left join lateral (
    select
      c.event_count,
      '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/ as measures,
      -- of what the stream said nothing is left
      c.verdict = 'rejected' and c.causes <> '{stream_emission}' as is_set_aside
    from pg_temp.errata_change as c
    where c.window_start = a.window_start
      and c.window_end = a.window_end
      /*:each key*/ and array[c./*:key*/region/*.*/] = array[a./*:key*/region/*.*/] /*:end*/
  ) as c on true
  where $4::text = 'reject'
    and o.proposal_id = a.errata_proposal_id
)
insert into /*:schema*/errata/*.*/.proposal as p (
  rollup_id, run_id, window_start, window_end, key, base_version, measures, event_count, causes, why, proposed_at, is_held,
  replaces, replaced_by
)
select
  $1::integer, $2::bigint, c.window_start, c.window_end, k.key, c.old_version, m.measures, c.event_count, c.causes, c.why,
  $3::timestamptz, c.verdict = 'held',
  case when c.old_version = 0 then (
    select jsonb_agg(jsonb_build_object('window_start', s.old_start::text, 'window_end', s.old_end::text) order by s.old_start, s.old_end)
    from pg_temp.errata_succession as s
    where s.window_start = c.window_start
      and s.window_end = c.window_end
      /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
      and exists (
        select from /*:ledger*/gold.daily_orders/*.*/ as g
        where g.window_start = s.old_start
          and g.window_end = s.old_end
          /*:each key*/ and array[g./*:key*/region/*.*/] = array[s./*:key*/region/*.*/] /*:end*/
      )
  ) end,
  case when c.is_void then (
    select jsonb_build_object('window_start', s.window_start::text, 'window_end', s.window_end::text)
    from pg_temp.errata_succession as s
    where s.old_start = c.window_start
      and s.old_end = c.window_end
      /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    limit 1
  ) end
from pg_temp.errata_change as c
cross join lateral (
  select jsonb_build_array(/*:key_texts*/c.region::text/*.*/) as key
) as k
cross join lateral (
  select '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/ as measures
) as m
where c.verdict in ('propose', 'held')
  and c.errata_proposal_id is null
-- numbered in the order in which a person reads them
order by c.window_start, c.window_end, k.key::text collate "C"
