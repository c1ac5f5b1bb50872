-- Watermark, `external`, sealed by the stream: version 1 of a window says that the stream's watermark had reached its
-- end (R2, R8).
--
-- $1 rollup_id: integer
-- $2 frontier: what was written before it and is seen only now holds from it on
-- $3 bound: bound of this run
-- $4 max_future_skew: interval; null: no limit
--
-- A watermark is an event time, and no valid row lies further ahead of its arrival than max_future_skew (R4). A window
-- that ends further ahead than that of when it was written, or of the bound, seals nothing.
-- Rows out: one. `ahead`: keyed windows that end too far ahead of when they were written. Side effect: an instant a
-- version 1 into pg_temp.errata_record. Safe to repeat: writes work tables only.
with base as (
  select (
    select s.watermark
    from /*:schema*/errata/*.*/.watermark_step as s
    where s.rollup_id = $1::integer
    order by s.at desc
    limit 1
  ) as watermark
),
shipped as (
  select g.stamp, g.window_end
  from base as b
  cross join /*:ledger*/gold.daily_orders/*.*/ as g
  where g.version = 1
    and isfinite(g.window_end)
    and (b.watermark is null or g.window_start >= /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (b.watermark))
),
recorded as (
  insert into pg_temp.errata_record (at, watermark, active_until)
  select a.at, max(s.window_end), a.at
  from shipped as s
  cross join lateral (
    select least(greatest(s.stamp, $2::timestamptz), $3::timestamptz - interval '1 microsecond') as at
  ) as a
  where s.window_end <= least(s.stamp, $3::timestamptz) + $4::interval or $4::interval is null
  group by a.at
)
select count(*)::integer as ahead
from shipped as s
where s.window_end > s.stamp + $4::interval
