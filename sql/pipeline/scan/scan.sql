-- Scan, where rows move no watermark: what is new in one ingestion partition (R16).
--
-- $1 relation: oid of the ingestion partition; null where what it is divided by tells its rows, or where they bear no xmin
-- $2 horizon_age: rows whose transaction is at most this old may be new; 2147483647 when never read
-- $3 seen: int8multirange of transactions behind the horizon whose rows were read already
-- $4 transaction: the 64-bit number to which age() counts back
-- $5 bound_before: bound of the last reading; rows beyond it were left for later
-- $6 bound: bound of this run; null where no row lies beyond it
-- $7 frontier: rows before it do not count for `first_moving`
-- $8 tells_first: boolean; `first_moving` is asked for
-- $9 next_horizon_age: age of the oldest transaction still running now; null where no later one had ended
--
-- Rows out: one, the summary. Reads only.
--
-- Of a day of 670,000 rows that no run had read it takes twice as long as to count them. What made it four times: a line by instant, or by
-- what is deferred, grouped (0.20 s for two lines); an age of each row where nobody asks for it (0.03 s); conditions at each
-- aggregate in place of columns that are null (0.04 s). Without the fence each column is computed anew for each aggregate (0.03 s).
select
  count(*) - count(r.deferred_at) as examined,
  count(*) - count(r.deferred_at) - count(r.event_time) as quarantined,
  min(r.deferred_at) as deferred_from,
  -- rows beyond the bound are all later
  case when min(r.at) <= $6::timestamptz or $6::timestamptz is null then min(r.at) end as oldest_ingested_at,
  min(r.moving_at) as first_moving,
  min(r.event_time) as event_time_from,
  max(r.event_time) as event_time_to,
  coalesce(range_agg(int8range($4::bigint - r.row_age, $4::bigint - r.row_age, '[]')) filter (where r.row_age is not null), '{}') as seen
from (
  select
    n.at,
    n.deferred_at,
    case when n.is_counted and n.deferred_at is null then n.event_time end as event_time,
    case when $8::boolean and n.is_counted and n.deferred_at is null and ($7::timestamptz is null or n.at >= $7::timestamptz) then n.at end as moving_at,
    case when n.row_age <= $9::integer then n.row_age end as row_age
  from (
    select
      r.errata_ingested_at as at,
      case when $6::timestamptz is not null and r.errata_ingested_at > $6::timestamptz and r.errata_ingested_at < 'infinity' then r.errata_ingested_at end as deferred_at,
      r.errata_event_time as event_time,
      r.errata_quarantine is null as is_counted,
      r.errata_row_age as row_age
    from (
      select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
    ) as r
    where (r.errata_relation = $1::oid or $1::oid is null)
      and (
        (($2::integer = 2147483647 or r.errata_row_age <= $2::integer) and ($3::int8multirange = '{}' or not ($3::int8multirange @> ($4::bigint - r.errata_row_age))))
        or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
      )
  ) as n
  offset 0
) as r
