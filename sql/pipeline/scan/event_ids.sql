-- Scan: between which ids those of one ingestion partition lie, by two looks into its index on the id.
--
-- Rows out: one; null where it has none. Reads only.
select
  (
    select /*:single_id*/r.order_id/*.*/::text
    from /*:source*/errata.daily_orders_source/*.*/ () as r
    where /*:partition_constraint*/true/*.*/ and /*:single_id*/r.order_id/*.*/ is not null
    order by /*:single_id*/r.order_id/*.*/
    limit 1
  ) as event_id_from,
  (
    select /*:single_id*/r.order_id/*.*/::text
    from /*:source*/errata.daily_orders_source/*.*/ () as r
    where /*:partition_constraint*/true/*.*/ and /*:single_id*/r.order_id/*.*/ is not null
    order by /*:single_id*/r.order_id/*.*/ desc
    limit 1
  ) as event_id_to
