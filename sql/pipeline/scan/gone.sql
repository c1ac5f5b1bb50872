-- Scan: mark the ingestion partitions that left or came back (R15).
--
-- $1 rollup_id: integer
-- $2 present: text[], oids of the partitions that are there now
-- $3 bound: bound of this run
--
-- Rows out: one a partition that is gone. Safe to repeat.
with moved as (
  update /*:schema*/errata/*.*/.ingestion_partition as p
  set gone_at = case when p.gone_at is null then $3::timestamptz end
  where p.rollup_id = $1::integer
    and (p.gone_at is null) is distinct from (p.relation_id = any ($2::oid[]))
)
select p.relation
from /*:schema*/errata/*.*/.ingestion_partition as p
where p.rollup_id = $1::integer
  and not p.relation_id = any ($2::oid[])
order by p.relation
