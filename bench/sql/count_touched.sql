-- A limit: the rows of the touched windows, counted in the covering index alone.
select sum(n.orders)
from pg_temp.touched as l
cross join lateral (
  select count(*) as orders
  from bronze.orders as o
  where o.region = l.region
    and o.ordered_at >= l.window_start
    and o.ordered_at < l.window_start + interval '1 day'
) as n
