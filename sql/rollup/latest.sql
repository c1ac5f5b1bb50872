-- The fold: the latest version of each keyed window, with what still awaits a person. Rows out: one a keyed window, so
-- a month's total is one plain sum.
create or replace view /*:latest*/gold.daily_orders_latest/*.*/ as
with fold as (
  select distinct on (g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/)
    g.*
  from /*:ledger*/gold.daily_orders/*.*/ as g
  order by g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version desc
),
pending as (
  select
    e.window_start,
    e.window_end,
    /*:each key*/ e./*:key*/region/*.*/, /*:end*/
    /*:each measure*/ /*:sum_of_measure*/sum(e.revenue)::numeric/*.*/ as /*:pending_measure*/pending_revenue/*.*/, /*:end*/
    count(*) as pending_events
  from /*:late_event*/gold.daily_orders_late_event/*.*/ as e
  where e.state = 'pending'
  group by e.window_start, e.window_end /*:each key*/ , e./*:key*/region/*.*/ /*:end*/
)
select
  f.window_start,
  f.window_end,
  f.local_date,
  /*:each key*/ f./*:key*/region/*.*/, /*:end*/
  /*:each measure*/ f./*:measure*/revenue/*.*/, /*:end*/
  f.event_count,
  f.is_void,
  f.version,
  f.version > 1 as is_corrected,
  f.sealed_at,
  f.corrected_at,
  f.stamp as known_at,
  coalesce(p.pending_events, 0) as pending_events,
  /*:each measure*/ /*:pending_or_zero*/coalesce(p.pending_revenue, 0)::numeric/*.*/ as /*:pending_measure*/pending_revenue/*.*/, /*:end*/
  coalesce(/*:fold_sealed_until*/r.sealed_until/*.*/ < f.window_end + /*:known_lateness*/r.allowed_lateness/*.*/, true) as is_provisional,
  exists (
    select from /*:schema*/errata/*.*/.period_act as a
    where a.rollup_id = r.rollup_id
      and a.act <> 'reopen'
      and a.period_start <= f.window_start
      and a.period_end > f.window_start
      and not exists (
        select from /*:schema*/errata/*.*/.period_act as o
        where o.rollup_id = a.rollup_id
          and o.act = 'reopen'
          and o.act_id > a.act_id
          and o.period_start <= f.window_start
          and o.period_end > f.window_start
          and o.expires_at > statement_timestamp()
      )
  ) as is_closed
from fold as f
join /*:schema*/errata/*.*/.rollup as r on r.rollup_id = /*:rollup_id*/1/*.*/
/*:fold_override_join*/left join errata.daily_orders_override as o on array[o.region] = array[f.region]/*.*/
left join pending as p
  on p.window_start = f.window_start
  and p.window_end = f.window_end
  /*:each key*/ and array[p./*:key*/region/*.*/] = array[f./*:key*/region/*.*/] /*:end*/
