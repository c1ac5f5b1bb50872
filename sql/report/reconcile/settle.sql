-- Reconcile: what could be named, kept only where it is certain; then the verdict on each keyed window.
--
-- Inputs: pg_temp.errata_compared, errata_finding. Several statements; rows out: none. Safe to repeat: writes work tables only.

-- Names that are the whole difference of their keyed window are certain.
update pg_temp.errata_compared as c
set errata_is_named = true
from (
  select
    f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/
    sum(f.events) as events /*:each additive*/ , sum(coalesce(f./*:measure*/revenue/*.*/, 0)) as /*:measure*/revenue/*.*/ /*:end*/
  from pg_temp.errata_finding as f
  where f.events is not null
  group by f.window_start, f.window_end /*:each key*/ , f./*:key*/region/*.*/ /*:end*/
) as n
where n.window_start = c.window_start
  and n.window_end = c.window_end
  /*:each key*/ and array[n./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  and coalesce(n.events = c.errata_unexplained_events, true)
  /*:each additive*/ and n./*:measure*/revenue/*.*/ = c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/ /*:end*/;

-- What an ordinary row of a session gave is known no more once it is gone; that there are as many as are missing is.
update pg_temp.errata_compared as c
set errata_is_named = true
from (
  select f.window_start, f.window_end, /*:each key*/ f./*:key*/region/*.*/, /*:end*/ count(*) as gone
  from pg_temp.errata_finding as f
  where f.kind in ('counted but not in bronze', 'refused but not in bronze')
  group by f.window_start, f.window_end /*:each key*/ , f./*:key*/region/*.*/ /*:end*/
  having bool_or(f.kind = 'counted but not in bronze')
) as n
where n.window_start = c.window_start
  and n.window_end = c.window_end
  /*:each key*/ and array[n./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  and n.gone = -c.errata_unexplained_events;

-- Of other rows nobody can tell whether they are those that differ. What is missing from bronze is certain by itself.
delete from pg_temp.errata_finding as f
using pg_temp.errata_compared as c
where f.kind = 'counted by neither'
  and f.window_start = c.window_start
  and f.window_end = c.window_end
  /*:each key*/ and array[f./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  and not c.errata_is_named;

-- The latest version is all that bronze holds, and yet events await someone: it counts them already.
with counted as (
  update pg_temp.errata_compared as c
  set errata_is_named = true
  where not c.errata_adds_up
    and not c.errata_is_named
    and c.errata_why is null
    and c.errata_missing = 0
    and c.pending_events + c.held_events + c.waived_events > 0
    and not c.errata_explained_by && '{proposed,rejected}'
    and coalesce(c.errata_unexplained_events = -(c.pending_events + c.held_events + c.waived_events), true)
    /*:each additive*/
    and c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/
      = -(c./*:pending_measure*/pending_revenue/*.*/ + c./*:held_measure*/held_revenue/*.*/ + c./*:waived_measure*/waived_revenue/*.*/)
    /*:end*/
  returning c.*
)
insert into pg_temp.errata_finding (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail)
select
  e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/
  'refused but counted', e.event_id, e.row_digest,
  jsonb_build_object('landing', e.landing, 'state', e.state, 'counted_by', c.version)
from counted as c
join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  on e.window_start = c.window_start
  and e.window_end = c.window_end
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
where e.state in ('pending', 'held', 'waived');

insert into pg_temp.errata_finding (window_start, window_end, /*:each key*/ /*:key*/region/*.*/, /*:end*/ kind, event_id, row_digest, detail)
select
  e.window_start, e.window_end, /*:each key*/ e./*:key*/region/*.*/, /*:end*/
  case when e.conflicts_with ? 'elsewhere' then 'copy in another window' else 'conflict' end,
  e.event_id, e.row_digest, e.conflicts_with
from pg_temp.errata_compared as c
join /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  on e.window_start = c.window_start
  and e.window_end = c.window_end
  /*:each key*/ and array[e./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
where e.is_conflict
  -- named with all its places already
  and not (
    e.conflicts_with ? 'elsewhere'
    and exists (
      select from pg_temp.errata_finding as f
      where f.event_id = e.event_id
        and f.row_digest = e.row_digest
        and f.kind in ('counted by both', 'copy in another window')
    )
  );

-- A copy under another key of the window belongs to a keyed window that may have no row of its own.
update pg_temp.errata_compared as c
set errata_unexplained = array_remove(
  n.kinds || array[
    case when c.errata_why is not null then 'blocked' end,
    case when c.errata_why is null and not c.errata_adds_up and not c.errata_is_named then 'difference' end
  ],
  null
)
from (
  select
    c.ctid as place,
    coalesce(array_agg(distinct f.kind order by f.kind) filter (where f.kind is not null), '{}') as kinds
  from pg_temp.errata_compared as c
  left join pg_temp.errata_finding as f
    on f.window_start = c.window_start
    and f.window_end = c.window_end
    /*:each key*/ and array[f./*:key*/region/*.*/] = array[c./*:key*/region/*.*/] /*:end*/
  group by c.ctid
) as n
where c.ctid = n.place;

update pg_temp.errata_compared as c
set
  errata_status = case
    when cardinality(c.errata_unexplained) > 0 then 'unexplained'
    when cardinality(c.errata_explained_by) > 0 then 'explained'
    else 'identical'
  end,
  errata_figures = case
    when cardinality(c.errata_unexplained) > 0 or cardinality(c.errata_explained_by) > 0
    then '{}'::jsonb
      /*:each additive*/
      || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, jsonb_build_object(
        'sealed', c./*:sealed_measure*/sealed_revenue/*.*/::text,
        'corrections', c./*:corrections_measure*/corrections_revenue/*.*/::text,
        'latest', c./*:latest_measure*/latest_revenue/*.*/::text,
        'pending', c./*:pending_measure*/pending_revenue/*.*/::text,
        'held', c./*:held_measure*/held_revenue/*.*/::text,
        'waived', c./*:waived_measure*/waived_revenue/*.*/::text,
        'restated', c./*:restated_measure*/restated_revenue/*.*/::text,
        'unexplained', c./*:errata_unexplained_measure*/errata_unexplained_revenue/*.*/::text,
        'bronze', c./*:errata_bronze_measure*/errata_bronze_revenue/*.*/::text,
        'not_examined', c./*:errata_unexamined_measure*/errata_unexamined_revenue/*.*/::text
      ))
      /*:end*/
      /*:each other*/
      || jsonb_build_object(/*:measure_name*/'distinct_customers'/*.*/, jsonb_build_object(
        'sealed', c./*:sealed_measure*/sealed_distinct_customers/*.*/::text,
        'latest', c./*:latest_measure*/latest_distinct_customers/*.*/::text,
        'bronze', c./*:errata_bronze_measure*/errata_bronze_distinct_customers/*.*/::text
      ))
      /*:end*/
  end;
