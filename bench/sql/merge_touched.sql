-- The same, of the windows that the new ingestion partition touches: they stand analysed in pg_temp.touched.
merge into bench.totals as g
using (
  select l.window_start, l.region, count(*) as orders, sum(o.amount) as revenue
  from pg_temp.touched as l
  join bronze.orders as o
    on o.region = l.region
    and date_bin(interval '1 day', o.ordered_at, timestamptz '2000-01-01 00:00Z') = l.window_start
  group by l.window_start, l.region
) as n
on g.window_start = n.window_start and g.region = n.region
when matched then update set orders = n.orders, revenue = n.revenue
when not matched then insert values (n.window_start, n.region, n.orders, n.revenue)
