-- Calendar windows (R1): the window of an instant by the wall clock of a named time zone.
--
-- calendar_window       t -> window_start, window_end, local_date; to be used as `cross join lateral`, which inlines
-- calendar_window_at_change   the same near a change of the clock: the definition; called by the first, rarely
--
-- Inputs: exactly one of width_months (1 to 12000) and width_us (a minute to 365250 days), the other NULL or 0; origin
-- by the zone's clock (NULL: Monday 2000-01-03, for months 2000-01-01); window_offset (NULL: none; may be negative).
-- Rows out: one; of NULLs where t is NULL, infinite, before 3000 BC or after 99999 AD. No row for a width out of range.
-- Safe to repeat: replaces two functions, which read nothing but the zone data of the server.
--
-- The grid is every local time origin + n * width + offset. A local time is a border at the instants where
--   the clock shows it once      there
--   the clock skips it           where `at time zone` puts it: later by what was skipped
--   the clock shows it twice     at the first; at both if the clock was set back by a width or more
-- and a window is what lies between two neighbouring borders. Its local_date is the date of its border in the grid.
--
--   Chicago, 1 hour     00:00     01:00     01:00     02:00      set back by a width: the repeated hour is two windows
--   New York, 2 hours   00:00 - - 01:00 - - 01:00 - - 02:00      set back by less: [00:00, 02:00) lasts three hours
--   Havana, 1 day       00:00     00:00     01:00 ... 24:00      two midnights, the first begins the day: 25 hours
--   Lord Howe, 1 hour   01:00     01:30     01:30     02:00      set back by half a width: [01:00, 02:00) lasts 90 min
--   Amman, 1 day        23:59     01:00     01:15                starts at 00:15: skipped, so it starts at 01:15
--   Apia, 1 day         29th      31st                           the 30th is skipped; its border is that of the 31st
--
-- The shortcut rests on facts of the zone data (tzdata 2026, all zones since 1800): no change moves the clock by more
-- than 24 hours, two changes are at least 95 hours apart (Freetown 1939), two that cancel out as well. So if the
-- offset is the same a day before the window and after it, nothing has happened in between, up to widths of a day.
--
-- Cost, best of five, 1 million rows of two years, Europe/Berlin, one process, PostgreSQL 18 / 15, in seconds:
--   date_trunc('day', t, zone)                                          0.51 / 0.31   start only, and wrong in Havana
--   date_trunc, the end and the date from it (four conversions)         2.70 / 1.15
--   this: 1 day                                                         1.54 / 1.18
--   this: 1 hour; 4 hours                                        1.65; 1.80 / 1.30; 1.17
--   this: 1 week; 1 month; 1 year                          3.65; 4.58; 3.93 / 2.34; 3.35; 2.74
--   this: every row on a Sunday of change, 1 day; 1 hour                7.38; 11.5 / 5.36; 8.86   (ten times 100,000 rows)
-- The two conversions of the shortcut alone are 0.85 / 0.48, so it cannot come near one date_trunc.
-- Rejected:
--   calendar_window_at_change for every row                             5.50 / 4.04   (1 month 7.65 / 4.70)
--   no second subquery: the test in each of the three columns           1.74 / 1.25
--   left join to get the row of NULLs, instead of CASE                  1.67 / 1.30   one more nested loop
--   the zone's changes as arrays, width_bucket(t, array)                0.80 / 0.81   without its way near a change;
--       25 ms of planning for every statement, ruinous where the zone is a column, ends at the array's horizon:
--       it pays off from about 40,000 rows

create or replace function /*:schema*/errata/*.*/.calendar_window_at_change(
  t timestamptz,
  width_months int,
  width_us bigint,
  zone text,
  origin timestamp,
  window_offset interval
)
returns timestamp[]
language plpgsql
immutable
parallel safe
as $function$
declare
  utc constant interval := '0';
  day constant interval := '24 hours';
  t_utc timestamp;
  t_local timestamp;
  width interval;         -- border j is grid + (k + j) * width + shift, by the clock of the zone
  grid timestamp;
  k int := 0;
  shift interval := utc;
  reach int := 1;         -- so many widths fit into what the clock changes near t
  lower timestamp;
  upper timestamp;
  lower_utc timestamp;
  upper_utc timestamp;
  before interval;        -- the offset of the zone before the window, at t and after the window
  now interval;
  after interval;
  change interval;        -- what the clock was set back by
  border timestamp;
  placed timestamp;       -- where PostgreSQL puts the border (instants are in UTC)
  first timestamp;        -- where the clock shows it for the first time
  start_utc timestamp;
  end_utc timestamp;
  start_border timestamp;
