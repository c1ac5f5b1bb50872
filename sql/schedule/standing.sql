-- How far the schedule of a rollup has been answered, and what it waits for. Rows out: one; none where the rollup is not in
-- the database, or was dropped.
--
-- $1 rollup, $2 cron, $3 time_zone: text
-- $4 now: instant; null: the database's clock
--
-- Nothing is looked up further back than 366 days: who was away for longer learns of those. Safe to repeat: it reads.
select
  r.rollup_id,
  c.now::text as now,
  greatest(s.since, d.due_at, c.now - interval '366 days')::text as after,
  s.since is null as is_new,
  coalesce(b.next_attempt_at > c.now, false) as backs_off
from /*:schema*/errata/*.*/.rollup as r
cross join (select coalesce($4::timestamptz, clock_timestamp()) as now) as c
left join /*:schema*/errata/*.*/.schedule as s on s.rollup_id = r.rollup_id and s.cron = $2::text and s.time_zone = $3::text
left join /*:schema*/errata/*.*/.back_off as b on b.rollup_id = r.rollup_id
left join lateral (
  select m.due_at
  from /*:schema*/errata/*.*/.due_moment as m
  where m.rollup_id = r.rollup_id
  order by m.due_at desc
  limit 1
) as d on true
where r.name = $1::text and r.dropped_at is null
