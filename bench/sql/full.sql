-- Full recompute: every total from all of bronze. The table was emptied before, in the same transaction.
insert into bench.totals (window_start, region, orders, revenue)
select date_bin(interval '1 day', o.ordered_at, timestamptz '2000-01-01 00:00Z'), o.region, count(*), sum(o.amount)
from bronze.orders as o
group by 1, 2
