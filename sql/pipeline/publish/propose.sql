-- Propose: a version that the policy leaves to a person (R10). Nothing enters the ledger.
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 proposed_at: the stamp of this run
--
-- Inputs: pg_temp.errata_change. Rows out: one a new proposal. Safe to repeat: an open proposal of the same keyed
-- window, version and value stands; one that says something else of a keyed window judged anew is stale.
with superseded as (
  update /*:schema*/errata/*.*/.proposal as o
  set state = 'stale', decided_at = $3::timestamptz
  from pg_temp.errata_change as c
  where o.rollup_id = $1::integer
    and o.state = 'open'
    and o.window_start = c.window_start
    and o.window_end = c.window_end
    and o.key = jsonb_build_array(/*:key_texts*/c.region::text/*.*/)
    and c.verdict in ('change', 'same', 'propose')
    and (c.verdict <> 'propose' or o.base_version <> c.old_version or o.event_count <> c.event_count or o.measures <> '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/)
)
insert into /*:schema*/errata/*.*/.proposal as p (
  rollup_id, run_id, window_start, window_end, key, base_version, measures, event_count, causes, why, proposed_at
)
select
  $1::integer, $2::bigint, c.window_start, c.window_end, k.key, c.old_version, m.measures, c.event_count, c.causes, c.why,
  $3::timestamptz
from pg_temp.errata_change as c
cross join lateral (
  select jsonb_build_array(/*:key_texts*/c.region::text/*.*/) as key
) as k
cross join lateral (
  select '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:measure*/revenue/*.*/::text) /*:end*/ as measures
) as m
where c.verdict = 'propose'
  and not exists (
    select from /*:schema*/errata/*.*/.proposal as o
    where o.rollup_id = $1::integer
      and o.window_start = c.window_start
      and o.window_end = c.window_end
      and o.key = k.key
      and o.base_version = c.old_version
      and o.measures = m.measures
      and o.event_count = c.event_count
      and o.state = 'open'
  )
