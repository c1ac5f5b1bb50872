-- Watermark: append to its history the instants at which it moved (R2, R6).
--
-- $1 rollup_id: integer
--
-- Inputs: pg_temp.errata_record, unordered, several rows an instant. Rows out: one a new step.
-- Safe to repeat: a record that raises nothing adds nothing, and an instant seen before is raised, never lowered.
with base as (
  select (
    -- the latest step is the greatest: the watermark never goes back
    select s.watermark
    from /*:schema*/errata/*.*/.watermark_step as s
    where s.rollup_id = $1::integer
    order by s.at desc
    limit 1
  ) as watermark
),
by_instant as (
  select r.at, max(r.watermark) as watermark
  from pg_temp.errata_record as r
  group by r.at
),
running as (
  select
    i.at,
    i.watermark,
    greatest(
      b.watermark,
      max(i.watermark) over (order by i.at rows between unbounded preceding and 1 preceding)
    ) as before
  from by_instant as i
  cross join base as b
)
insert into /*:schema*/errata/*.*/.watermark_step as s (rollup_id, at, watermark /*:step_delay*/, delay/*.*/)
select $1::integer, r.at, r.watermark /*:step_delay_value*/, interval '600000000 microseconds'/*.*/
from running as r
where r.before is null or r.watermark > r.before
on conflict (rollup_id, at) do update
  set watermark = greatest(s.watermark, excluded.watermark) /*:step_delay_raised*/, delay = case when excluded.watermark > s.watermark then excluded.delay else s.delay end/*.*/
