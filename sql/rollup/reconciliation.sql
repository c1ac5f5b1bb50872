-- From the number that shipped to the number that is true (R14): sealed + corrections = latest, and
-- latest + pending + held + waived = restated. Absent and void count as 0. Rows out: one a keyed window that has a
-- version or a late event. Corrections are split by cause: first what the included events brought, by name; the rest of
-- a version belongs to the cause that has no event. Measures that do not add up show their sealed and latest value, and
-- what the last sweep of `reconcile` counted anew.
--
-- The versions are read once, in one window; those that a late event or a proposal names are looked up in the index of the
-- ledger, behind a `limit` so that the planner cannot join them. Of 10 million versions a month of 432,000 keyed windows:
-- 1.7 s, some columns of it, the least of two rounds of a machine with other work. Rejected: the versions of `_history` joined again, which a condition on the window does not reach,
-- so that all of the ledger was read and hashed: 10.7 s.
create or replace view /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as
with version_part as (
  select
    g.window_start,
    g.window_end,
    g.local_date,
    /*:each key*/ g./*:key*/region/*.*/, /*:end*/
    g.version,
    g.causes,
    lead(g.version) over keyed_window is null as is_latest,
    /*:each measure*/
    g./*:measure*/revenue/*.*/,
    /*:delta_value*/coalesce(g.revenue, 0) - coalesce(lag(g.revenue) over keyed_window, 0)/*.*/ as /*:delta_measure*/delta_revenue/*.*/,
    /*:end*/
    g.event_count
  from /*:ledger*/gold.daily_orders/*.*/ as g
  window keyed_window as (
    partition by g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/
    order by g.version
  )
),
event_part as (
  select
    e.window_start,
    e.window_end,
    e.local_date,
    /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    e.version,
    e.state,
    e.cause,
    /*:each additive*/ sum(e./*:measure*/revenue/*.*/) as /*:measure*/revenue/*.*/, /*:end*/
    count(*) as event_count
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.state is not null
  group by e.window_start, e.window_end, e.local_date, /*:each key*/ e./*:key*/region/*.*/, /*:end*/ e.version, e.state, e.cause
),
-- The delta of an open proposal is pending, less the released events in it, which are pending by themselves; what a rejected
-- one leaves aside is waived, beside the events in it.
proposal_part as (
  select
    o.window_start,
    o.window_end,
    -- as another key's version of the window has it: a reader need not be allowed to call the functions of windows
    (
      select max(g.local_date)
      from /*:ledger*/gold.daily_orders/*.*/ as g
      where g.window_start = o.window_start and g.window_end = o.window_end
    ) as local_date,
    /*:each key*/ (o.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/ as /*:key*/region/*.*/, /*:end*/
    case when o.state <> 'open' then 'waived' when o.is_held then 'held' else 'pending' end as state,
    o.base_version as errata_base_version,
    coalesce(o.rejected_measures, o.measures) as errata_measures
  from /*:proposal*/errata.proposal/*.*/ as o
  where o.rollup_id = /*:rollup_id*/1/*.*/
    and (o.state = 'open' or o.rejected_measures is not null)
),
line as (
  select
    v.window_start, v.window_end, v.local_date, /*:each key*/ v./*:key*/region/*.*/, /*:end*/
    v.version, v.is_latest, v.version > 1 as is_correction, v.causes, null::text as state, null::text as cause,
    /*:each measure*/ v./*:measure*/revenue/*.*/, /*:end*/
    /*:each additive*/ v./*:delta_measure*/delta_revenue/*.*/::numeric as /*:delta_measure*/delta_revenue/*.*/, null::numeric as /*:event_measure*/event_revenue/*.*/, /*:end*/
    v.event_count, null::bigint as events
  from version_part as v
  union all
  select
    e.window_start, e.window_end, e.local_date, /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    e.version, false, e.version > 1, v.causes, e.state, e.cause,
    /*:each measure*/ null, /*:end*/
    /*:each additive*/ null, e./*:measure*/revenue/*.*/::numeric, /*:end*/
    null, e.event_count
  from event_part as e
  left join lateral (
    select g.causes
    from /*:ledger*/gold.daily_orders/*.*/ as g
    where e.version > 1
      and g.window_start = e.window_start
      /*:each key*/ and array[g./*:key*/region/*.*/] = array[e./*:key*/region/*.*/] /*:end*/
      and g.version = e.version
      and g.window_end is not distinct from e.window_end
    limit 1
  ) as v on true
  union all
  select
    o.window_start, o.window_end, o.local_date, /*:each key*/ o./*:key*/region/*.*/, /*:end*/
    null, false, false, null, o.state, null,
    /*:each measure*/ null, /*:end*/
    /*:each additive*/
    null,
    coalesce((o.errata_measures ->> /*:measure_name*/'revenue'/*.*/)::numeric, 0) - coalesce(v./*:measure*/revenue/*.*/, 0)
      - case when o.state <> 'waived' then coalesce(r./*:measure*/revenue/*.*/, 0) else 0 end,
    /*:end*/
    null, null
  from proposal_part as o
  left join lateral (
    select g.version /*:each measure*/ , g./*:measure*/revenue/*.*/ /*:end*/
    from /*:ledger*/gold.daily_orders/*.*/ as g
    where g.window_start = o.window_start
      /*:each key*/ and array[g./*:key*/region/*.*/] = array[o./*:key*/region/*.*/] /*:end*/
      and g.window_end is not distinct from o.window_end
    order by g.version desc
    limit 1
  ) as v on true
  cross join lateral (
    select /*:each additive*/ sum(e./*:measure*/revenue/*.*/) as /*:measure*/revenue/*.*/, /*:end*/ count(*) as events
    from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
    where e.window_start = o.window_start
      and e.window_end = o.window_end
      /*:each key*/ and array[e./*:key*/region/*.*/] = array[o./*:key*/region/*.*/] /*:end*/
      and e.state in ('pending', 'held')
      and e.released
  ) as r
  where o.state <> 'waived' or o.errata_base_version = coalesce(v.version, 0)
),
part as (
  select
    l.*,
    case when l.causes is null then null
      when 'seal_mismatch' = any (l.causes) then 'seal_mismatch'
      when 'stream_emission' = any (l.causes) then 'stream_emission'
      when 'source_change' = any (l.causes) then 'source_change'
      when 'definition' = any (l.causes) then 'definition'
      else 'other'
    end as other_cause
  from line as l
)
select
  p.window_start,
  p.window_end,
  max(p.local_date) as local_date,
  /*:each key*/ p./*:key*/region/*.*/, /*:end*/
  coalesce(max(p.version) filter (where p.is_latest), 0) as version,
  /*:each additive*/
  coalesce(sum(p./*:measure*/revenue/*.*/) filter (where p.version = 1), 0)::/*:measure_type*/numeric/*.*/ as /*:sealed_measure*/sealed_revenue/*.*/,
  coalesce(sum(p./*:delta_measure*/delta_revenue/*.*/) filter (where p.is_correction), 0)::/*:measure_type*/numeric/*.*/ as /*:corrections_measure*/corrections_revenue/*.*/,
  coalesce(sum(p./*:event_measure*/event_revenue/*.*/) filter (where p.state = 'included' and p.is_correction and p.cause = 'late_firing'), 0)::/*:measure_type*/numeric/*.*/ as /*:late_firing_measure*/late_firing_revenue/*.*/,
  coalesce(sum(p./*:event_measure*/event_revenue/*.*/) filter (where p.state = 'included' and p.is_correction and p.cause = 'straggler'), 0)::/*:measure_type*/numeric/*.*/ as /*:straggler_measure*/straggler_revenue/*.*/,
  coalesce(sum(p./*:event_measure*/event_revenue/*.*/) filter (where p.state = 'included' and p.is_correction and p.cause = 'refused'), 0)::/*:measure_type*/numeric/*.*/ as /*:refused_measure*/refused_revenue/*.*/,
  coalesce(sum(p./*:event_measure*/event_revenue/*.*/) filter (where p.state = 'included' and p.is_correction and p.cause = 'quarantine_release'), 0)::/*:measure_type*/numeric/*.*/ as /*:quarantine_release_measure*/quarantine_release_revenue/*.*/,
  coalesce(sum(coalesce(p./*:delta_measure*/delta_revenue/*.*/, 0) - coalesce(p./*:event_measure*/event_revenue/*.*/, 0)) filter (where p.is_correction and p.other_cause = 'seal_mismatch' and coalesce(p.state, 'included') = 'included'), 0)::/*:measure_type*/numeric/*.*/ as /*:seal_mismatch_measure*/seal_mismatch_revenue/*.*/,
  coalesce(sum(coalesce(p./*:delta_measure*/delta_revenue/*.*/, 0) - coalesce(p./*:event_measure*/event_revenue/*.*/, 0)) filter (where p.is_correction and p.other_cause = 'stream_emission' and coalesce(p.state, 'included') = 'included'), 0)::/*:measure_type*/numeric/*.*/ as /*:stream_emission_measure*/stream_emission_revenue/*.*/,
  coalesce(sum(coalesce(p./*:delta_measure*/delta_revenue/*.*/, 0) - coalesce(p./*:event_measure*/event_revenue/*.*/, 0)) filter (where p.is_correction and p.other_cause = 'source_change' and coalesce(p.state, 'included') = 'included'), 0)::/*:measure_type*/numeric/*.*/ as /*:source_change_measure*/source_change_revenue/*.*/,
  coalesce(sum(coalesce(p./*:delta_measure*/delta_revenue/*.*/, 0) - coalesce(p./*:event_measure*/event_revenue/*.*/, 0)) filter (where p.is_correction and p.other_cause in ('definition', 'other') and coalesce(p.state, 'included') = 'included'), 0)::/*:measure_type*/numeric/*.*/ as /*:other_measure*/other_revenue/*.*/,
  coalesce(sum(p./*:measure*/revenue/*.*/) filter (where p.is_latest), 0)::/*:measure_type*/numeric/*.*/ as /*:latest_measure*/latest_revenue/*.*/,
  coalesce(sum(p./*:event_measure*/event_revenue/*.*/) filter (where p.state = 'pending'), 0)::/*:measure_type*/numeric/*.*/ as /*:pending_measure*/pending_revenue/*.*/,
  coalesce(sum(p./*:event_measure*/event_revenue/*.*/) filter (where p.state = 'held'), 0)::/*:measure_type*/numeric/*.*/ as /*:held_measure*/held_revenue/*.*/,
  coalesce(sum(p./*:event_measure*/event_revenue/*.*/) filter (where p.state = 'waived'), 0)::/*:measure_type*/numeric/*.*/ as /*:waived_measure*/waived_revenue/*.*/,
  (
    coalesce(sum(p./*:measure*/revenue/*.*/) filter (where p.is_latest), 0)
    + coalesce(sum(p./*:event_measure*/event_revenue/*.*/) filter (where p.state in ('pending', 'held', 'waived')), 0)
  )::/*:measure_type*/numeric/*.*/ as /*:restated_measure*/restated_revenue/*.*/,
  /*:end*/
  /*:each other*/
  (array_agg(p./*:measure*/distinct_customers/*.*/) filter (where p.version = 1))[1] as /*:sealed_measure*/sealed_distinct_customers/*.*/,
  (array_agg(p./*:measure*/distinct_customers/*.*/) filter (where p.is_latest))[1] as /*:latest_measure*/latest_distinct_customers/*.*/,
  null::/*:measure_type*/bigint/*.*/ as /*:pending_measure*/pending_distinct_customers/*.*/,
  -- As the last sweep of the window found it in bronze; of an identical one it kept nothing. NULL once a row
  -- came, or was changed, after it.
  (
    select case
      when exists (
        select from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
        where e.window_start = p.window_start
          and e.window_end = p.window_end
          /*:event_of_part*/and array[e.region] = array[p.region]/*.*/
          and e.first_run_id > s.run_id
      ) or exists (
        select from /*:ledger*/gold.daily_orders/*.*/ as g
        where g.window_start = p.window_start
          and g.window_end = p.window_end
          /*:version_of_part*/and array[g.region] = array[p.region]/*.*/
          and g.stamp > s.stamp
          and 'source_change' = any (g.causes)
      ) then null
      when w.reconciliation_id is not null then (w.figures -> /*:measure_name*/'distinct_customers'/*.*/ ->> 'bronze')::/*:measure_type*/bigint/*.*/
      else (
        select g./*:measure*/distinct_customers/*.*/
        from /*:ledger*/gold.daily_orders/*.*/ as g
        where g.window_start = p.window_start
          and g.window_end = p.window_end
          /*:version_of_part*/and array[g.region] = array[p.region]/*.*/
          and g.stamp <= case when g.run_id is null then s.swept_at else s.stamp end
        order by g.version desc
        limit 1
      )
    end
    from (
      select c.reconciliation_id, c.run_id, c.stamp, c.swept_at
      from /*:sweep*/errata.reconciliation/*.*/ as c
      where c.rollup_id = /*:rollup_id*/1/*.*/
        and c.key is null
        and c.range_from <= p.window_start
        and c.range_to > p.window_start
        and c.sealed_until >= p.window_end
      order by c.reconciliation_id desc
      limit 1
    ) as s
    left join /*:schema*/errata/*.*/.reconciled_window as w
      on w.reconciliation_id = s.reconciliation_id
      and w.window_start = p.window_start
      and w.window_end = p.window_end
      and w.key = jsonb_build_array(/*:part_key_texts*/p.region::text/*.*/)
  ) as /*:restated_measure*/restated_distinct_customers/*.*/,
  /*:end*/
  coalesce(sum(p.events) filter (where p.state = 'included' and p.is_correction), 0)::bigint as corrected_events,
  coalesce(sum(p.events) filter (where p.state = 'pending'), 0)::bigint as pending_events,
  coalesce(sum(p.events) filter (where p.state = 'held'), 0)::bigint as held_events,
  coalesce(sum(p.events) filter (where p.state = 'waived'), 0)::bigint as waived_events
from part as p
group by p.window_start, p.window_end /*:each key*/ , p./*:key*/region/*.*/ /*:end*/
