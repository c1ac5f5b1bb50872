-- Watermark, `fixed_delay` with a delay in each row: append to its history the instants at which a greater delay came (R2).
--
-- $1 rollup_id: integer
-- $2 delay: interval, of rows that say nothing
--
-- What seals is the clock less the greatest delay so far, and never goes back: where a greater delay comes it stands still
-- until the clock has made up for it. Inputs: pg_temp.errata_slower, unordered. Rows out: one a new step.
-- Safe to repeat: a delay that is not greater adds nothing, and an instant seen before is raised, never lowered.
with base as (
  select s.watermark, greatest(s.delay, $2::interval) as delay
  from (select 1) as once
  left join lateral (
    -- the latest step has the greatest delay
    select s.watermark, s.delay
    from /*:schema*/errata/*.*/.watermark_step as s
    where s.rollup_id = $1::integer
    order by s.at desc
    limit 1
  ) as s on true
),
by_instant as (
  select r.at, max(r.delay) as delay
  from pg_temp.errata_slower as r
  group by r.at
),
running as (
  select
    i.at,
    i.delay,
    b.watermark,
    greatest(
      b.delay,
      max(i.delay) over (order by i.at rows between unbounded preceding and 1 preceding)
    ) as before
  from by_instant as i
  cross join base as b
),
raised as (
  select r.at, r.delay, greatest(r.watermark, max(r.at - r.before) over (order by r.at)) as watermark
  from running as r
  where r.delay > r.before
)
insert into /*:schema*/errata/*.*/.watermark_step as s (rollup_id, at, watermark, delay)
select $1::integer, r.at, r.watermark, r.delay
from raised as r
on conflict (rollup_id, at) do update
  set
    watermark = greatest(s.watermark, excluded.watermark),
    delay = greatest(s.delay, excluded.delay)
