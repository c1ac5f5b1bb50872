-- Watermark, `recorded`: the stream's own log, read as of ingested_at (R2).
--
-- $1 frontier: entries before it came too late to move anything (R6)
-- $2 bound: bound of this run; entries of that very instant are left to the next one, which may find more of them
--
-- Rows out: one an entry into pg_temp.errata_record; a value in an idle mark is ignored. Safe to repeat: writes work
-- tables only.
insert into pg_temp.errata_record (source_partition, at, watermark, active_until, is_idle)
select
  l./*:log_source_partition*/source_partition/*.*/::text,
  l./*:log_at*/at/*.*/,
  case when not coalesce(l./*:log_idle*/idle/*.*/, false) then l./*:log_watermark*/watermark/*.*/ end,
  l./*:log_at*/at/*.*/,
  coalesce(l./*:log_idle*/idle/*.*/, false)
from /*:log*/gold.daily_orders_watermark_log/*.*/ as l
where (
    coalesce(l./*:log_idle*/idle/*.*/, false)
    or l./*:log_watermark*/watermark/*.*/ is null
    or isfinite(l./*:log_watermark*/watermark/*.*/)
  )
  and isfinite(l./*:log_at*/at/*.*/)
  and l./*:log_at*/at/*.*/ < $2::timestamptz
  and ($1::timestamptz is null or l./*:log_at*/at/*.*/ >= $1::timestamptz)
