-- Scan: remember between which ids those of ingestion partitions lie (R5, R20).
--
-- $1 rollup_id: integer
-- $2 relation_ids: text[], oids
-- $3 event_ids_from, $4 event_ids_to: text[]
--
-- Rows out: none. Safe to repeat.
update /*:schema*/errata/*.*/.ingestion_partition as p
set event_id_from = i.event_id_from, event_id_to = i.event_id_to
from unnest($2::text[]::oid[], $3::text[], $4::text[]) as i (relation_id, event_id_from, event_id_to)
where p.rollup_id = $1::integer
  and p.relation_id = i.relation_id
