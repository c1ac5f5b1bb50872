-- The same by hand, with what a person may know and a planner does not: few windows, each looked up in the covering index.
merge into bench.totals as g
using (
  select l.window_start, l.region, n.orders, n.revenue
  from pg_temp.touched as l
  cross join lateral (
    select count(*) as orders, sum(o.amount) as revenue
    from bronze.orders as o
    where o.region = l.region
      and o.ordered_at >= l.window_start
      and o.ordered_at < l.window_start + interval '1 day'
  ) as n
) as n
on g.window_start = n.window_start and g.region = n.region
when matched then update set orders = n.orders, revenue = n.revenue
when not matched then insert values (n.window_start, n.region, n.orders, n.revenue)
