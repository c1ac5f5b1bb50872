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