begin
  -- calendar_window does not ask for these, but where t is a constant the planner does: it folds this call whatever CASE
  -- stands around it
  if t is null or t < '3000-01-01 00:00+00 BC' or t >= '100000-01-01 00:00+00' then
    return null;
  end if;
  t_utc := timezone(utc, t);
  t_local := timezone(zone, t);
  if width_months > 0 then
    width := make_interval(months => width_months);
    grid := coalesce(origin, '2000-01-01');
    shift := coalesce(window_offset, utc);
    k := floor(
      (
        (date_part('year', t_local - shift) - date_part('year', grid)) * 12
        + date_part('month', t_local - shift) - date_part('month', grid)
      ) / width_months
    );
    while grid + k * width + shift > t_local loop
      k := k - 1;
    end loop;
    while grid + (k + 1) * width + shift <= t_local loop
      k := k + 1;
    end loop;
  else
    width := width_us * interval '1 microsecond';
    grid := date_bin(width, t_local, coalesce(origin, '2000-01-03') + coalesce(window_offset, utc));
  end if;
  lower := grid + k * width + shift;
  upper := grid + (k + 1) * width + shift;

  if width >= day then
    -- most windows near a change still have plain borders: shown once, or skipped
    lower_utc := timezone(utc, timezone(zone, lower));
    upper_utc := timezone(utc, timezone(zone, upper));
    if lower_utc <= t_utc and t_utc < upper_utc then
      change := timezone(zone, timezone(utc, lower_utc - day)) - (lower - day);
      if change <= utc or timezone(zone, timezone(utc, lower_utc - change)) <> lower then
        change := timezone(zone, timezone(utc, upper_utc - day)) - (upper - day);
        if change <= utc or timezone(zone, timezone(utc, upper_utc - change)) <> upper then
          return array[lower_utc, upper_utc, lower];
        end if;
      end if;
    end if;
  else
    -- a change further back than what it changed plus a width has no more effect
    before := timezone(zone, timezone(utc, t_utc - width - day)) - (t_utc - width - day);
    now := t_local - t_utc;
    after := timezone(zone, timezone(utc, t_utc + width)) - (t_utc + width);
    change := greatest(before, now, after) - least(before, now, after);
    if now = after
      and now = timezone(zone, timezone(utc, t_utc - width - change)) - (t_utc - width - change)
    then
      return array[lower - now, upper - now, lower];
    end if;
    reach := ceil(extract(epoch from change) / extract(epoch from width));
  end if;

  -- the definition itself: all instants near t that are borders, and the two around t
  for j in -2 * reach - 1 .. 2 * reach + 1 loop
    border := grid + (k + j) * width + shift;
    placed := timezone(utc, timezone(zone, border));
    first := placed;
    change := timezone(zone, timezone(utc, placed - day)) - (border - day);
    if change > utc and timezone(zone, timezone(utc, placed - change)) = border then
      first := placed - change;
      if change < width then
        placed := first;
      end if;
    end if;
    if first > t_utc then
      end_utc := least(end_utc, first);
    else
      if placed > t_utc then
        end_utc := least(end_utc, placed);
        placed := first;
      end if;
      if start_utc is null or placed >= start_utc then
        start_utc := placed;
        start_border := border;
      end if;
    end if;
  end loop;
  return array[start_utc, end_utc, start_border];
end
$function$;

create or replace function /*:schema*/errata/*.*/.calendar_window(
  t timestamptz,
  width_months int,
  width_us bigint,
  zone text,
  origin timestamp,
  window_offset interval
)
returns table (window_start timestamptz, window_end timestamptz, local_date date)
language sql
immutable
parallel safe
rows 1
as $function$
-- up to a day: offsets a day before the window and after it agree, so no change is near and they cancel out
select
  coalesce(t + steady.to_start, timezone(interval '0', steady.changed[1])),
  coalesce(t + (steady.to_start + grid.width), timezone(interval '0', steady.changed[2])),
  coalesce(steady.before + (steady.to_start + grid.back), steady.changed[3])::date
