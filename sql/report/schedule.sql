-- How far the schedule of a rollup has been answered, and what it waits for after failures. Rows out: one.
--
-- $1 rollup_id: integer
--
-- Safe to repeat: it reads.
select
  d.due_at::text as due_at,
  d.missed::text as missed,
  d.run_id::text as run_id,
  b.failures,
  b.failed_at::text as failed_at,
  b.next_attempt_at::text as next_attempt_at,
  b.error
from (select $1::integer as rollup_id) as r
left join /*:schema*/errata/*.*/.back_off as b on b.rollup_id = r.rollup_id
left join lateral (
  select m.due_at, m.missed, m.run_id
  from /*:schema*/errata/*.*/.due_moment as m
  where m.rollup_id = r.rollup_id
  order by m.due_at desc
  limit 1
) as d on true
