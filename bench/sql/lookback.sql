-- Delete and insert: the totals of so many days are thrown away before, in the same transaction, and aggregated anew.
--
-- $1 since: timestamptz
insert into bench.totals (window_start, region, orders, revenue)
select date_bin(interval '1 day', o.ordered_at, timestamptz '2000-01-01 00:00Z'), o.region, count(*), sum(o.amount)
from bronze.orders as o
where o.ordered_at >= $1::timestamptz
group by 1, 2
