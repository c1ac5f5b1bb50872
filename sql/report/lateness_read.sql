-- The one pass over bronze that `errata lateness` makes: what its other statements need of each row of a range.
--
-- $1 from_instant, $2 to_instant: of ingested_at; half-open, so that ingestion partitions outside are pruned
-- $3 zone: whose days are reported
--
-- Rows out: one a bronze row that is no heartbeat, into pg_temp.errata_lateness. errata_lateness is in microseconds,
-- NULL where the row is set aside: quarantined (R4), or without a finite arrival. Ids and digests are kept only of rows
-- whose id occurs twice in the range, for lateness_copies.sql.
-- Safe to repeat: writes a temporary table that ends with the transaction.
--
-- Cost on two busy cores, work_mem 4 MB, PostgreSQL 18 / 15: 1 million rows in 31 of 100 daily partitions of 3.3 million
-- rows, no index, the others pruned. This 5.7 / 12.0 s; where rows are unique, so without the sort by event id,
-- 3.5 / 5.3 s; all other statements of the report 7.0 / 9.9 s together. Rejected, measured under more load, 18 only:
-- finding out the window of every row here (3.6 s more; see lateness_misses.sql); ranking every row by its digest (a
-- quarter more).
create temporary table errata_lateness on commit drop as
select
  r.errata_source_partition,
  r.errata_event_time,
  r.errata_ingested_at,
  r.errata_arrived_at,
  (r.errata_event_time at time zone $3::text)::date as errata_day,
  (case when isfinite(r.errata_arrived_at) then r.errata_arrived_at else r.errata_ingested_at end at time zone $3::text)::date as errata_arrival_day,
  coalesce(
    r.errata_quarantine,
    case when isfinite(r.errata_arrived_at) then null else 'arrived_at_missing' end
  ) as errata_set_aside,
  case
    when r.errata_quarantine is null and isfinite(r.errata_arrived_at)
    then (extract(epoch from r.errata_arrived_at - r.errata_event_time) * 1000000)::bigint
  end as errata_lateness,
  case when r.errata_twins > 1 then r.errata_event_id end as errata_twin_id,
  case when r.errata_twins > 1 then r.errata_row_digest end as errata_twin_digest
  /*:each column*/ , r./*:column*/region/*.*/ /*:end*/
from (
  select
    r.*,
    /*:twins*/count(*) over (partition by r.errata_event_id collate "C")/*.*/ as errata_twins
  from /*:source*/errata.daily_orders_source/*.*/ () as r
  where r.errata_ingested_at >= $1::timestamptz
    and r.errata_ingested_at < $2::timestamptz
    and not r.errata_is_heartbeat
) as r
