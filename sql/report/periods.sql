-- The periods of one rollup that were ever closed: what each was closed with, and what has become of it since (R12). Rows
-- out: one a close and additive measure, the earliest period first.
--
-- $1 rollup_id: integer
-- $2 at: instant at which a reopening has expired or not
-- $3 known_at: instant; acts, versions and events of later stamps are left out. Null: all of them
--
-- `sealed_since` is what shipped after a forced close, as version 1; the differences of later versions, `held` and `waived`
-- come to it; all of it is restated after close. Of states of rows only those of now are on record, so as of an instant they are null. Safe to
-- repeat: it reads.
with act as (
  select a.*, o.expires_at as open_until, o.acted_at as reopened_at, o.actor as reopened_by
  from /*:schema*/errata/*.*/.period_act as a
  left join lateral (
    select r.expires_at, r.acted_at, r.actor
    from /*:schema*/errata/*.*/.period_act as r
    where r.rollup_id = a.rollup_id
      and r.act = 'reopen'
      and r.act_id > a.act_id
      and (r.acted_at <= $3::timestamptz or $3::timestamptz is null)
      and r.period_start <= a.period_start
      and r.period_end > a.period_start
    order by r.act_id desc
    limit 1
  ) as o on true
  where a.rollup_id = $1::integer
    and a.act <> 'reopen'
    and (a.acted_at <= $3::timestamptz or $3::timestamptz is null)
),
since as (
  select
    c.act_id
    /*:each additive*/
    , sum(c./*:latest_measure*/latest_revenue/*.*/) as /*:latest_measure*/latest_revenue/*.*/
    , sum(c./*:pending_measure*/pending_revenue/*.*/) as /*:pending_measure*/pending_revenue/*.*/
    , sum(c./*:held_measure*/held_revenue/*.*/) as /*:held_measure*/held_revenue/*.*/
    , sum(c./*:waived_measure*/waived_revenue/*.*/) as /*:waived_measure*/waived_revenue/*.*/
    , sum(c./*:restated_measure*/restated_revenue/*.*/) as /*:restated_measure*/restated_revenue/*.*/
    /*:end*/
  from (
    select a.act_id, v.*
    from act as a
    join /*:reconciliation*/gold.daily_orders_reconciliation/*.*/ as v
      on v.window_start >= a.period_start
      and v.window_start < a.period_end
    where $3::timestamptz is null
  ) as c
  group by c.act_id
),
known as (
  select
    c.act_id
    /*:each additive*/ , sum(c./*:measure*/revenue/*.*/) as /*:measure*/revenue/*.*/ /*:end*/
  from (
    select distinct on (a.act_id, g.window_start, g.window_end /*:each key*/ , g./*:key*/region/*.*/ /*:end*/) a.act_id, g.*
    from act as a
    join /*:ledger*/gold.daily_orders/*.*/ as g
      on g.window_start >= a.period_start
      and g.window_start < a.period_end
      and g.stamp <= $3::timestamptz
    order by a.act_id, g.window_start, g.window_end, /*:each key*/ g./*:key*/region/*.*/, /*:end*/ g.version desc
  ) as c
  group by c.act_id
),
sealed_since as (
  select
    a.act_id
    /*:each additive*/ , sum(g./*:measure*/revenue/*.*/) as /*:measure*/revenue/*.*/ /*:end*/
  from act as a
  join /*:ledger*/gold.daily_orders/*.*/ as g
    on g.window_start >= a.period_start
    and g.window_start < a.period_end
    and g.version = 1
    and g.stamp > a.acted_at
    and (g.stamp <= $3::timestamptz or $3::timestamptz is null)
  group by a.act_id
)
select
  a.act_id::text as act_id,
  a.period,
  a.period_start::text as period_start,
  a.period_end::text as period_end,
  a.act,
  a.actor,
  a.reason,
  a.is_forced,
  a.posting_role,
  a.acted_at::text as closed_at,
  a.reopened_at::text as reopened_at,
  a.reopened_by,
  a.open_until::text as open_until,
  coalesce(a.open_until > $2::timestamptz, false) as is_open,
  m.measure,
  m.closed::text as closed,
  m.sealed_since::text as sealed_since,
  m.latest::text as latest,
  m.pending::text as pending,
  m.held::text as held,
  m.waived::text as waived,
  m.restated::text as restated,
  m.restated_then::text as restated_then,
  (m.restated - m.restated_then)::text as restated_after_close,
  (
    select coalesce(array_agg(e.event_id order by e.event_id), '{}')
    from (
      select distinct c.event_id
      from /*:late_event*/gold.daily_orders_late_event/*.*/ as c
      join /*:schema*/errata/*.*/.run as f on f.run_id = c.first_run_id
      where c.window_start >= a.period_start
        and c.window_start < a.period_end
        and c.state is not null
        and f.stamp > a.acted_at
        and (f.stamp <= $3::timestamptz or $3::timestamptz is null)
      limit 100
    ) as e
  ) as events
from act as a
left join since as s on s.act_id = a.act_id
left join known as k on k.act_id = a.act_id
left join sealed_since as w on w.act_id = a.act_id
cross join lateral (
  values
    (null::text, null::numeric, null::numeric, null::numeric, null::numeric, null::numeric, null::numeric, null::numeric, null::numeric)
    /*:each additive*/
    , (
      /*:measure_name*/'revenue'/*.*/,
      coalesce((select sum((t.measures ->> /*:measure_name*/'revenue'/*.*/)::numeric) from /*:schema*/errata/*.*/.period_total as t where t.act_id = a.act_id), 0),
      coalesce((select sum((t.restated ->> /*:measure_name*/'revenue'/*.*/)::numeric) from /*:schema*/errata/*.*/.period_total as t where t.act_id = a.act_id), 0),
      coalesce(w./*:measure*/revenue/*.*/, 0)::numeric,
      coalesce(s./*:latest_measure*/latest_revenue/*.*/, k./*:measure*/revenue/*.*/, 0)::numeric,
      case when $3::timestamptz is null then coalesce(s./*:pending_measure*/pending_revenue/*.*/, 0)::numeric end,
      case when $3::timestamptz is null then coalesce(s./*:held_measure*/held_revenue/*.*/, 0)::numeric end,
      case when $3::timestamptz is null then coalesce(s./*:waived_measure*/waived_revenue/*.*/, 0)::numeric end,
      case when $3::timestamptz is null then coalesce(s./*:restated_measure*/restated_revenue/*.*/, 0)::numeric end
    )
    /*:end*/
) as m (measure, closed, restated_then, sealed_since, latest, pending, held, waived, restated)
where m.measure is not null
order by a.period_start, a.act_id
