-- The windows that the late rows of one ingestion day touch.
--
-- $1 day: date
create temp table touched on commit drop as
select distinct date_bin(interval '1 day', o.ordered_at, timestamptz '2000-01-01 00:00Z') as window_start, o.region
from bronze.orders as o
where o.ingested_at >= $1::date
  and o.ingested_at < $1::date + 1
  and o.ingested_at - o.ordered_at > interval '10 minutes'