from (
  select
    width_us * interval '1 microsecond' as width,
    (1 + (86400000000 + width_us - 1) / nullif(width_us, 0)) * width_us * interval '1 microsecond' as back,
    coalesce(origin, '2000-01-03') + coalesce(window_offset, '0') as border
) as grid
cross join lateral (
  select
    clock.before,
    case
      when clock.after = clock.before + (grid.back + grid.width)
      then date_bin(grid.width, clock.before, grid.border) - clock.before
    end as to_start,
    case
      when clock.after <> clock.before + (grid.back + grid.width)
      then /*:schema*/errata/*.*/.calendar_window_at_change(t, width_months, width_us, zone, origin, window_offset)
    end as changed
  from (
    select
      timezone(zone, event.t - grid.back) as before,
      timezone(zone, event.t + grid.width) as after
    from (
      select
        case
          when t >= '3000-01-01 00:00+00 BC' and t < '100000-01-01 00:00+00' then t
        end as t
    ) as event
    offset 0
  ) as clock
  offset 0
) as steady
where coalesce(width_months, 0) = 0 and width_us between 60000000 and 86400000000

union all

-- longer: a border is plain if the clock did not change in the day before it; a month is only counted from an origin
-- whose day all months have
select
  coalesce(timezone(interval '0', plain.changed[1]), plain.window_start),
  coalesce(timezone(interval '0', plain.changed[2]), plain.window_end),
  coalesce(plain.changed[3], plain.lower)::date
from (
  select
    case
      when width_months > 0 then make_interval(months => width_months)
      else width_us * interval '1 microsecond'
    end as width,
    case
      when width_months > 0 then coalesce(origin, '2000-01-01')
      else coalesce(origin, '2000-01-03') + coalesce(window_offset, '0')
    end as border,
    case when width_months > 0 then coalesce(window_offset, '0') else '0' end as shift
) as grid
cross join lateral (
  select
    border.lower,
    border.window_start,
    border.window_end,
    case
      when border.lower is null then null
      when (width_months is null or width_months = 0 or date_part('day', grid.border) <= 28)
        and border.window_start <= t
        and t < border.window_end
        and timezone(zone, border.window_start - interval '24 hours') = border.lower - interval '24 hours'
        and timezone(zone, border.window_end - interval '24 hours') = border.upper - interval '24 hours'
      then null
      else /*:schema*/errata/*.*/.calendar_window_at_change(t, width_months, width_us, zone, origin, window_offset)
    end as changed
  from (
    select
      step.border + grid.shift as lower,
      step.border + grid.width + grid.shift as upper,
      timezone(zone, step.border + grid.shift) as window_start,
      timezone(zone, step.border + grid.width + grid.shift) as window_end
    from (
      select
        case
          when width_months > 0
          then grid.border + grid.width * floor(
            (
              (date_part('year', clock.t) - date_part('year', grid.border)) * 12
              + date_part('month', clock.t) - date_part('month', grid.border)
              - case
                when clock.t - date_trunc('month', clock.t) < grid.border - date_trunc('month', grid.border) then 1
                else 0
              end
            ) / width_months
          )
          else date_bin(grid.width, clock.t, grid.border)
        end as border
      from (
        select timezone(zone, event.t) - grid.shift as t
        from (
          select
            case
              when t >= '3000-01-01 00:00+00 BC' and t < '100000-01-01 00:00+00' then t
            end as t
        ) as event
        offset 0
      ) as clock
      offset 0
    ) as step
    offset 0
  ) as border
  offset 0
) as plain
where (coalesce(width_us, 0) = 0 and width_months between 1 and 12000)
  or (coalesce(width_months, 0) = 0 and width_us > 86400000000 and width_us <= 365250 * 86400000000)
$function$;

revoke execute on function /*:schema*/errata/*.*/.calendar_window_at_change from public;
revoke execute on function /*:schema*/errata/*.*/.calendar_window from public;
