-- Partials: that they are kept of one ingestion partition, of which content.
--
-- $1 relation: oid of the partition
-- $2 content: text; null where it was being written to
-- $3 is_failed: boolean; a measure could not be computed
-- $4 run_id: bigint
--
-- Rows out: none. Safe to repeat.
with remembered as (
  insert into /*:partial_partition*/errata.daily_orders_partial_partition/*.*/ (relation_id, content, is_failed, run_id)
  values ($1::oid, $2::text, $3::boolean, $4::bigint)
)
update pg_temp.errata_ingested as i
set is_covered = not $3::boolean
where i.relation_id = $1::oid
