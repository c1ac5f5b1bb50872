-- The moments at which a schedule is due: after one instant, up to and with another. Rows out: one, with their number, the
-- first and the last.
--
-- A wall time that the clock skips is due at the instant to which it skips, several of them once; one that comes twice is
-- due the first time. In a schedule of every hour the wall times that there are count, each time they come: `*/15 * * * *`
-- is a quarter of an hour on every day.
--
-- $1 minutes, $2 hours, $3 days, $4 months, $5 weekdays: integer[], Sunday is 0
-- $6 either_day: whether the day of the month or the day of the week is enough; else it needs both
-- $7 every_hour: boolean
-- $8 time_zone: text
-- $9 after, $10 until: instants
--
-- 26 hours before and after a wall time the offset is looked up: no zone changes its clock twice in two days, and the longest
-- skip is of 24 hours. A quarter of an hour looked back over costs 2 ms, a year of minutes 2 s. Safe to repeat: it reads.
with day as (
  select d.day
  from generate_series(
    date_trunc('day', $9::timestamptz at time zone $8::text) - interval '1 day',
    date_trunc('day', $10::timestamptz at time zone $8::text) + interval '1 day',
    interval '1 day'
  ) as d (day)
  where extract(month from d.day)::integer = any ($4::integer[])
    and case
      when $6::boolean
        then extract(day from d.day)::integer = any ($3::integer[]) or extract(dow from d.day)::integer = any ($5::integer[])
      else extract(day from d.day)::integer = any ($3::integer[]) and extract(dow from d.day)::integer = any ($5::integer[])
    end
),
wall as (
  select w.wall_time, w.wall_time at time zone $8::text as at
  from day as d
  cross join unnest($2::integer[]) as h (hour)
  cross join unnest($1::integer[]) as m (minute)
  cross join lateral (select d.day + make_interval(hours => h.hour, mins => m.minute) as wall_time) as w
),
read_twice as (
  -- by the clock of before, and by the clock of afterwards; on nearly all days the same
  select
    w.wall_time,
    (w.wall_time - (((w.at - interval '26 hours') at time zone $8::text) - ((w.at - interval '26 hours') at time zone 'UTC'))) at time zone 'UTC' as before,
    (w.wall_time - (((w.at + interval '26 hours') at time zone $8::text) - ((w.at + interval '26 hours') at time zone 'UTC'))) at time zone 'UTC' as afterwards
  from wall as w
),
judged as (
  select
    r.wall_time,
    r.before,
    r.afterwards,
    (r.before at time zone $8::text) = r.wall_time as is_before,
    (r.afterwards at time zone $8::text) = r.wall_time as is_afterwards
  from read_twice as r
),
moment as (
  select case when j.is_before and j.is_afterwards then least(j.before, j.afterwards) when j.is_before then j.before else j.afterwards end as at
  from judged as j
  where j.is_before or j.is_afterwards
  union
  select greatest(j.before, j.afterwards)
  from judged as j
  where j.is_before and j.is_afterwards and $7::boolean
  union
  select s.at
  from judged as j
  cross join lateral (
    select min(m.minute) as at
    from generate_series(j.afterwards, j.before, interval '1 minute') as m (minute)
    where (m.minute at time zone $8::text) > j.wall_time
  ) as s
  where not j.is_before and not j.is_afterwards and not $7::boolean
)
select count(*)::text as moments, min(m.at)::text as first_due_at, max(m.at)::text as last_due_at
from moment as m
where m.at > $9::timestamptz and m.at <= $10::timestamptz
