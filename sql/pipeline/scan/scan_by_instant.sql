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
--
-- Rows out: one, the summary. Side effect: pg_temp.errata_record gets, for each source partition, the instants at which
-- its rows in this ingestion partition raise its greatest event time; only those can raise the rollup's. And the first
-- and last of each stretch without a silence of `idle_after`: what lies between them tells nothing more.
-- Safe to repeat: reads bronze, writes work tables only.
with new_row as (
  select
    r.errata_ingested_at as at,
    r.errata_source_partition collate "C" as source_partition,
    r.errata_event_time as event_time,
    r.errata_quarantine as quarantine,
    r.errata_row_age as row_age
    /*:new_row_delay*/, r.errata_delay as delay/*.*/
  from (
    select r.* from /*:source*/errata.daily_orders_source/*.*/ () as r where /*:partition_constraint*/true/*.*/
  ) as r
  where (r.errata_relation = $1::oid or $1::oid is null)
      and (
      (($2::integer = 2147483647 or r.errata_row_age <= $2::integer) and ($3::int8multirange = '{}' or not ($3::int8multirange @> ($4::bigint - r.errata_row_age))))
      or (r.errata_ingested_at > $5::timestamptz and r.errata_ingested_at < 'infinity')
    )
  -- so that each row is judged once, and not once for each aggregate
  offset 0
),
by_instant as materialized (
  select
    min(n.at) as at,
    n.source_partition,
    coalesce(n.at > $6::timestamptz and n.at < 'infinity', false) as is_deferred,
    min(n.at) filter (where n.quarantine is null and ($7::timestamptz is null or n.at >= $7::timestamptz)) as first_moving,
    count(*) as row_count,
    count(n.quarantine) as quarantined,
    min(n.event_time) filter (where n.quarantine is null) as least,
    max(n.event_time) filter (where n.quarantine is null) as greatest,
    range_agg(int8range($4::bigint - n.row_age, $4::bigint - n.row_age, '[]')) filter (where n.row_age <= $9::integer) as seen
    /*:delay_by_instant*/, max(n.event_time - coalesce(n.delay, $8::interval)) filter (where n.quarantine is null) as moved, max(n.delay) filter (where n.quarantine is null) as slowest/*.*/
  from new_row as n
  group by n.at, n.source_partition, 3
),
moving as (
  select
    i.source_partition,
    i.at,
    /*:moving_to*/i.greatest/*.*/ as greatest,
    max(/*:moving_to*/i.greatest/*.*/) over (in_order rows between unbounded preceding and 1 preceding) as greatest_before,
    lag(i.at) over in_order as at_before,
    lead(i.at) over in_order as at_after
  from by_instant as i
  where $8::interval is not null
    and i.greatest is not null
    and not i.is_deferred
    and ($7::timestamptz is null or i.at >= $7::timestamptz)
  window in_order as (partition by i.source_partition order by i.at)
),
telling as (
  select
    m.source_partition,
    m.at,
    m.greatest,
    count(*) filter (where m.at - m.at_before >= $10::interval) over (partition by m.source_partition order by m.at) as stretch
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
    max(t.at) over (partition by t.source_partition, t.stretch)
  from telling as t
  /*:telling_override_join*/left join pg_temp.errata_override as v on array[v.region] = array[t.source_partition]/*.*/
)
/*:slower*/, slower as (
  insert into pg_temp.errata_slower (at, delay)
  select s.at, s.slowest
  from (
    select i.at, i.slowest, max(i.slowest) over (order by i.at, i.source_partition rows between unbounded preceding and 1 preceding) as before
    from by_instant as i
    where not i.is_deferred
      and i.slowest > interval '600000000 microseconds'
      and ($7::timestamptz is null or i.at >= $7::timestamptz)
  ) as s
  where s.before is null or s.slowest > s.before
)/*.*/
select
  coalesce(sum(i.row_count) filter (where not i.is_deferred), 0)::bigint as examined,
  coalesce(sum(i.quarantined) filter (where not i.is_deferred), 0)::bigint as quarantined,
  min(i.at) filter (where i.is_deferred) as deferred_from,
  min(i.at) filter (where not i.is_deferred) as oldest_ingested_at,
  min(i.first_moving) filter (where not i.is_deferred) as first_moving,
  min(i.least) filter (where not i.is_deferred) as event_time_from,
  max(i.greatest) filter (where not i.is_deferred) as event_time_to,
  coalesce(range_agg(i.seen), '{}') as seen
from by_instant as i
