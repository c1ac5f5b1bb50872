-- What bronze holds by its greatest ingested_at. Rows out: one; nulls where bronze has no row with a finite one.
--
-- $1 rollup_id: integer
--
-- The last 31 days before the frontier are asked first, so that old partitions are read only where no run has examined
-- anything or nothing has come since; an index on ingested_at makes either instant.
-- Safe to repeat: it reads.
select
  g.greatest::text as greatest,
  (g.greatest - interval '30 days')::text as from_instant,
  (g.greatest + interval '1 microsecond')::text as to_instant
from (
  select coalesce(
    (
      select max(r.errata_ingested_at)
      from /*:source*/errata.daily_orders_source/*.*/ () as r
      where r.errata_ingested_at < 'infinity'
        and r.errata_ingested_at >= (
          select o.frontier - interval '31 days' from /*:schema*/errata/*.*/.rollup as o where o.rollup_id = $1::integer
        )
    ),
    (
      select max(r.errata_ingested_at)
      from /*:source*/errata.daily_orders_source/*.*/ () as r
      where r.errata_ingested_at > '-infinity' and r.errata_ingested_at < 'infinity'
    )
  ) as greatest
) as g
