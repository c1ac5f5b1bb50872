-- Link: the hash over the record of the run, the hash of its versions and the hash of the link before (R21).
--
-- $1 rollup_id: integer
-- $2 run_id: bigint
-- $3 versions: bigint, how many the run hashed
-- $4 rows_hash: the hash over them, in hexadecimal digits
--
-- After finish.sql, which completes the record. Rows out: one. Not repeatable: each run is linked once.
update /*:schema*/errata/*.*/.run as u
set
  versions_hashed = r.versions_hashed,
  rows_hash = r.rows_hash,
  previous_hash = r.previous_hash,
  hash = /*:link_hash*/sha256(convert_to(r::text, 'UTF8'))/*.*/
from (
  select
    n.run_id, n.rollup_id, n.verb, n.bound, n.stamp, n.actor, n.reason, n.db_role, n.counts,
    $3::bigint as versions_hashed,
    decode($4::text, 'hex') as rows_hash,
    (
      select p.hash
      from /*:schema*/errata/*.*/.run as p
      where p.rollup_id = $1::integer and p.hash is not null and p.run_id < $2::bigint
      order by p.run_id desc
      limit 1
    ) as previous_hash
  from /*:schema*/errata/*.*/.run as n
  where n.run_id = $2::bigint
) as r
where u.run_id = r.run_id
