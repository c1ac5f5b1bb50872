-- Watermark, `recorded`: what the log says beside the watermarks, a source partition: entries that came behind the
-- frontier, which moved nothing (R6), and the counter of rows that the stream dropped.
--
-- $1 rollup_id: integer
-- $2 frontier: the greatest bound so far; null before the first
-- $3 bound: bound of this run
-- $4 from: what the last run said that this one counts from; null where none did
-- $5 next_from: what the next run counts from
--
-- An entry is known to have come late by counting those of the last day or two again; what comes behind them is found by
-- looking through the whole log (log_look.sql). A counter that is lower than before has begun anew.
-- Rows out: one. `came_behind`: entries that this run is the first to see. Safe to repeat: not within one frontier.
with entry as (
  select
    l./*:log_source_partition*/source_partition/*.*/::text as source_partition,
    l./*:log_at*/at/*.*/ as at,
    /*:log_dropped*/l.dropped/*.*/::bigint as dropped
  from /*:log*/gold.daily_orders_watermark_log/*.*/ as l
  where isfinite(l./*:log_at*/at/*.*/)
    and l./*:log_at*/at/*.*/ < $3::timestamptz
    and (l./*:log_at*/at/*.*/ >= $4::timestamptz or $4::timestamptz is null)
),
known as (
  select p.*, bool_or(p.log_entries is not null) over () as is_counted
  from /*:schema*/errata/*.*/.source_partition as p
  where p.rollup_id = $1::integer
),
counted as (
  select
    coalesce('=' || e.source_partition, '') as name,
    e.source_partition,
    count(*) filter (where e.at < $2::timestamptz) as before_frontier,
    count(*) filter (where e.at >= $5::timestamptz) as before_bound
  from entry as e
  group by e.source_partition
),
grown as (
  select
    d.name,
    sum(case when d.dropped >= d.dropped_before then d.dropped - d.dropped_before else d.dropped end)::bigint as dropped_more,
    (array_agg(d.dropped order by d.place desc))[1] as dropped
  from (
    select
      coalesce('=' || e.source_partition, '') as name,
      e.dropped,
      coalesce(lag(e.dropped) over in_order, k.dropped, 0) as dropped_before,
      row_number() over in_order as place
    from entry as e
    left join known as k on coalesce('=' || k.source_partition, '') = coalesce('=' || e.source_partition, '')
    where e.dropped is not null
      and (e.at >= $2::timestamptz or $2::timestamptz is null)
    window in_order as (partition by e.source_partition order by e.at, e.dropped)
  ) as d
  group by d.name
),
read as (
  select
    k.source_partition_id,
    coalesce(c.before_bound, 0) as log_entries,
    case when k.is_counted then greatest(coalesce(c.before_frontier, 0) - coalesce(k.log_entries, 0), 0) else 0 end as behind_more,
    coalesce(g.dropped, k.dropped) as dropped,
    coalesce(g.dropped_more, 0) as dropped_more
  from known as k
  left join counted as c on c.name = coalesce('=' || k.source_partition, '')
  left join grown as g on g.name = coalesce('=' || k.source_partition, '')
),
-- one that is heard of for the first time, and only behind the frontier
found as (
  insert into /*:schema*/errata/*.*/.source_partition as p (rollup_id, source_partition, log_entries, came_behind)
  select $1::integer, c.source_partition, c.before_bound, c.before_frontier
  from counted as c
  where $2::timestamptz is not null
    and not exists (select from known as k where coalesce('=' || k.source_partition, '') = c.name)
  returning p.came_behind
),
remembered as (
  update /*:schema*/errata/*.*/.source_partition as p
  set
    log_entries = r.log_entries,
    came_behind = p.came_behind + r.behind_more,
    dropped = r.dropped,
    dropped_total = p.dropped_total + r.dropped_more
  from read as r
  where p.source_partition_id = r.source_partition_id
)
select (coalesce((select sum(r.behind_more) from read as r), 0) + coalesce((select sum(f.came_behind) from found as f), 0))::text as came_behind
