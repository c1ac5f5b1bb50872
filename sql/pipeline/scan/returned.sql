-- Scan: an ingestion partition that was dropped and made again, or restored, is another relation of the same name and
-- bounds. It has taken the old one's place once as many rows were examined in it as in the old one; in a database restored
-- from a dump, which gives every relation another oid, its name and bounds are enough (R15).
--
-- $1 rollup_id: integer
-- $2 present: text[], oids of the partitions that are there now
-- $3 is_restored: boolean; the last run saw another cluster or database
-- $4 relation_ids, $5 relations, $6 bounds, $7 examined, $8 event_time_from, $9 event_time_to: text[], of the partitions
--   that this run has read
--
-- Rows out: none. Safe to repeat.
delete from /*:schema*/errata/*.*/.ingestion_partition as p
using (
  select
    r.relation,
    r.bounds,
    r.examined + coalesce(k.rows_examined, 0) as examined,
    least(r.event_time_from, k.event_time_from) as event_time_from,
    greatest(r.event_time_to, k.event_time_to) as event_time_to
  from unnest($4::text[]::oid[], $5::text[], $6::text[], $7::text[]::bigint[], $8::text[]::timestamptz[], $9::text[]::timestamptz[]) as r (
    relation_id, relation, bounds, examined, event_time_from, event_time_to
  )
  left join /*:schema*/errata/*.*/.ingestion_partition as k
    on k.rollup_id = $1::integer
    and k.relation_id = r.relation_id
) as n
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
