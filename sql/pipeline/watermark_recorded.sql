-- Watermark, `recorded`: the stream's own log, read as of ingested_at (R2).
--
-- $1 frontier: entries before it came too late to move anything (R6)
-- $2 bound: bound of this run
--
-- Rows out: one an entry into pg_temp.errata_record. Safe to repeat: writes work tables only.
insert into pg_temp.errata_record (at, watermark)
select l./*:log_at*/at/*.*/, l./*:log_watermark*/watermark/*.*/
from /*:log*/gold.daily_orders_watermark_log/*.*/ as l
where l./*:log_watermark*/watermark/*.*/ is not null
  and isfinite(l./*:log_watermark*/watermark/*.*/)
  and not coalesce(l./*:log_idle*/idle/*.*/, false)
  and l./*:log_at*/at/*.*/ <= $2::timestamptz
  and ($1::timestamptz is null or l./*:log_at*/at/*.*/ >= $1::timestamptz)
