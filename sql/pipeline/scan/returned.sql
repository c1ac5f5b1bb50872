-- Scan: an ingestion partition that was dropped and made again, or restored, is another relation of the same name and
-- bounds. It has taken the old one's place if this run has read it whole and it holds what the old one held; in a
-- database restored from a dump, which gives every relation another oid, its name and bounds are enough (R15).
--
-- $1 rollup_id: integer
-- $2 present: text[], oids of the partitions that are there now
-- $3 is_restored: boolean; the last run saw another cluster or database
-- $4 relations, $5 bounds, $6 examined, $7 event_time_from, $8 event_time_to: text[], of the partitions that this run was
--   the first to read
--
-- Rows out: none. Safe to repeat.
delete from /*:schema*/errata/*.*/.ingestion_partition as p
using unnest($4::text[], $5::text[], $6::text[]::bigint[], $7::text[]::timestamptz[], $8::text[]::timestamptz[]) as n (
  relation, bounds, examined, event_time_from, event_time_to
)
where p.rollup_id = $1::integer
  and not p.relation_id = any ($2::text[]::oid[])
  and p.relation = n.relation
  and coalesce(p.bounds, '') = n.bounds
  and (
    $3::boolean
    or (
      n.examined >= p.rows_examined
      and (p.event_time_from is null or n.event_time_from <= p.event_time_from)
      and (p.event_time_to is null or n.event_time_to >= p.event_time_to)
    )
  )
