-- What would have come too late. A row is beyond a threshold when it arrived at least that long after the end of its
-- window: beyond the delay it is late, beyond delay and allowed lateness refused (R3: equality belongs to the later
-- class; the watermark is that of `fixed_delay`). Of several windows the first to end decides.
-- Rows out: one a threshold and measure, with amounts exact, and shares of the total to ten digits; the measure NULL
-- counts rows.
--
-- $1 thresholds: bigint[], microseconds, ascending
-- $2 from_instant: days that begin earlier are not in the range as a whole, and stand in no worst or median day
-- $3 zone: whose days
-- $4 late_below, $5 refused_below: numeric; shares that a suggestion stays below
--
-- Only rows later than the least threshold are asked for their window, since no row reaches its window's end before
-- that: on a million rows of calendar days, 10 % of them later, this takes 1.2 s to 2.5 s, depending on what else
-- runs; the windows of all of them alone 3.6 s on the same busy machine.
-- Inputs: pg_temp.errata_lateness. Safe to repeat: it reads.
with cell as (
  select
    p.errata_day,
    p.errata_place,
    count(*)::numeric as errata_rows
    /*:each additive*/ , (/*:measure_value*/sum(amount)/*.*/)::numeric as /*:measure*/revenue/*.*/ /*:end*/
  from (
    select c.*, 0 as errata_place
    from pg_temp.errata_lateness as c
    where c.errata_lateness <= ($1::bigint[])[1]
    union all
    select
      c.*,
      coalesce(
        width_bucket((extract(epoch from c.errata_arrived_at - w.window_end) * 1000000)::bigint, $1::bigint[]),
        0
      )
    from pg_temp.errata_lateness as c
    left join lateral (
      select v.window_end
      from /*:windows*/errata.daily_orders_windows/*.*/ (c.errata_event_time) as v
      order by v.window_end
      limit 1
    ) as w on true
    where c.errata_lateness > ($1::bigint[])[1]
  ) as p
  group by p.errata_day, p.errata_place
),
amount as (
  select c.errata_day as day, c.errata_place as place, v.measure, v.position, v.amount
  from cell as c
  cross join lateral (
    values
      (null::text, 0, c.errata_rows)
      /*:each additive*/ , (/*:measure_name*/'revenue'/*.*/, 1, coalesce(c./*:measure*/revenue/*.*/, 0)) /*:end*/
  ) as v (measure, position, amount)
),
by_day as (
  select
    t.place,
    t.threshold,
    a.measure,
    a.position,
    a.day,
    sum(a.amount) as total,
    coalesce(sum(a.amount) filter (where a.place >= t.place), 0) as beyond
  from amount as a
  cross join unnest($1::bigint[]) with ordinality as t (threshold, place)
  group by t.place, t.threshold, a.measure, a.position, a.day
),
day_share as (
  select
    d.*,
    case
      when (d.day::timestamp at time zone $3::text) >= $2::timestamptz then d.beyond / nullif(d.total, 0)
    end as share
  from by_day as d
),
over_all as (
  select
    s.place,
    s.threshold,
    s.measure,
    s.position,
    sum(s.total) as total,
    sum(s.beyond) as beyond,
    (array_agg(s.day order by abs(s.share) desc nulls last, s.day))[1] as worst_day,
    (array_agg(s.share order by abs(s.share) desc nulls last, s.day))[1] as worst_share,
    percentile_disc(0.5) within group (order by s.share) as median_share
  from day_share as s
  group by s.place, s.threshold, s.measure, s.position
)
select
  o.threshold::text as threshold,
  o.measure,
  o.beyond::text as amount,
  o.total::text as total,
  trim_scale(round(o.beyond / nullif(o.total, 0), 10))::text as share,
  case when o.worst_share is not null then o.worst_day::text end as worst_day,
  trim_scale(round(o.worst_share, 10))::text as worst_day_share,
  trim_scale(round(o.median_share, 10))::text as median_day_share,
  o.beyond = 0 or abs(o.beyond) < $4::numeric * abs(o.total) as is_below_late,
  o.beyond = 0 or abs(o.beyond) < $5::numeric * abs(o.total) as is_below_refused
from over_all as o
order by o.place, o.position, o.measure
