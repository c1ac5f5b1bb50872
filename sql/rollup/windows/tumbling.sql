-- The window of an instant: tumbling (R1). Inlined wherever it is called. Rows out: one.
create or replace function /*:windows*/errata.daily_orders_windows/*.*/ (t timestamptz)
returns table (window_start timestamptz, window_end timestamptz, local_date date)
language sql immutable parallel safe
as $errata_windows$
  select w.start, w.start + /*:window_size*/interval '300000000 microseconds'/*.*/, null::date
  from (
    select date_bin(/*:window_size*/interval '300000000 microseconds'/*.*/, t, /*:window_origin*/timestamptz '1970-01-01 00:00:00+00'/*.*/) as start
  ) as w
$errata_windows$;

-- The first window that a watermark leaves open.
create or replace function /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (watermark timestamptz)
returns timestamptz
language sql immutable parallel safe
as $errata_windows$
  select date_bin(/*:window_size*/interval '300000000 microseconds'/*.*/, watermark, /*:window_origin*/timestamptz '1970-01-01 00:00:00+00'/*.*/)
$errata_windows$;

-- The first window that starts at or after an instant.
create or replace function /*:starting_from*/errata.daily_orders_starting_from/*.*/ (t timestamptz)
returns timestamptz
language sql immutable parallel safe
as $errata_windows$
  select case when b.border = t then t else b.border + /*:window_size*/interval '300000000 microseconds'/*.*/ end
  from (
    select date_bin(/*:window_size*/interval '300000000 microseconds'/*.*/, t, /*:window_origin*/timestamptz '1970-01-01 00:00:00+00'/*.*/) as border
  ) as b
$errata_windows$;

revoke execute on function /*:windows*/errata.daily_orders_windows/*.*/ from public;
revoke execute on function /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ from public;
revoke execute on function /*:starting_from*/errata.daily_orders_starting_from/*.*/ from public;
