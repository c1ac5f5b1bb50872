-- Watermark, `external`: an entry of the stream's refused rows may say which watermark refused it; the stream's had
-- reached that (R2).
--
-- $1 rollup_id: integer
-- $2 frontier: an entry from before it that is seen only now holds from it on
-- $3 bound: bound of this run; an entry without a time holds from the run on that first sees it
-- $4 max_future_skew: interval; null: no limit (see watermark_shipped.sql)
--
-- Rows out: one. `ahead`: entries whose watermark lies too far ahead of their refusal. Side effect: an instant an entry
-- into pg_temp.errata_record. Safe to repeat: writes work tables only.
with said as (
  select e.watermark, case when isfinite(e.refused_at) then least(e.refused_at, $3::timestamptz) else $3::timestamptz end as refused_at
  from /*:schema*/errata/*.*/.refused_entry as e
  where e.rollup_id = $1::integer
    and isfinite(e.watermark)
    and e.watermark > coalesce(
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
  select a.at, max(s.watermark), a.at
  from said as s
  cross join lateral (
    select least(greatest(s.refused_at, $2::timestamptz), $3::timestamptz - interval '1 microsecond') as at
  ) as a
  where s.watermark <= s.refused_at + $4::interval or $4::interval is null
  group by a.at
)
select count(*)::integer as ahead
from said as s
where s.watermark > s.refused_at + $4::interval
