-- What bronze holds by its greatest ingested_at. Rows out: one; nulls where bronze has no row with a finite one.
--
-- $1 rollup_id: integer
-- $2 at: the database's clock; serves where no run has examined anything
--
-- The last day before the frontier is asked first, then a month, so that old ingestion partitions are read only where
-- nothing has come for that long. Without an index on ingested_at, 100 daily partitions of 33,333 rows: the last day
-- 0.05 s, all of them 1.1 s.
-- Safe to repeat: it reads.
with reach as (
  select coalesce(o.frontier, $2::timestamptz) as examined_to
  from /*:schema*/errata/*.*/.rollup as o
  where o.rollup_id = $1::integer
),
held as (
  select coalesce(
    (
      select max(r.errata_ingested_at)
      from /*:source*/errata.daily_orders_source/*.*/ () as r
      where r.errata_ingested_at >= (select e.examined_to - interval '1 day' from reach as e)
        and r.errata_ingested_at < 'infinity'
    ),
    (
      select max(r.errata_ingested_at)
      from /*:source*/errata.daily_orders_source/*.*/ () as r
      where r.errata_ingested_at >= (select e.examined_to - interval '31 days' from reach as e)
        and r.errata_ingested_at < 'infinity'
    ),
    (
      select max(r.errata_ingested_at)
      from /*:source*/errata.daily_orders_source/*.*/ () as r
      where r.errata_ingested_at > '-infinity' and r.errata_ingested_at < 'infinity'
    )
  ) as greatest
)
select
  h.greatest::text as greatest,
  (h.greatest - interval '30 days')::text as from_instant,
  (h.greatest + interval '1 microsecond')::text as to_instant
from held as h
