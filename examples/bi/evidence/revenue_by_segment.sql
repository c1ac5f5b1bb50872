-- Sums that must keep their digits are made in PostgreSQL, and leave it as text.
select
  a.segment,
  sum(l.revenue) as revenue,
  sum(l.revenue)::text as revenue_exact
from gold.daily_orders_latest as l
left join crm.account as a on a.account_id = l.account_id
group by a.segment
order by a.segment
