-- Thin: the history of the watermark, before the time that is kept, to the points where it passed a window's end or deadline
-- (R6). A row that appears that far behind the frontier is judged as before: against an end or a deadline two watermarks say
-- the same as long as neither lies between them.
--
-- $1 rollup_id: integer
-- $2 kept_from: timestamptz, the bound of this run less what is kept
-- $3 at_most: integer, so many steps are looked at
-- $4 allowed_lateness: interval
--
-- Rows out: one, with how many went. Not asked where ends or deadlines depend on the key or the row, nor of sessions, whose ends
-- do. Safe to repeat: it goes on where it was.
with looked_at as (
  select s.*, lag(s.watermark) over (order by s.at) as before
  from (
    select s.ctid as place, s.at, s.watermark
    from /*:schema*/errata/*.*/.watermark_step as s
    where s.rollup_id = $1::integer
      and s.at >= (select r.steps_thinned_until from /*:schema*/errata/*.*/.rollup as r where r.rollup_id = $1::integer)
      and s.at < $2::timestamptz
    order by s.at
    limit $3::integer
  ) as s
),
reached as (
  update /*:schema*/errata/*.*/.rollup as r
  set steps_thinned_until = l.at
  from (select max(l.at) as at, count(*) as steps from looked_at as l) as l
  where r.rollup_id = $1::integer and l.steps > 1
),
-- Deleted by their places, which no plan can turn into a loop over both: joined by `at`, 18,937 steps without statistics were
-- compared with one another, and took minutes.
gone as (
  delete from /*:schema*/errata/*.*/.watermark_step as s
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
