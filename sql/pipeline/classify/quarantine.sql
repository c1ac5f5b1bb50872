-- Classify, the rows that R4 sets aside: they belong to no window and are kept, named, with their reason.
--
-- $1 relation: as in scan.sql, to
-- $2 horizon_age
-- $3 seen
-- $4 transaction
-- $5 bound_before
-- $6 bound
--
-- Rows out: one a quarantined row, into pg_temp.errata_candidate. Safe to repeat: writes work tables only.
insert into pg_temp.errata_candidate
select r.*, null::timestamptz, null::timestamptz, null::date, null::timestamptz, 'quarantined'
from (
  select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
) as r
where (r.errata_relation = $1::oid or $1::oid is null)
  and (
    (($2::integer = 2147483647 or r.errata_row_age <= $2::integer) and ($3::int8multirange = '{}' or not ($3::int8multirange @> ($4::bigint - r.errata_row_age))))
    or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
  )
  and coalesce(r.errata_ingested_at <= $6::timestamptz or not isfinite(r.errata_ingested_at), true)
  and r.errata_quarantine is not null
  and not r.errata_is_heartbeat
