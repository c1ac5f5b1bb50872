-- Days on which a source partition's clock seems to have broken or been mended. Rows out: one a source partition and
-- day of arrival that is marked, at most $1, in the order of days; `jumps` counts them all.
--
--   p50          the median lateness is ten times that of the source partition's day before, or a tenth of it, or has
--                the other sign; below a second all medians are alike, and a change of sign matters from 10 seconds on
--   quarantine   more than half of the day's rows lie too far ahead of their arrival (R4)
--
-- $1 at_most: integer
--
-- Inputs: pg_temp.errata_lateness. Safe to repeat: it reads.
with by_day as (
  select
    c.errata_source_partition as source_partition,
    c.errata_arrival_day as day,
    count(c.errata_lateness) as rows,
    count(*) filter (where c.errata_set_aside = 'event_time_ahead_of_arrival') as ahead,
    percentile_disc(0.5) within group (order by c.errata_lateness) as p50
  from pg_temp.errata_lateness as c
  group by c.errata_source_partition, c.errata_arrival_day
),
neighbour as (
  select
    d.*,
    lag(d.p50) over earlier as before,
    greatest(abs(d.p50), 1000000) as size,
    greatest(abs(lag(d.p50) over earlier), 1000000) as size_before
  from by_day as d
  where d.rows > 0
  window earlier as (partition by d.source_partition order by d.day)
),
marked as (
  select n.day, n.source_partition, 'p50' as mark, n.rows, n.before, n.p50
  from neighbour as n
  where n.before is not null
    and (
      greatest(n.size, n.size_before) >= 10 * least(n.size, n.size_before)
      or (sign(n.p50) <> sign(n.before) and greatest(n.size, n.size_before) >= 10000000)
    )
  union all
  select d.day, d.source_partition, 'quarantine', d.ahead, null, null
  from by_day as d
  where d.ahead > d.rows
)
select
  m.day::text as day,
  m.source_partition,
  m.mark,
  m.rows::text as rows,
  trim_scale(m.before / 1000000.0)::text as p50_before,
  trim_scale(m.p50 / 1000000.0)::text as p50,
  count(*) over ()::text as jumps
from marked as m
order by m.day, m.source_partition, m.mark
limit $1::integer
