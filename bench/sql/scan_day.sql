-- A limit: the new ingestion partition read once, in sequence.
--
-- $1 day: date
select count(*), max(o.ordered_at), max(o.ingested_at)
from bronze.orders as o
where o.ingested_at >= $1::date and o.ingested_at < $1::date + 1
