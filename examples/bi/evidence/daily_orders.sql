-- A source query of Evidence over a rollup `daily_orders` by account (a 64-bit id) and region. Evidence makes a JavaScript number
-- of each bigint and numeric: ids and what must keep its digits are text, what charts draw is a number.
select
  window_start,
  local_date::text as local_date,
  account_id::text as account_id,
  region,
  orders,
  revenue,
  revenue::text as revenue_exact,
  is_corrected,
  pending_revenue,
  pending_revenue::text as pending_revenue_exact
from gold.daily_orders_latest
order by window_start, account_id, region
