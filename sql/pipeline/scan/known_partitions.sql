-- Scan: what is known of each ingestion partition (R16). In another cluster, or one whose transactions count from the
-- start again, the horizon means nothing: then everything is read anew, which changes nothing.
--
-- $1 rollup_id: integer
-- $2 transaction: the 64-bit number to which age() counts back
-- $3 same_cluster: boolean
-- $4 bound: bound of this run
--
-- Rows out: one a partition ever read; horizon_age is null where it must be read whole. One of which no row was ever examined is as
-- one that was never read: all its rows are new, and none is asked for its age. Reads only.
select
  p.relation_id::text as relation_id,
  case
    when p.rows_examined = 0 then 2147483647
    when $3::boolean and p.horizon::text::bigint <= $2::bigint
    then least($2::bigint - p.horizon::text::bigint, 2147483647)::integer
  end as horizon_age,
  case when p.rows_examined = 0 then '{}' else p.seen::text end as seen,
  case when p.rows_examined > 0 then p.bound end as bound,
  coalesce(p.deferred_from <= $4::timestamptz, false) as is_due,
  p.activity,
  p.event_id_from,
  p.event_id_to
from /*:schema*/errata/*.*/.ingestion_partition as p
where p.rollup_id = $1::integer
