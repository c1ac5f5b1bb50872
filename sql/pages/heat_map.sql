-- The corrections of a month by the day on which windows start. Rows out: one a day, in order.
--
-- $1 month: its first day
-- $2 time_zone: whose days they are
--
-- Reads the versions of that month by the ledger's index, and no others. Safe to repeat: it reads.
select
  d.day::text as day,
  count(v.version) filter (where v.is_first)::text as keyed_windows,
  count(v.version) filter (where v.is_corrected and v.is_last)::text as corrected,
  count(v.version) filter (where v.version > 1)::text as corrections
from (
  select s::date as day
  from generate_series($1::date::timestamp, $1::date::timestamp + interval '1 month' - interval '1 day', interval '1 day') as s
) as d
left join (
  select
    (c.window_start at time zone $2::text)::date as day,
    c.version,
    c.version > 1 as is_corrected,
    row_number() over keyed_window = 1 as is_first,
    lead(c.version) over keyed_window is null as is_last
  from /*:history*/gold.daily_orders_history/*.*/ as c
  where c.window_start >= $1::date::timestamp at time zone $2::text
    and c.window_start < ($1::date::timestamp + interval '1 month') at time zone $2::text
  window keyed_window as (
    partition by c.window_start, c.window_end /*:each key*/ , c./*:key*/region/*.*/ /*:end*/
    order by c.version
  )
) as v on v.day = d.day
group by d.day
order by d.day
