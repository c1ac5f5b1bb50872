-- Scan: what is known of each ingestion partition (R16). In another cluster, or one whose transactions count from the
-- start again, the horizon means nothing: then everything is read anew, which changes nothing.
--
-- $1 rollup_id: integer
-- $2 transaction: the 64-bit number to which age() counts back
-- $3 same_cluster: boolean
-- $4 bound: bound of this run
--
-- Rows out: one a partition ever read; horizon_age is null where it must be read whole. Reads only.
select
  p.relation_id::text as relation_id,
  case
    when $3::boolean and p.horizon::text::bigint <= $2::bigint
    then least($2::bigint - p.horizon::text::bigint, 2147483647)::integer
  end as horizon_age,
  p.seen::text as seen,
  p.bound,
  coalesce(p.deferred_from <= $4::timestamptz, false) as is_due,
  p.activity
from /*:schema*/errata/*.*/.ingestion_partition as p
where p.rollup_id = $1::integer
