-- What was published into one closed period since it was closed, beside version 1; the latest first. Rows out: one a version, at
-- most $4.
--
-- $1 period_start, $2 period_end: half-open
-- $3 closed_at: instant of the close
-- $4 at_most: integer
--
-- Reads the versions of that period by the ledger's index, and no others. Safe to repeat: it reads.
select
  c.window_start::text as window_start,
  c.window_end::text as window_end,
  c.local_date::text as local_date,
  jsonb_build_array(/*:key_texts*/c.region::text/*.*/) as key,
  c.version::text as version,
  c.kind,
  c.causes,
  c.posting_period,
  c.actor,
  c.reason,
  c.stamp::text as stamp,
  '{}'::jsonb /*:each measure*/ || jsonb_build_object(/*:measure_name*/'revenue'/*.*/, c./*:delta_measure*/delta_revenue/*.*/::text) /*:end*/ as deltas
from /*:history*/gold.daily_orders_history/*.*/ as c
where c.window_start >= $1::timestamptz
  and c.window_start < $2::timestamptz
  and c.stamp > $3::timestamptz
  and c.version > 1
order by c.stamp desc, c.window_start, c.version
limit $4::integer
