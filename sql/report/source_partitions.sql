-- The source partitions of a rollup as its last run left them: first those that hold the minimum back. Rows out: one a
-- source partition.
--
-- $1 rollup_id: integer
-- $2 at: instant from which ages are reckoned
--
-- Safe to repeat: it reads.
select
  p.source_partition,
  p.watermark::text as watermark,
  p.last_activity::text as last_activity,
  extract(epoch from $2::timestamptz - p.last_activity)::text as age_seconds,
  case
    when p.idle_mark then 'marked idle'
    when p.is_active and p.last_activity is null then 'silent'
    when p.is_active then 'active'
    when p.last_activity is null and p.declared_since >= r.frontier then 'expected'
    when p.last_activity is null and p.declared_since is null then 'unknown'
    else 'idle'
  end as state,
  p.declared_since::text as declared_since,
  p.went_back::text as went_back,
  p.came_behind::text as came_behind,
  case when p.dropped is not null then p.dropped_total end::text as dropped
from /*:schema*/errata/*.*/.source_partition as p
join /*:schema*/errata/*.*/.rollup as r on r.rollup_id = p.rollup_id
where p.rollup_id = $1::integer
order by p.watermark nulls first, p.source_partition nulls first
