-- Which month to show, and the nearest ones before and after it that hold a version. Rows out: one; all null where the ledger is
-- empty.
--
-- $1 month: a date; its month is shown; null: that of the last window
-- $2 time_zone: whose months they are
--
-- Each is one look into the ledger's index. Safe to repeat: it reads.
select
  m.shown::date::text as shown,
  date_trunc('month', b.window_start at time zone $2::text)::date::text as earlier,
  date_trunc('month', a.window_start at time zone $2::text)::date::text as later
from (
  select date_trunc(
    'month',
    coalesce(
      $1::date::timestamp,
      (select max(g.window_start) from /*:ledger*/gold.daily_orders/*.*/ as g) at time zone $2::text
    )
  ) as shown
) as m
left join lateral (
  select max(g.window_start) as window_start
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start < m.shown at time zone $2::text
) as b on true
left join lateral (
  select min(g.window_start) as window_start
  from /*:ledger*/gold.daily_orders/*.*/ as g
  where g.window_start >= (m.shown + interval '1 month') at time zone $2::text
) as a on true
