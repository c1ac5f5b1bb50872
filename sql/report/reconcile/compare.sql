-- Reconcile: the sealed keyed windows of a batch, the view of their stored states beside what bronze gives (R14).
--
-- $1 window_from, $2 window_to: where the windows start, half-open
-- $3 rollup_id: integer
-- $4 sealed_until: the watermark that seals
-- $5 complete_from: bronze is complete from here on (R15)
-- $6 key: jsonb, an object of key columns and their texts; null for all
--
-- Inputs: pg_temp.errata_recounted. Rows out: one a keyed window, into pg_temp.errata_compared. A difference is
-- explained where the queue or a note of changed rows says that a run has yet to answer it, or where rows that no run has
-- examined may be counted ones that were changed; it is blocked where rows may be gone with their partition. Safe to repeat
-- for another batch: writes work tables only.
with published as materialized (
  select c.*
  from /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as c
  where c.window_start >= $1::timestamptz and c.window_start < $2::timestamptz
),
recounted as materialized (
  select r.*
  from pg_temp.errata_recounted as r
  where r.window_start >= $1::timestamptz and r.window_start < $2::timestamptz
),
latest as (
  select distinct on (g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/) g.*
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start >= $1::timestamptz and g.window_start < $2::timestamptz
  order by g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version desc
),
state_row as (
  select
    e.window_start,
    e.window_end,
    /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    count(*) filter (where e.gone_run_id is null) as named,
    count(*) filter (where e.state in ('pending', 'held') and e.released) as released
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.window_start >= $1::timestamptz
    and e.window_start < $2::timestamptz
    and e.state is not null
  group by e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
),
proposed as (
  select
    o.window_start,
    o.window_end,
    /*:each key*/ (o.key ->> /*:key_place*/0/*.*/)::/*:key_type*/text/*.*/ as /*:key*/region/*.*/, /*:end*/
    -- the difference of an open one awaits a person; what a rejected one leaves aside is waived, while that version stands
    count(*) filter (where o.state = 'open') as proposals,
    sum(o.event_count) filter (where o.state = 'open') as event_count,
    max(o.base_version) filter (where o.state <> 'open') as rejected_at,
    max(o.rejected_event_count) filter (where o.state <> 'open') as rejected_event_count
  from /*:schema*/errata/*.*/.proposal as o
  where o.rollup_id = $3::integer
    and (o.state = 'open' or o.rejected_measures is not null)
    and o.window_start >= $1::timestamptz
    and o.window_start < $2::timestamptz
  group by o.window_start, o.window_end, o.key
),
queued as (
  select
    q.window_start,
    q.window_end,
    /*:each key*/ q./*:key*/region/*.*/, /*:end*/
    max(q.blocked_reason) as blocked_reason,
    max(q.error) as error
  from (
    select q.window_start, q.window_end, /*:each key*/ q./*:key*/region/*.*/, /*:end*/ q.blocked_reason, q.error
    from /*:touched*/errata.daily_orders_touched/*.*/ as q
    union all
    select n.window_start, n.window_end, /*:each key*/ n./*:key*/region/*.*/, /*:end*/ null, null
    from /*:source_change*/errata.daily_orders_source_change/*.*/ as n
  ) as q
  where q.window_start >= $1::timestamptz and q.window_start < $2::timestamptz
  group by q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/
),
keyed_window as (
  select c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/ from published as c
  union
  select r.window_start, r.window_end /*:each key*/ , r./*:key*/region/*.*/ /*:end*/ from recounted as r
  union
  select q.window_start, q.window_end /*:each key*/ , q./*:key*/region/*.*/ /*:end*/ from queued as q
),
side_by_side as (
  select
    c.window_start,
    c.window_end,
    coalesce(v.local_date, b.local_date, n.local_date) as local_date,
    /*:each key*/ c./*:key*/region/*.*/, /*:end*/
    coalesce(v.version, 0) as version,
    /*:each additive*/
    v./*:sealed_measure*/sealed_revenue/*.*/,
    v./*:corrections_measure*/corrections_revenue/*.*/,
    v./*:late_firing_measure*/late_firing_revenue/*.*/,
    v./*:straggler_measure*/straggler_revenue/*.*/,
    v./*:refused_measure*/refused_revenue/*.*/,
    v./*:quarantine_release_measure*/quarantine_release_revenue/*.*/,
    v./*:seal_mismatch_measure*/seal_mismatch_revenue/*.*/,
    v./*:stream_emission_measure*/stream_emission_revenue/*.*/,
    v./*:source_change_measure*/source_change_revenue/*.*/,
    v./*:other_measure*/other_revenue/*.*/,
    v./*:latest_measure*/latest_revenue/*.*/,
    v./*:pending_measure*/pending_revenue/*.*/,
    v./*:held_measure*/held_revenue/*.*/,
    v./*:waived_measure*/waived_revenue/*.*/,
    v./*:restated_measure*/restated_revenue/*.*/,
    -- a version whose definition lacks the measure says nothing of it
    case
      when g./*:measure*/revenue/*.*/ is null and not d.definition -> 'measures' ? /*:measure_name*/'revenue'/*.*/ then 0
      else /*:unexplained_value*/coalesce(b.revenue, 0) - coalesce(v.restated_revenue, 0)/*.*/
    end as /*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/,
    /*:end*/
    /*:each other*/
    v./*:sealed_measure*/sealed_distinct_customers/*.*/,
    v./*:latest_measure*/latest_distinct_customers/*.*/,
    /*:end*/
    /*:each measure*/
    b./*:measure*/revenue/*.*/ as /*:errata_bronze_measure*/errata_bronze_revenue/*.*/,
    n./*:measure*/revenue/*.*/ as /*:errata_unexamined_measure*/errata_unexamined_revenue/*.*/,
    /*:end*/
    v.corrected_events,
    coalesce(v.pending_events, 0) as pending_events,
    coalesce(v.held_events, 0) as held_events,
    coalesce(v.waived_events, 0) as waived_events,
    coalesce(b.events, 0) as bronze_events,
    coalesce(n.events, 0) as unexamined_events,
    case
      when g.version is null or g.event_count is not null
      then coalesce(g.event_count, 0) + coalesce(v.pending_events, 0) + coalesce(v.held_events, 0) + coalesce(v.waived_events, 0)
        + case when x.proposals > 0 then x.event_count - coalesce(g.event_count, 0) * x.proposals - coalesce(s.released, 0) else 0 end
        + case when x.rejected_at = coalesce(g.version, 0) then coalesce(x.rejected_event_count, 0) - coalesce(g.event_count, 0) else 0 end
    end as accounted_events,
    greatest(coalesce(s.named, 0) - coalesce(b.named, 0), 0) as missing,
    coalesce(v.pending_events, 0) + coalesce(v.held_events, 0) + coalesce(v.waived_events, 0) + coalesce(x.proposals, 0) = 0
      and coalesce(x.rejected_at <> coalesce(g.version, 0), true)
      and (
        false
        /*:each other*/
        or (
          (g./*:measure*/distinct_customers/*.*/ is not null or coalesce(d.definition -> 'measures' ? /*:measure_name*/'distinct_customers'/*.*/, true))
          and /*:other_differs*/g.distinct_customers is distinct from b.distinct_customers/*.*/
        )
        /*:end*/
      ) as other_differs,
    g.version is not null and (false /*:each measure*/ or not d.definition -> 'measures' ? /*:measure_name*/'revenue'/*.*/ /*:end*/) as lacks_measure,
    coalesce(x.proposals, 0) > 0 as is_proposed,
    coalesce(x.rejected_at = coalesce(g.version, 0), false) as is_rejected,
    q.window_start is not null as is_queued,
    coalesce('stream_emission' = any (g.causes), false) as is_emission,
    case
      when c.window_start < $5::timestamptz then format('bronze is complete from %s on, and the window starts earlier', $5::text)
      else coalesce(q.blocked_reason, q.error, u.error)
    end as blocked_reason
  from keyed_window as c
  /*:compared_kept_join*/left join errata.daily_orders_override as o on array[o.region] = array[c.region]/*.*/
  left join published as v
    on v.window_start = c.window_start
    and v.window_end = c.window_end
    /*:each key*/ and array[v./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  left join latest as g
    on g.window_start = c.window_start
    and g.window_end = c.window_end
    /*:each key*/ and array[g./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  left join /*:schema*/errata/*.*/.definition as d on d.fingerprint = g.definition_fingerprint
  left join recounted as b
    on b.is_examined
    and b.window_start = c.window_start
    and b.window_end = c.window_end
    /*:each key*/ and array[b./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  left join recounted as n
    on not n.is_examined
    and n.window_start = c.window_start
    and n.window_end = c.window_end
    /*:each key*/ and array[n./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  left join state_row as s
    on s.window_start = c.window_start
    and s.window_end = c.window_end
    /*:each key*/ and array[s./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  left join proposed as x
    on x.window_start = c.window_start
    and x.window_end = c.window_end
    /*:each key*/ and array[x./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  left join queued as q
    on q.window_start = c.window_start
    and q.window_end = c.window_end
    /*:each key*/ and array[q./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  left join lateral (
    select min(u.error) as error
    from pg_temp.errata_uncounted as u
    where c.window_start >= u.window_from and c.window_start < u.window_to
  ) as u on true
  where c.window_end <= /*:compared_sealed_until*/$4::timestamptz/*.*/
    and ($6::jsonb is null or jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) @> $6::jsonb)
),
summed as (
  select
    s.*,
    s.bronze_events - s.accounted_events as unexplained_events,
    true /*:each additive*/ and coalesce(s./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/ = 0, true) /*:end*/
      and coalesce(s.bronze_events = s.accounted_events, true)
      and not s.other_differs as adds_up
  from side_by_side as s
),
judged as (
  select
    s.*,
    coalesce(s.blocked_reason, case when not s.adds_up or s.missing > 0 then 'gone: ' || gone.relations end) as why,
    -- what runs have examined lacks no more than there is to examine: counted rows may have been changed
    s.unexamined_events > 0 and coalesce(s.bronze_events + s.unexamined_events >= s.accounted_events, true) as may_be_changed
  from summed as s
  left join lateral (
    select string_agg(p.relation, ', ' order by p.relation) as relations
    from /*:schema*/errata/*.*/.ingestion_partition as p
    where (not s.adds_up or s.missing > 0)
      and p.rollup_id = $3::integer
      and p.gone_at is not null
      and p.event_time_from < s.window_end
      and p.event_time_to >= s.window_start
  ) as gone on true
)
insert into pg_temp.errata_compared (
  window_start, window_end, local_date, /*:each key*/ /*:key*/region/*.*/, /*:end*/ version,
  /*:each additive*/
  /*:sealed_measure*/sealed_revenue/*.*/, /*:corrections_measure*/corrections_revenue/*.*/,
  /*:late_firing_measure*/late_firing_revenue/*.*/, /*:straggler_measure*/straggler_revenue/*.*/,
  /*:refused_measure*/refused_revenue/*.*/, /*:quarantine_release_measure*/quarantine_release_revenue/*.*/,
  /*:seal_mismatch_measure*/seal_mismatch_revenue/*.*/, /*:stream_emission_measure*/stream_emission_revenue/*.*/,
  /*:source_change_measure*/source_change_revenue/*.*/, /*:other_measure*/other_revenue/*.*/,
  /*:latest_measure*/latest_revenue/*.*/, /*:pending_measure*/pending_revenue/*.*/, /*:held_measure*/held_revenue/*.*/,
  /*:waived_measure*/waived_revenue/*.*/, /*:restated_measure*/restated_revenue/*.*/,
  /*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/,
  /*:end*/
  /*:each other*/ /*:sealed_measure*/sealed_distinct_customers/*.*/, /*:latest_measure*/latest_distinct_customers/*.*/, /*:end*/
  /*:each measure*/ /*:errata_bronze_measure*/errata_bronze_revenue/*.*/, /*:errata_unexamined_measure*/errata_unexamined_revenue/*.*/, /*:end*/
  corrected_events, pending_events, held_events, waived_events,
  errata_bronze_events, errata_unexamined_events, errata_unexplained_events, errata_missing, errata_adds_up, errata_is_named, errata_why, errata_explained_by
)
select
  j.window_start, j.window_end, j.local_date, /*:each key*/ j./*:key*/region/*.*/, /*:end*/ j.version,
  /*:each additive*/
  coalesce(j./*:sealed_measure*/sealed_revenue/*.*/, 0), coalesce(j./*:corrections_measure*/corrections_revenue/*.*/, 0),
  coalesce(j./*:late_firing_measure*/late_firing_revenue/*.*/, 0), coalesce(j./*:straggler_measure*/straggler_revenue/*.*/, 0),
  coalesce(j./*:refused_measure*/refused_revenue/*.*/, 0), coalesce(j./*:quarantine_release_measure*/quarantine_release_revenue/*.*/, 0),
  coalesce(j./*:seal_mismatch_measure*/seal_mismatch_revenue/*.*/, 0), coalesce(j./*:stream_emission_measure*/stream_emission_revenue/*.*/, 0),
  coalesce(j./*:source_change_measure*/source_change_revenue/*.*/, 0), coalesce(j./*:other_measure*/other_revenue/*.*/, 0),
  coalesce(j./*:latest_measure*/latest_revenue/*.*/, 0), coalesce(j./*:pending_measure*/pending_revenue/*.*/, 0), coalesce(j./*:held_measure*/held_revenue/*.*/, 0),
  coalesce(j./*:waived_measure*/waived_revenue/*.*/, 0), coalesce(j./*:restated_measure*/restated_revenue/*.*/, 0),
  coalesce(j./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/, 0),
  /*:end*/
  /*:each other*/ j./*:sealed_measure*/sealed_distinct_customers/*.*/, j./*:latest_measure*/latest_distinct_customers/*.*/, /*:end*/
  /*:each measure*/ j./*:errata_bronze_measure*/errata_bronze_revenue/*.*/, j./*:errata_unexamined_measure*/errata_unexamined_revenue/*.*/, /*:end*/
  coalesce(j.corrected_events, 0), j.pending_events, j.held_events, j.waived_events,
  j.bronze_events, j.unexamined_events, j.unexplained_events, j.missing,
  j.adds_up or (j.why is null and (j.is_queued or j.is_emission or j.may_be_changed)),
  false,
  j.why,
  array_remove(
    array[
      case when j.version > 1 then 'corrected' end,
      case when j.pending_events > 0 then 'pending' end,
      case when j.held_events > 0 then 'held' end,
      case when j.waived_events > 0 then 'waived' end,
      case when j.is_proposed then 'proposed' end,
      case when j.is_rejected then 'rejected' end,
      case when j.is_queued then 'queued' end,
      case when j.unexamined_events > 0 then 'not yet examined' end,
      case when j.lacks_measure then 'definition' end,
      case when not j.adds_up and j.is_emission then 'stream_emission' end
    ],
    null
  )
from judged as j
