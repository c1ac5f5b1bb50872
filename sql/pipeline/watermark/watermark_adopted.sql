-- Watermark, `external`, sealed from the stream's own result table: a total of a window says that the stream's watermark
-- had reached its end (R2, R8). The table does not say when it was written: it holds from the run on that first sees it.
--
-- $1 rollup_id: integer
-- $2 bound: bound of this run
-- $3 max_future_skew: interval; null: no limit (see watermark_shipped.sql)
--
-- Rows out: one. `ahead`: totals of windows that end too far ahead. Side effect: the greatest end that is not sealed yet
-- into pg_temp.errata_record. Safe to repeat: writes work tables only.
with said as (
  select w.window_end
  from /*:result_table*/gold.daily_orders_sealed/*.*/ as t
  cross join lateral /*:adopted_window*/errata.daily_orders_windows(t.window_start)/*.*/ as w
  where w.window_start = t.window_start
    and isfinite(w.window_end)
    and w.window_end > coalesce(
      (
        select s.watermark
        from /*:schema*/errata/*.*/.watermark_step as s
        where s.rollup_id = $1::integer
        order by s.at desc
        limit 1
      ),
      '-infinity'
    )
),
recorded as (
  insert into pg_temp.errata_record (at, watermark, active_until)
  select $2::timestamptz - interval '1 microsecond', max(s.window_end), $2::timestamptz - interval '1 microsecond'
  from said as s
  where s.window_end <= $2::timestamptz + $3::interval or $3::interval is null
  having count(*) > 0
)
select count(*)::integer as ahead
from said as s
where s.window_end > $2::timestamptz + $3::interval
