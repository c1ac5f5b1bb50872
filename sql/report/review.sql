-- The proposals of one rollup that stand open: what each would make of its keyed window, against the latest version, and the events
-- behind it. Rows out: one a proposal, the earliest first, at most $3.
--
-- $1 rollup_id: integer
-- $2 at: instant from which ages are reckoned
-- $3 at_most: integer
-- $4 known_at: timestamptz; of an earlier instant, as which the latest version is the one of then; null: now
--
-- Safe to repeat: it reads.
with proposal as (
  select
    o.proposal_id as errata_proposal_id,
    o.run_id,
    o.window_start,
    o.window_end,
    /*:each key*/ (o.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/ as /*:key*/region/*.*/, /*:end*/
    o.base_version as errata_base_version,
    /*:each measure*/ (o.measures ->> /*:measure_name*/'revenue'/*.*/)::/*:measure_type*/numeric/*.*/ as /*:measure*/revenue/*.*/, /*:end*/
    o.event_count,
    o.causes,
    o.why,
    o.replaces as errata_replaces,
    o.replaced_by as errata_replaced_by,
    o.proposed_at as errata_proposed_at
  from /*:proposal*/errata.proposal/*.*/ as o
  where o.rollup_id = $1::integer
    and o.state = 'open'
  order by o.proposal_id
  limit $3::integer
),
latest as (
  select distinct on (p.errata_proposal_id) p.errata_proposal_id, g.*
  from proposal as p
  join /*:ledger*/gold.daily_orders/*.*/ as g
    on g.window_start = p.window_start
    and g.window_end = p.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[p./*:key*/region/*.*/] /*:end*/
    and ($4::timestamptz is null or g.stamp <= $4::timestamptz)
  order by p.errata_proposal_id, g.version desc
),
c as (
  select
    p.*,
    l.local_date,
    coalesce(l.version, 0) as old_version,
    /*:each measure*/ l./*:measure*/revenue/*.*/ as /*:old_measure*/old_revenue/*.*/, /*:end*/
    l.event_count as old_event_count
  from proposal as p
  left join latest as l on l.errata_proposal_id = p.errata_proposal_id
)
select
  c.errata_proposal_id::text as proposal_id,
  c.run_id::text as run_id,
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  'propose' as verdict,
  c.causes,
  c.errata_base_version as base_version,
  c.old_version,
  c.old_version > 0 and c.event_count = 0 as is_void,
  c.event_count::text as event_count,
  c.old_event_count::text as old_event_count,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_array(c./*:old_measure*/old_revenue/*.*/::text, c./*:measure*/revenue/*.*/::text)) /*:end*/ as measures,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, (/*:difference_value*/coalesce(c.revenue, 0) - coalesce(c.old_revenue, 0)/*.*/)::text) /*:end*/ as deltas,
  c.why,
  c.errata_replaces as replaces,
  c.errata_replaced_by as replaced_by,
  n.events,
  coalesce(n.all_events, 0)::text as all_events,
  c.errata_proposed_at::text as proposed_at,
  extract(epoch from $2::timestamptz - c.errata_proposed_at)::text as age_seconds
from c
left join lateral (
  select
    (array_agg(e.event_id order by e.ingested_at, e.event_id))[1:5] as events,
    count(*) as all_events
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.window_start = c.window_start
    and e.window_end = c.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and e.state in ('pending', 'held')
    and e.released
) as n on true
order by c.errata_proposal_id
