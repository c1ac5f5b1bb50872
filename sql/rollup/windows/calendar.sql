-- The window of an instant: calendar, in the wall clock of a named zone (R1). Inlined wherever it is called. Rows out: one.
create or replace function /*:windows*/errata.daily_orders_windows/*.*/ (t timestamptz)
returns table (window_start timestamptz, window_end timestamptz, local_date date)
language sql immutable parallel safe
as $errata_windows$
  select w.window_start, w.window_end, w.local_date
  from /*:schema*/errata/*.*/.calendar_window(
    t,
    /*:width_months*/null/*.*/::integer,
    /*:width_us*/86400000000/*.*/::bigint,
    /*:zone*/'Europe/Berlin'/*.*/::text,
    /*:calendar_origin*/null/*.*/::timestamp,
    /*:calendar_offset*/interval '0'/*.*/::interval
  ) as w
$errata_windows$;

-- The first window that a watermark leaves open.
create or replace function /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (watermark timestamptz)
returns timestamptz
language sql immutable parallel safe
as $errata_windows$
  select w.window_start from /*:windows*/errata.daily_orders_windows/*.*/ (watermark) as w
$errata_windows$;

-- The first window that starts at or after an instant.
create or replace function /*:starting_from*/errata.daily_orders_starting_from/*.*/ (t timestamptz)
returns timestamptz
language sql immutable parallel safe
as $errata_windows$
  select case when w.window_start = t then t else coalesce(w.window_end, t) end
  from (select 1) as once
  left join /*:windows*/errata.daily_orders_windows/*.*/ (t) as w on true
$errata_windows$;

revoke execute on function /*:windows*/errata.daily_orders_windows/*.*/ from public;
revoke execute on function /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ from public;
revoke execute on function /*:starting_from*/errata.daily_orders_starting_from/*.*/ from public;
