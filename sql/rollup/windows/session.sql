-- Sessions follow from the rows of a key and stand in the table of sessions; this is the session that one row makes by
-- itself, in which a refused row waits (R6s). Inlined wherever it is called. Rows out: one.
create or replace function /*:windows*/errata.daily_orders_windows/*.*/ (t timestamptz)
returns table (window_start timestamptz, window_end timestamptz, local_date date)
language sql immutable parallel safe
as $errata_windows$
  select t, t + /*:session_gap*/interval '1800000000 microseconds'/*.*/, null::date
$errata_windows$;

-- Sessions have no grid: they are sealed one by one, by their ends.
create or replace function /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ (watermark timestamptz)
returns timestamptz
language sql immutable parallel safe
as $errata_windows$
  select watermark
$errata_windows$;

create or replace function /*:starting_from*/errata.daily_orders_starting_from/*.*/ (t timestamptz)
returns timestamptz
language sql immutable parallel safe
as $errata_windows$
  select t
$errata_windows$;

revoke execute on function /*:windows*/errata.daily_orders_windows/*.*/ from public;
revoke execute on function /*:unsealed_from*/errata.daily_orders_unsealed_from/*.*/ from public;
revoke execute on function /*:starting_from*/errata.daily_orders_starting_from/*.*/ from public;
