-- Watermark, `recorded`: looks through the entries of the log that no run counts again, for those that appeared there
-- since the last look: they came behind the frontier and moved nothing (R6).
--
-- $1 rollup_id: integer
-- $2 recounted_from: entries before it are looked through; null: nothing was read so far, and nothing is reported
-- $3 relations: oid[], the tables of the log
-- $4 known_relations: oid[], those of the last look
-- $5 horizon_age: rows whose transaction is at most this old may be new
-- $6 seen: int8multirange of transactions behind the horizon whose entries were seen
-- $7 transaction: the 64-bit number to which age() counts back
-- $8 horizon: xid8, the oldest transaction still running now
-- $9 horizon_age_now: its age
-- $10 next_from: what the next run counts from
--
-- An entry that is new and not older than `recounted_from` was counted by the run that first saw it (log_read.sql).
-- Measured: 10 million entries of 64 source partitions on PostgreSQL 18, 2 cores busy with other work: 5.8 s.
--
-- Rows out: one. Safe to repeat: the second time nothing is new.
with entry as (
  select
    l./*:log_source_partition*/source_partition/*.*/::text as source_partition,
    $7::bigint - age(l.xmin) as transaction,
    l./*:log_at*/at/*.*/ < $2::timestamptz
      and (
        l.tableoid <> all ($4::oid[])
        or (age(l.xmin) <= $5::integer and not ($6::int8multirange @> ($7::bigint - age(l.xmin))))
      ) as is_missed
  from /*:log*/gold.daily_orders_watermark_log/*.*/ as l
  where isfinite(l./*:log_at*/at/*.*/)
),
missed as (
  select e.source_partition, count(*) as entries
  from entry as e
  where e.is_missed
  group by e.source_partition
),
known as (
  update /*:schema*/errata/*.*/.source_partition as p
  set came_behind = p.came_behind + m.entries
  from missed as m
  where p.rollup_id = $1::integer
    and p.source_partition is not distinct from m.source_partition
),
found as (
  insert into /*:schema*/errata/*.*/.source_partition (rollup_id, source_partition, log_entries, came_behind)
  select $1::integer, m.source_partition, 0, m.entries
  from missed as m
  where not exists (
    select from /*:schema*/errata/*.*/.source_partition as p
    where p.rollup_id = $1::integer and p.source_partition is not distinct from m.source_partition
  )
),
looked as (
  insert into /*:schema*/errata/*.*/.watermark_log_look as k (rollup_id, recounted_from, relations, horizon, seen)
  select
    $1::integer,
    $10::timestamptz,
    $3::oid[],
    $8::xid8,
    coalesce((select range_agg(int8range(e.transaction, e.transaction, '[]')) from entry as e where $7::bigint - e.transaction <= $9::integer), '{}')
  on conflict (rollup_id) do update set
    recounted_from = excluded.recounted_from,
    relations = excluded.relations,
    horizon = excluded.horizon,
    seen = excluded.seen
)
select coalesce(sum(m.entries), 0)::text as came_behind
from missed as m
