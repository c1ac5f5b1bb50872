-- Version 1, as a stream ships it that takes its input for complete ten minutes after: of the windows that end until
-- `until` and were not shipped before, the rows that came before their window was sealed. `gold.daily_orders` and
-- `interval '1 day'` stand for each rollup.
--
-- $1 from: timestamptz, the end of what was shipped before
-- $2 until: timestamptz
insert into gold.daily_orders (window_start, window_end, region, orders, revenue)
select w.window_start, w.window_start + interval '1 day', o.region, count(*), sum(o.amount)
from bronze.orders as o
cross join lateral (select date_bin(interval '1 day', o.ordered_at, timestamptz '2000-01-01 00:00Z') as window_start) as w
where o.ordered_at >= $1::timestamptz
  and o.ordered_at < $2::timestamptz
  and o.ingested_at >= $1::timestamptz
  and o.ingested_at - interval '10 minutes' < w.window_start + interval '1 day'
group by w.window_start, o.region
