-- What bronze says today of the days that are sealed, by plain SQL: no function or table of Errata's but for the last
-- sealed day. The first row of each order counts; an order dated more than an hour after its arrival does not.
select
  count(*) as orders,
  sum(o.amount) as revenue
from (
  select distinct on (b.order_id)
    b.amount
  from bronze.orders as b
  where b.ordered_at <= b.ingested_at + interval '1 hour'
    and b.ordered_at < (select max(r.window_end) from gold.daily_orders_reconciliation as r)
  order by b.order_id, b.ingested_at
) as o;
