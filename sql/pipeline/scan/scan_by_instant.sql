-- Scan, where rows move the watermark (R2): what is new in one ingestion partition (R16), and at which instants of ingestion
-- its rows set the watermark anew (`bounded`), or the delay (`fixed_delay`, with a delay in each row).
--
-- $1 relation: as in scan.sql
-- $2 horizon_age: rows whose transaction is at most this old may be new; 2147483647 when never read
-- $3 seen: int8multirange of transactions behind the horizon whose rows were read already
-- $4 transaction: the 64-bit number to which age() counts back
-- $5 bound_before: bound of the last reading; rows beyond it were left for later
-- $6 bound: bound of this run
-- $7 frontier: rows before it move no watermark (R6)
-- $8 delay: interval, of `bounded`; null under `fixed_delay`
-- $9 next_horizon_age: age of the oldest transaction still running now; null where no later one had ended
-- $10 idle_after: interval; null where nobody falls idle by silence
-- $11 tells_activity: boolean; there are source partitions, and the last row of each is asked for
--
-- Rows out: one, the summary. Side effect: pg_temp.errata_record gets, for each source partition, the instants at which
-- its rows in this ingestion partition raise its greatest event time; only those can raise the rollup's. And where there are source
-- partitions the first and last of each stretch without a silence of `idle_after`: what lies between them tells nothing more.
-- Safe to repeat: reads bronze, writes work tables only.
--
-- Of a day of 670,000 rows with an instant each it takes 0.9 s, 2.0 to 2.3 with 64 source partitions, 0.8 of it to sort them; a line
-- by instant, grouped before, took 3.0 and 3.9. The greatest of parts of the time first, so that most rows need no place in the
-- order: no faster without source partitions, twice as slow with 64.
with new_row as materialized (
  select
    n.at,
    n.source_partition,
    n.deferred_at,
    case when n.is_counted and n.deferred_at is null then n.event_time end as event_time,
    case when n.row_age <= $9::integer then n.row_age end as row_age
    /*:new_row_delay*/, n.delay/*.*/
  from (
    select
      r.errata_ingested_at as at,
      r.errata_source_partition collate "C" as source_partition,
      case when r.errata_ingested_at > $6::timestamptz and r.errata_ingested_at < 'infinity' then r.errata_ingested_at end as deferred_at,
      r.errata_event_time as event_time,
      r.errata_quarantine is null as is_counted,
      r.errata_row_age as row_age
      /*:source_delay*/, r.errata_delay as delay/*.*/
    from (
      select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
    ) as r
    where (r.errata_relation = $1::oid or $1::oid is null)
      and (
        (($2::integer = 2147483647 or r.errata_row_age <= $2::integer) and ($3::int8multirange = '{}' or not ($3::int8multirange @> ($4::bigint - r.errata_row_age))))
        or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
      )
    -- so that each column is computed once
    offset 0
  ) as n
),
moving as (
  select
    n.source_partition,
    n.at,
    /*:moving_to*/n.event_time/*.*/ as greatest,
    max(/*:moving_to*/n.event_time/*.*/) over in_order as greatest_before,
    case when $11::boolean then lag(n.at) over in_order end as at_before,
    case when $11::boolean then lead(n.at) over in_order else n.at end as at_after
  from new_row as n
  where $8::interval is not null
    and n.event_time is not null
    and ($7::timestamptz is null or n.at >= $7::timestamptz)
  -- of one instant only the greatest can raise what was before
  window in_order as (
    partition by case when $11::boolean then n.source_partition end
    order by n.at, /*:moving_to*/n.event_time/*.*/ desc
    rows between unbounded preceding and 1 preceding
  )
),
telling as (
  select
    m.source_partition,
    m.at,
    m.greatest,
    case when $10::interval is not null then count(*) filter (where m.at - m.at_before >= $10::interval) over (partition by m.source_partition order by m.at) end as stretch
  from moving as m
  where m.greatest_before is null
    or m.greatest > m.greatest_before
    or m.at_after is null
    or m.at - m.at_before >= $10::interval
    or m.at_after - m.at >= $10::interval
),
recorded as (
  insert into pg_temp.errata_record (source_partition, at, watermark, active_until)
  select
    t.source_partition,
    t.at,
    /*:moved_to*/t.greatest - $8::interval/*.*/,
    case when $10::interval is not null then max(t.at) over (partition by t.source_partition, t.stretch) else t.at end
  from telling as t
  /*:telling_override_join*/left join pg_temp.errata_override as v on array[v.region] = array[t.source_partition]/*.*/
)
/*:slower*/, slower as (
  insert into pg_temp.errata_slower (at, delay)
  select s.at, s.delay
  from (
    select n.at, n.delay, max(n.delay) over (order by n.at, n.delay desc rows between unbounded preceding and 1 preceding) as before
    from new_row as n
    where n.event_time is not null
      and n.delay > interval '600000000 microseconds'
      and ($7::timestamptz is null or n.at >= $7::timestamptz)
  ) as s
  where s.before is null or s.delay > s.before
)/*.*/
select
  count(*) - count(n.deferred_at) as examined,
  count(*) - count(n.deferred_at) - count(n.event_time) as quarantined,
  min(n.deferred_at) as deferred_from,
  -- rows beyond the bound are all later
  case when min(n.at) <= $6::timestamptz then min(n.at) end as oldest_ingested_at,
  min(n.at) filter (where n.event_time is not null and ($7::timestamptz is null or n.at >= $7::timestamptz)) as first_moving,
  min(n.event_time) as event_time_from,
  max(n.event_time) as event_time_to,
  coalesce(range_agg(int8range($4::bigint - n.row_age, $4::bigint - n.row_age, '[]')) filter (where n.row_age is not null), '{}') as seen
from new_row as n
