-- The proposals that a person's word is about and that this run does not approve: what was proposed, what bronze gives
-- now, and the events that came since. Rows out: one a proposal.
--
-- $1 complete_from: bronze is complete from here on
--
-- Inputs: pg_temp.errata_asked, errata_change, errata_succession, errata_failing. Safe to repeat: it reads.
select
  a.errata_proposal_id::text as proposal_id,
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) as key,
  o.measures as proposed,
  case when v.verdict in ('change', 'emission', 'same', 'propose', 'held', 'included') then '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, v./*:measure*/revenue/*.*/::text) /*:end*/ end as now,
  o.base_version,
  v.old_version,
  case
    when v.verdict = 'same' and w.new_start is not null then format('a later row has moved the bounds: its rows are in the session from %s to %s', w.new_start, w.new_end)
    when v.verdict = 'same' then 'bronze gives the latest version again'
    when v.verdict = 'held' then v.why
    when v.verdict = 'propose' and (w.new_start is not null or o.replaces is not null) then v.why
    when v.verdict in ('change', 'emission', 'propose', 'included') then null
    when c.window_start < $1::timestamptz then format('bronze is complete from %s on, and the window starts earlier', $1::text)
    else coalesce(v.why, f.error, 'it cannot be recomputed now')
  end as why,
  n.events
from pg_temp.errata_asked as a
join /*:schema*/errata/*.*/.proposal as o on o.proposal_id = a.errata_proposal_id
cross join lateral (select a.*) as c
left join pg_temp.errata_change as v
  on v.window_start = c.window_start
  and v.window_end = c.window_end
  /*:each key*/ and array[v./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
left join lateral (
  select s.window_start::text as new_start, s.window_end::text as new_end
  from pg_temp.errata_succession as s
  where s.old_start = c.window_start
    and s.old_end = c.window_end
    /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  limit 1
) as w on true
left join lateral (
  select max(f.error) as error
  from pg_temp.errata_failing as f
  where f.window_start = c.window_start
    and f.window_end = c.window_end
    /*:each key*/ and array[f./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
) as f on true
left join lateral (
  select (array_agg(e.event_id order by e.ingested_at, e.event_id))[1:5] as events
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.window_start = c.window_start
    and e.window_end = c.window_end
    /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
    and e.state in ('pending', 'held')
    and e.released
    and coalesce(e.state_run_id, e.first_run_id) > o.run_id
) as n on true
where not coalesce(v.verdict in ('change', 'emission') and v.errata_proposal_id = a.errata_proposal_id, false)
order by a.errata_proposal_id
