-- Totals that stood at a value: of a period over all keys or for one, and of a window over all keys. Rows out: one a total
-- and span of time in which it stood, at most 101.
--
-- $1 number: numeric
-- $2 scale: integer; totals are rounded to so many decimals first; null: exactly
-- $3 day_from, $4 day_to: it stood at some instant of this span, half-open; null for any
-- $5 time_zone: of the periods
--
-- The total is the running sum of what each version added, so one pass over the versions gives every total that there ever
-- was. Only additive measures have one: it reads every version, since any of them may have made
-- the total. Measured on 485,319 of them (100 keys, two measures, PostgreSQL 18, 2 cores under a load of 12): 12 s, and 20 s where
-- each measure of each version was a row with its key as JSON before they were summed; on 5 million it was not done after 160 s
-- on that machine. Safe to repeat: it reads.
with moved as (
  select
    date_trunc('month', c.window_start at time zone $5::text) as month,
    c.window_start,
    c.window_end,
    c.local_date,
    /*:each key*/ c./*:key*/region/*.*/, /*:end*/
    /*:each additive*/ c./*:delta_measure*/delta_revenue/*.*/::numeric as /*:delta_measure*/delta_revenue/*.*/, /*:end*/
    true as errata_by_key,
    c.stamp
  from /*:history*/gold.daily_orders_history/*.*/ as c
),
grouped as (
  select
    c.month,
    c.window_start,
    c.window_end,
    c.local_date,
    c.stamp,
    case when grouping(c.errata_by_key) = 0 then jsonb_build_object(/*:key_pairs*/'region', c.region::text/*.*/) end as key,
    /*:each additive*/ sum(c./*:delta_measure*/delta_revenue/*.*/) as /*:delta_measure*/delta_revenue/*.*/, /*:end*/
    count(*) as versions
  from moved as c
  group by grouping sets (
    (c.stamp, c.month),
    (c.stamp, c.month, c.errata_by_key /*:each key*/ , c./*:key*/region/*.*/ /*:end*/),
    (c.stamp, c.window_start, c.window_end, c.local_date)
  )
),
summed as (
  select m.measure, to_char(g.month, 'YYYY-MM') as period, g.key, g.window_start, g.window_end, g.local_date, g.stamp, m.delta, g.versions
  from grouped as g
  cross join lateral (
    values (null::text, null::numeric) /*:each additive*/ , (/*:measure_name*/'revenue'/*.*/, g./*:delta_measure*/delta_revenue/*.*/) /*:end*/
  ) as m (measure, delta)
  where m.measure is not null
),
standing as (
  select
    s.*,
    sum(s.delta) over whole as total,
    sum(s.versions) over whole as versions_until,
    lead(s.stamp) over whole as until,
    lead(s.delta) over whole as next_delta,
    lag(s.stamp) over whole as since
  from summed as s
  window whole as (
    partition by s.measure, s.period, s.key, s.window_start, s.window_end
    order by s.stamp
  )
)
select
  s.measure,
  s.period,
  s.key,
  s.window_start::text as window_start,
  s.window_end::text as window_end,
  s.local_date::text as local_date,
  s.total::text as value,
  case when s.since is not null then (s.total - s.delta)::text end as previous_value,
  (s.total + s.next_delta)::text as next_value,
  s.next_delta::text as next_delta,
  s.stamp::text as stamp,
  s.until::text as until,
  n.run_id::text as next_run_id
from standing as s
left join /*:schema*/errata/*.*/.run as n on n.rollup_id = /*:rollup_id*/1/*.*/ and n.stamp = s.until and n.outcome in ('done', 'attention')
where coalesce(round(s.total, $2::integer), s.total) = $1::numeric
  and (s.stamp < $4::timestamptz or $4::timestamptz is null)
  and (s.until > $3::timestamptz or s.until is null or $3::timestamptz is null)
  -- one version alone is no total: it is found by itself
  and s.versions_until > 1
  and (s.key is null or s.key <> '{}')
order by s.period nulls last, s.key nulls first, s.window_start, s.measure, s.stamp
limit 101
