-- Partials: those of partitions that are kept anew, or are gone, are not kept any more.
--
-- $1 relations: text[], oids of the partitions that stay
--
-- Rows out: one a partition. Safe to repeat.
with forgotten as (
  delete from /*:partial_partition*/errata.daily_orders_partial_partition/*.*/ as k
  where not k.relation_id = any ($1::text[]::oid[])
  returning k.relation_id
)
delete from /*:partial*/errata.daily_orders_partial/*.*/ as p
using forgotten as f
where p.relation_id = f.relation_id
