-- Hold: how far a run may go, so that no row is judged before the stream's log has told of its time (R6).
--
-- $1 rollup_id: integer
-- $2 asked: the bound that the run would have
-- $3 hold: interval, how long the run waits for the log
-- $4 idle_after: interval; null where nobody falls idle by silence
-- $5 frontier: the greatest bound so far
-- $6 declared: text[], the source partitions in the settings
--
-- Rows out: one, the bound: what the log of every active source partition has reached, but never more than `hold`
-- behind what was asked, and never before the frontier. Safe to repeat: it reads.
with entry as (
  select
    l./*:log_source_partition*/source_partition/*.*/::text as source_partition,
    max(l./*:log_at*/at/*.*/) as last,
    max(l./*:log_at*/at/*.*/) filter (where l./*:log_idle*/idle/*.*/) as marked_at,
    max(l./*:log_at*/at/*.*/) filter (
      where l./*:log_watermark*/watermark/*.*/ is null and not coalesce(l./*:log_idle*/idle/*.*/, false)
    ) as woken_at
  from /*:log*/gold.daily_orders_watermark_log/*.*/ as l
  where l./*:log_at*/at/*.*/ <= $2::timestamptz
    and isfinite(l./*:log_at*/at/*.*/)
    and ($5::timestamptz is null or l./*:log_at*/at/*.*/ >= $5::timestamptz)
  group by l./*:log_source_partition*/source_partition/*.*/::text
),
known as (
  select p.source_partition, p.declared_since, p.last_activity, p.idle_mark
  from /*:schema*/errata/*.*/.source_partition as p
  where p.rollup_id = $1::integer
    and (p.last_activity is not null or p.source_partition = any ($6::text[]))
  union all
  select d.source_partition, null, null, false
  from unnest($6::text[]) as d (source_partition)
  where not exists (
    select from /*:schema*/errata/*.*/.source_partition as p
    where p.rollup_id = $1::integer and p.source_partition = d.source_partition
  )
),
source as (
  select
    greatest(k.last_activity, e.last) as last,
    greatest(k.last_activity, e.last, k.declared_since) as heard_of,
    case
      when e.marked_at >= coalesce(e.woken_at, '-infinity') then true
      when e.woken_at is not null then false
      else coalesce(k.idle_mark, false)
    end as is_marked
  from known as k
  full join entry as e on coalesce('=' || e.source_partition, '') = coalesce('=' || k.source_partition, '')
),
reached as (
  select
    count(*) as sources,
    min(coalesce(s.last, '-infinity')) filter (
      where not s.is_marked
        and ($4::interval is null or s.heard_of is null or s.heard_of + $4::interval > $2::timestamptz)
    ) as until
  from source as s
)
select
  greatest(
    $2::timestamptz - $3::interval,
    -- nobody active holds nothing back, but a log in which nobody is known yet has reached nothing
    least($2::timestamptz, coalesce(r.until, case when r.sources = 0 then '-infinity' else 'infinity' end::timestamptz)),
    $5::timestamptz
  )::text as bound
from reached as r
