-- Thin: the same of the history of each source partition's own watermark, as thin_steps.sql does of the combined one (R6).
--
-- $1 rollup_id: integer
-- $2 kept_from: timestamptz, the bound of this run less what is kept
-- $3 at_most: integer, so many steps of each source partition are looked at
-- $4 allowed_lateness: interval
--
-- Rows out: one, with how many went. Safe to repeat: it goes on where it was.
with looked_at as (
  select p.source_partition_id, s.place, s.at, s.watermark, lag(s.watermark) over (partition by p.source_partition_id order by s.at) as before
  from /*:schema*/errata/*.*/.source_partition as p
  cross join lateral (
    select s.ctid as place, s.at, s.watermark
    from /*:schema*/errata/*.*/.source_watermark_step as s
    where s.source_partition_id = p.source_partition_id
      and s.at >= p.steps_thinned_until
      and s.at < $2::timestamptz
    order by s.at
    limit $3::integer
  ) as s
  where p.rollup_id = $1::integer
),
reached as (
  update /*:schema*/errata/*.*/.source_partition as p
  set steps_thinned_until = l.at
  from (
    select l.source_partition_id, max(l.at) as at
    from looked_at as l
    group by l.source_partition_id
    having count(*) > 1
  ) as l
  where p.source_partition_id = l.source_partition_id
),
-- deleted by their places, for the reason in thin_steps.sql
gone as (
  delete from /*:schema*/errata/*.*/.source_watermark_step as s
  where s.ctid = any (array(
    select l.place
    from looked_at as l
    where isfinite(l.before)
      and isfinite(l.watermark)
      and l.watermark >= l.before
      and not exists (
        select from /*:windows*/errata.daily_orders_windows/*.*/ (l.before) as w where w.window_end <= l.watermark
      )
      and not exists (
        select from /*:windows*/errata.daily_orders_windows/*.*/ (l.before - $4::interval) as w
        where w.window_end + $4::interval <= l.watermark
      )
  ))
  returning s.at
)
select (select count(*) from gone)::text as gone
